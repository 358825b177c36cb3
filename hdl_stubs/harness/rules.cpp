// Rule violations that a port's shim detects become findings of that port.
#include "Vtop__Dpi.h"
#include "csb.h"
#include "port.h"

extern "C" {

// `port` is 0 or 1 for a memory port, 2 for CSB.
void harness_broken(int port, int rule) {
    if (port < 2)
        harness::ports[port].violate(rule);
    else
        harness::csb.violate(rule);
}
}

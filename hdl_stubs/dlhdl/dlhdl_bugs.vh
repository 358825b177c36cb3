// Seeded bugs. `DLHDL_BUG(name) declares bug_name, which is 1 for a whole simulation that
// was started with +bug=name, and 0 in any other; dlhdl_bug_names.v lists the names.
`ifndef DLHDL_BUGS_VH
`define DLHDL_BUGS_VH
`define DLHDL_BUG(bug) wire bug_``bug; nvdla_bug #(.NAME(`"bug`")) seeded_``bug (.on(bug_``bug));
`endif

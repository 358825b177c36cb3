// Chooses a mutant by +mutant=N, and notes in a file that another process maps, too, which ones would have made
// a difference: +reached=FILE holds a byte for each.
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "svdpi.h"
#include "verilated.h"

namespace {

const char* plusarg(const char* name) {
    const char* found = Verilated::threadContextp()->commandArgsPlusMatch(name);
    return found && *found ? found + 1 + std::strlen(name) : nullptr;
}

struct State {
    int chosen = 0;
    unsigned char* reached = nullptr;
    int size = 0;

    State() {
        if (const char* number = plusarg("mutant=")) chosen = std::atoi(number);
        const char* path = plusarg("reached=");
        if (!path) return;
        const std::string file{path};
        const int descriptor = open(file.c_str(), O_RDWR);
        struct stat about;
        if (descriptor < 0 || fstat(descriptor, &about) != 0) std::abort();
        void* mapped = mmap(nullptr, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (mapped == MAP_FAILED) std::abort();
        close(descriptor);
        reached = static_cast<unsigned char*>(mapped);
        size = static_cast<int>(about.st_size);
    }
};

}  // namespace

extern "C" svBit nvdla_mutant(int number, svBit differs) {
    static State state;
    if (differs && number < state.size) state.reached[number] = 1;
    return number == state.chosen;
}

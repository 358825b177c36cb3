// Chooses a mutant by +mutant=N, and notes in a file that another process maps, too, which ones would have made
// a difference: +reached=FILE holds two words for each, how many times and with which values.
#include <cstdint>
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

struct Note {
    std::uint64_t times;
    std::uint64_t values;  // 32 bits for lengths of the original's value, 32 for hashes of both values
};

struct State {
    int chosen = 0;
    Note* reached = nullptr;
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
        reached = static_cast<Note*>(mapped);
        size = static_cast<int>(about.st_size / sizeof(Note));
    }
};

}  // namespace

extern "C" svBit nvdla_mutant(int number, svBit differs, long long original, long long other) {
    static State state;
    if (differs && number < state.size) {
        const auto value = static_cast<std::uint64_t>(original);
        const int length = value ? 64 - __builtin_clzll(value) : 0;
        const auto hash = (value * 0x9E3779B97F4A7C15ull ^ static_cast<std::uint64_t>(other)) * 0xD6E8FEB86659FD93ull;
        Note& note = state.reached[number];
        ++note.times;
        note.values |= 1ull << (length < 24 ? length : 24 + length / 10) | 1ull << (32 + (hash >> 59));
    }
    return number == state.chosen;
}

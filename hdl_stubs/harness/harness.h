// Shared by the parts of the harness: the clock cycle, the request to wake the bench, and the seeded draws.
#pragma once

#include <cstdint>

namespace harness {

// Clock cycles since the bench's start; the clock loop sets it before every rising edge.
extern int64_t cycle;
// Rising edges of the clock since the program's start, which many benches share.
extern int64_t edges;

// Whether the clock of CSB is low and does not change in this time step.
extern bool csb_low;

// Set when the bench has something to do at the end of this time step.
extern bool wake;

// Set when the bench changed pins outside a clock edge.
extern bool kick;

// One independent sequence of random numbers per purpose; the same numbers as in tb/nvdla_tb/sim/draws.py.
class Draws {
  public:
    enum Stream { CSB_STALL, READ_JITTER, WRITE_JITTER, READ_CHOICE, WRITE_CHOICE, READ_STALL, WRITE_STALL, AR, AW, W, PAUSE };

    void seed(uint64_t seed);
    // Uniform in 0 .. limit - 1, for this cycle.
    uint32_t below(Stream stream, uint32_t limit) const;
    // True with a probability, for this cycle.
    bool chance(Stream stream, double probability) const;
    // True with probability 1/2, for a numbered case.
    bool coin(Stream stream, uint64_t number) const;

  private:
    uint64_t draw(Stream stream, uint64_t number) const;
    uint64_t keys_[PAUSE + 1] = {};
};

// The largest number of rules of a port, including those of its shim.
constexpr uint32_t MAX_RULES = 64;

// A log of records that the bench reads as a numpy array and empties by its count; it asks for the bench before it
// overflows. MARGIN exceeds the number of records added before the bench reads them: at most one burst per edge.
template <typename Record, uint32_t CAPACITY, uint32_t MARGIN = 64>
struct Log {
    Record records[CAPACITY];
    uint32_t count = 0;

    Record& add() {
        if (count + MARGIN >= CAPACITY) wake = true;
        return records[count++];
    }
    Record* locate(uint32_t** of_count) {
        *of_count = &count;
        return records;
    }
};

}  // namespace harness

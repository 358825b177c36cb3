// What the harness's parts share: the clock cycle, the wish to wake the bench, and the seeded draws.
#pragma once

#include <cstdint>

namespace harness {

// Clock cycles since the bench's start; the clock loop sets it before every rising edge.
extern int64_t cycle;
// Rising edges of the clock since the program's start, which many benches share.
extern int64_t edges;

// Set when the bench has something to do at the end of this time step.
extern bool wake;

// Set when the pins changed outside a clock edge, by order of the bench.
extern bool kick;

// One independent sequence of random numbers per purpose; the same numbers as in tb/sim/draws.py.
class Draws {
  public:
    enum Stream { CSB_STALL, READ_JITTER, WRITE_JITTER, READ_CHOICE, WRITE_CHOICE, READ_STALL, WRITE_STALL, AR, AW, W, PAUSE };

    void seed(uint64_t seed);
    // Uniform in 0 .. limit - 1, for this cycle.
    uint32_t below(Stream stream, uint32_t limit) const;
    // True with a probability, for this cycle.
    bool chance(Stream stream, double probability) const;
    // True in half of all cases, each with a number of its own.
    bool coin(Stream stream, uint64_t number) const;

  private:
    uint64_t draw(Stream stream, uint64_t number) const;
    uint64_t keys_[PAUSE + 1] = {};
};

// As many rules as a port may have, its shim's included.
constexpr uint32_t MAX_RULES = 64;

// A record of a log that the bench reads as a numpy array; `full` asks for the bench in time.
// MARGIN is more than is added before the bench has looked: an edge adds a burst at most.
template <typename Record, uint32_t CAPACITY, uint32_t MARGIN = 64>
struct Log {
    Record records[CAPACITY];
    uint32_t count = 0;

    Record& add() {
        if (count + MARGIN >= CAPACITY) wake = true;
        return records[count++];
    }
};

}  // namespace harness

// What the clock loop gives the compiled slave, for a test that plays the clock and the master.
#include "harness.h"

namespace harness {

int64_t cycle = 0;
int64_t edges = 0;
bool wake = false;
bool kick = false;

void Draws::seed(uint64_t seed) {
    for (uint64_t stream = 0; stream <= PAUSE; ++stream) keys_[stream] = (seed + stream + 1) * 0x9E3779B97F4A7C15u;
}

uint64_t Draws::draw(Stream stream, uint64_t number) const {
    uint64_t value = keys_[stream] + number * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 29) * 0x94D049BB133111EBu;
    return value ^ value >> 32;
}

uint32_t Draws::below(Stream stream, uint32_t limit) const { return (draw(stream, cycle) >> 32) * limit >> 32; }

bool Draws::chance(Stream stream, double probability) const {
    return double(draw(stream, cycle) >> 11) * 0x1p-53 < probability;
}

bool Draws::coin(Stream stream, uint64_t number) const { return draw(stream, number) >> 63; }

}  // namespace harness

// A slave ignores the edge behind its start, so that the test's first edge has to be a later one.
extern "C" void test_set_cycle(int64_t cycle) {
    harness::cycle = cycle;
    harness::edges += 2;
}

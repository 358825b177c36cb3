// The clock loop: it owns both clocks and lets Python in only where something waits for it.
#include <cstdint>
#include <algorithm>
#include <memory>

#include "Vtop.h"
#include "harness.h"
#include "verilated.h"
#include "verilated_vpi.h"

#if VM_COVERAGE
#include "verilated_cov.h"
#endif

extern "C" void vlog_startup_routines_bootstrap();

namespace harness {

int64_t cycle = 0;
bool wake = false;
bool kick = false;

namespace {

uint64_t mix(uint64_t value) {
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

}  // namespace

void Draws::seed(uint64_t seed) {
    for (uint64_t stream = 0; stream <= W; ++stream) keys_[stream] = mix(seed * 0x9E3779B97F4A7C15u + stream + 1);
}

uint64_t Draws::draw(Stream stream) const { return mix(keys_[stream] + uint64_t(cycle) * 0x9E3779B97F4A7C15u); }

uint32_t Draws::below(Stream stream, uint32_t limit) const { return (draw(stream) >> 32) * limit >> 32; }

bool Draws::chance(Stream stream, double probability) const {
    return double(draw(stream) >> 11) * 0x1p-53 < probability;
}

}  // namespace harness

namespace {

constexpr uint64_t HALF_PERIOD_STEPS = 1000;
uint64_t now = 0;
uint64_t epoch = 0;

// Let Python see changes of values.
void settle() {
    while (VerilatedVpi::callValueCbs()) {
    }
}

// Most time steps have nothing for Python; each look that it does not need costs about a hundredth of them.
void evaluate(Vtop& top) {
    do {
        do {
            top.eval_step();
            VerilatedVpi::clearEvalNeeded();
            settle();
            VerilatedVpi::doInertialPuts();
        } while (VerilatedVpi::evalNeeded());
        if (!VerilatedVpi::hasCbs(cbReadWriteSynch)) return;
        VerilatedVpi::callCbs(cbReadWriteSynch);
        VerilatedVpi::doInertialPuts();
        settle();
    } while (VerilatedVpi::evalNeeded());
}

// Evaluate until neither the design nor Python has anything left to do at this time.
void run_time_step(Vtop& top) {
    evaluate(top);
    while (harness::wake || harness::kick) {
        if (harness::wake) {
            harness::wake = false;
            harness::kick = true;
            top.harness_wake = !top.harness_wake;
            settle();
            evaluate(top);
        }
        if (harness::kick) {
            harness::kick = false;
            top.harness_kick = !top.harness_kick;
            evaluate(top);
        }
    }
    top.eval_end_step();
    if (VerilatedVpi::hasCbs(cbReadOnlySynch)) VerilatedVpi::callCbs(cbReadOnlySynch);
}

}  // namespace

double sc_time_stamp() { return double(now); }

extern "C" {

// The bench's cycle 0 is the first rising edge after this time.
void nvb_start(uint64_t time) { epoch = time; }
uint64_t nvb_half_period() { return HALF_PERIOD_STEPS; }
}

int main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    auto top = std::make_unique<Vtop>("");
    Verilated::fatalOnVpiError(false);
    vlog_startup_routines_bootstrap();
    VerilatedVpi::callCbs(cbStartOfSimulation);
    settle();

    uint64_t next_edge = HALF_PERIOD_STEPS;
    while (!Verilated::gotFinish()) {
        run_time_step(*top);
        const uint64_t deadline = VerilatedVpi::cbNextDeadline();
        now = std::min<uint64_t>(next_edge, deadline);
        if (VerilatedVpi::callCbs(cbNextSimTime)) settle();
        if (deadline <= now) {
            VerilatedVpi::callTimedCbs();
            settle();
        }
        if (now == next_edge) {
            const bool rising = !top->dla_core_clk;
            if (rising) harness::cycle = int64_t(now - epoch) / int64_t(2 * HALF_PERIOD_STEPS);
            top->dla_core_clk = top->dla_csb_clk = rising;
            next_edge += HALF_PERIOD_STEPS;
            // Who waits for the edge samples the pins as they were before it.
            settle();
        }
    }
    top->final();
    VerilatedVpi::callCbs(cbEndOfSimulation);
#if VM_COVERAGE
    VerilatedCov::write();
#endif
    return Verilated::threadContextp()->errorCount() > 0;
}

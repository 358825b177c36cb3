// The clock loop: it owns both clocks and calls Python only when something waits for it.
#include <sys/mman.h>

#include <cstdint>
#include <algorithm>
#include <iterator>
#include <memory>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "harness.h"
#include "verilated.h"
#include "verilated_vpi.h"

#if VM_COVERAGE
#include "Vtop__Syms.h"
#include "verilated_cov.h"
#endif

extern "C" void vlog_startup_routines_bootstrap();

namespace harness {

int64_t cycle = 0;
int64_t edges = 0;
bool csb_low = false;
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
    for (uint64_t stream = 0; stream <= PAUSE; ++stream) keys_[stream] = mix(seed * 0x9E3779B97F4A7C15u + stream + 1);
}

uint64_t Draws::draw(Stream stream, uint64_t number) const {
    return mix(keys_[stream] + number * 0x9E3779B97F4A7C15u);
}

uint32_t Draws::below(Stream stream, uint32_t limit) const { return (draw(stream, cycle) >> 32) * limit >> 32; }

bool Draws::chance(Stream stream, double probability) const {
    return double(draw(stream, cycle) >> 11) * 0x1p-53 < probability;
}

bool Draws::coin(Stream stream, uint64_t number) const { return draw(stream, number) >> 63; }

}  // namespace harness

namespace {

constexpr uint64_t HALF_PERIOD_STEPS = 1000;
uint64_t now = 0;
uint64_t epoch = 0;
Vtop* model = nullptr;

// Where the launcher reads the time; it lies in memory that both share once the bench has said so. Python is gone
// before the last time steps, so the memory is mapped here, and stays.
uint64_t own_time = 0;
volatile uint64_t* shown_time = &own_time;

// The CSB clock: the time of its next edge, and the steps after a falling edge when the bench starts.
uint64_t csb_edge = HALF_PERIOD_STEPS;
uint64_t csb_half_period = HALF_PERIOD_STEPS;
uint64_t csb_rise = HALF_PERIOD_STEPS;
bool core_level = false, csb_level = false;

// The exit code that tells the launcher that a test drives a clock; see nvdla_tb.run.simulate.
constexpr int CLOCK_IS_DRIVEN = 77;

// Report value changes to Python.
void settle() {
    while (VerilatedVpi::callValueCbs()) {
    }
}

// Most time steps have nothing for Python; each call that is saved is worth about a hundredth of a step.
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

// The bench's cycle 0 is the first rising edge after this time. The clock of CSB is low from then on, rises for the
// first time after `delay`, and then changes every `half_period`.
void nvb_start(uint64_t time, uint64_t half_period, uint64_t delay) {
    epoch = time;
    csb_half_period = half_period;
    csb_rise = time + delay;
    csb_edge = csb_level ? time : csb_rise;
}

void nvb_show_time(int file) {
    if (shown_time == &own_time) {
        void* shared = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared == MAP_FAILED) return;
        shown_time = static_cast<uint64_t*>(shared);
    }
    *shown_time = now;
}

// What was counted of the RTL's code so far, a count for each point; none in a model that does not count. Verilator's
// own file names each point, and takes longer to write than most scenarios to play.
uint32_t* nvb_counts(uint32_t* points) {
#if VM_COVERAGE
    auto& counts = model->rootp->vlSymsp->__Vcoverage;
    *points = std::size(counts);
    return counts;
#else
    *points = 0;
    return nullptr;
#endif
}

// Write Verilator's file of the counts as they are, with each instance's points.
void nvb_write_counts(const char* path) {
#if VM_COVERAGE
    VerilatedCovContext& context = *Verilated::threadContextp()->coveragep();
    context.forcePerInstance(true);
    context.write(path);
    context.forcePerInstance(false);
#endif
}
}

int main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    auto top = std::make_unique<Vtop>("");
    model = top.get();
    // Whatever the model's registers begin with.
    top->dla_core_clk = top->dla_csb_clk = 0;
    Verilated::fatalOnVpiError(false);
    vlog_startup_routines_bootstrap();
    VerilatedVpi::callCbs(cbStartOfSimulation);
    settle();

    uint64_t next_edge = HALF_PERIOD_STEPS;
    bool driven = false;
    while (!Verilated::gotFinish() && !driven) {
        run_time_step(*top);
        const Vtop___024root& pins = *top->rootp;
        driven = pins.tb_top__DOT__dla_core_clk != core_level || pins.tb_top__DOT__dla_csb_clk != csb_level;
        const uint64_t deadline = VerilatedVpi::cbNextDeadline();
        now = std::min<uint64_t>(std::min(next_edge, csb_edge), deadline);
        *shown_time = now;
        if (VerilatedVpi::callCbs(cbNextSimTime)) settle();
        if (deadline <= now) {
            VerilatedVpi::callTimedCbs();
            settle();
        }
        const bool core = now == next_edge, csb = now == csb_edge;
        harness::csb_low = !csb && !csb_level;
        if (core || csb) {
            if (core) {
                top->dla_core_clk = core_level = !core_level;
                next_edge += HALF_PERIOD_STEPS;
            }
            if (csb) {
                top->dla_csb_clk = csb_level = !csb_level;
                csb_edge = now < csb_rise ? csb_rise : now + csb_half_period;
            }
            harness::edges += core && core_level;
            const bool rising = (core && core_level) || (csb && csb_level);
            if (rising) harness::cycle = int64_t(now - epoch) / int64_t(2 * HALF_PERIOD_STEPS);
            // A coroutine that waits for the edge samples the pins as they were before it.
            settle();
        }
    }
    top->final();
    VerilatedVpi::callCbs(cbEndOfSimulation);
#if VM_COVERAGE
    VerilatedCov::write();
#endif
    return driven ? CLOCK_IS_DRIVEN : Verilated::threadContextp()->errorCount() > 0;
}

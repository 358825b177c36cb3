// Plays register accesses back to back, with some outstanding at once, and serves the interrupt line:
// the same behaviour, cycle by cycle, as tb/nvdla_tb/sim/csb.py and tb/nvdla_tb/sim/interrupts.py.
#pragma once

#include <cstdint>
#include <deque>

#include "harness.h"

namespace harness {

enum OpKind : uint32_t { WRITE, READ, POLL };
enum OpStatus : uint32_t { DONE, NOT_ACCEPTED, NOT_ANSWERED, POLL_EXPIRED };
enum Comparison : uint32_t { EQUAL, GREATER, LESS, NOT_EQUAL, NOT_GREATER, NOT_LESS };

// One access; with `wake` the bench is called at its end, before anything else happens.
struct Op {
    uint32_t kind, address, value, nonposted, wake, mask, shift, comparison, batch, deadline_cycles;
};
static_assert(sizeof(Op) == 40, "as OP_RECORD in tb/nvdla_tb/sim/native.py");

struct Result {
    uint64_t cycle;
    uint32_t batch, index, status, value;
};
static_assert(sizeof(Result) == 24, "as RESULT_RECORD in tb/nvdla_tb/sim/native.py");

// A finished access, or a change of the interrupt line with its level as the value.
struct Access {
    uint64_t cycle;
    uint32_t address, value, is_write, is_line;
};
static_assert(sizeof(Access) == 24, "as ACCESS_RECORD in tb/nvdla_tb/sim/native.py");

struct CsbSettings {
    uint64_t seed;
    double stall;
    uint32_t deadline_cycles, most_outstanding;
};
static_assert(sizeof(CsbSettings) == 24, "as CsbSettingsRecord in tb/nvdla_tb/sim/native.py");

// Rules of CSB, in the order of CsbRule in tb/nvdla_tb/judge/csb_rules.py.
enum CsbRule : uint32_t { READ_UNASKED, WRITE_UNASKED, READ_IN_RESET, WRITE_IN_RESET, LINE_IN_RESET, LINE_OFF_CLOCK };

struct CsbViolation {
    uint64_t cycle;
    uint32_t rule, unused;
};
static_assert(sizeof(CsbViolation) == 16, "as VIOLATION_RECORD in tb/nvdla_tb/sim/native.py");

struct CsbInputs {
    bool ready, answer_valid, write_complete, interrupt, reset_n, resting;
    uint32_t answer_data;
};

struct CsbPins {
    bool valid, write, nposted;
    uint16_t addr;
    uint32_t wdat;
};

class Csb {
  public:
    CsbPins pins = {};
    Log<Access, 1 << 15> accesses;
    Log<Result, 1 << 12> results;
    Log<CsbViolation, 128> violations;  // the first of each rule
    uint64_t access_count = 0;  // but for those that serve interrupts
    uint32_t fired[32] = {};
    uint32_t service_failed = 0;

    void configure(const CsbSettings& settings);
    void submit(const Op* ops, uint32_t count);
    void drop_all();
    void cancel(uint32_t batch);
    void serve_interrupts(uint32_t status_address);
    void edge(const CsbInputs& in);
    // Start every access that may start; also called when the bench adds accesses between two edges.
    void restart();
    // Record a broken rule, unless it was recorded before.
    void violate(uint32_t rule);
    // Whether the next edge matters even while the interrupt line is low.
    bool busy() const { return phase_ != IDLE || service_wanted_ || !queue_.empty() || !flying_.empty(); }
    // The operation that has been under way for longest: its batch and index, or false.
    bool pending(uint32_t& batch, uint32_t& index) const;

  private:
    enum Phase { IDLE, STALLED, REQUESTED };
    // An access that was accepted and has yet to be answered.
    struct Flight {
        Op op;
        uint32_t index, waited;
    };
    std::deque<Flight>::iterator oldest(bool is_write);
    void land(const CsbInputs& in);
    void accepted();
    void request(const Op& op);
    void put_on_pins();
    void finish(const Op& op, uint32_t index, uint32_t status, uint32_t value);
    void finish_service(const Op& op, uint32_t status, uint32_t value);
    void log(uint32_t address, uint32_t value, bool is_write);
    void judge(const CsbInputs& in);
    static bool holds(const Op& op, uint32_t value);

    CsbSettings settings_ = {};
    Draws draws_;
    std::deque<Op> queue_;
    std::deque<Flight> flying_;
    Op op_ = {};
    uint32_t index_ = 0, batch_ = 0;
    Phase phase_ = IDLE;
    bool in_service_ = false, service_wanted_ = false, hold_ = false, serving_ = false, repeats_ = false;
    int64_t service_since_ = 0, poll_start_ = 0, dropped_at_ = 0;
    uint32_t waited_ = 0, status_address_ = 0;
    bool line_ = false, violated_[MAX_RULES] = {};
};

extern Csb csb;

}  // namespace harness

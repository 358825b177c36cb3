// The CSB player, and its functions that the bench and the harness's Verilog call.
#include "csb.h"

#include <algorithm>
#include <cstring>

#include "Vtop__Dpi.h"

namespace harness {

Csb csb;

void Csb::configure(const CsbSettings& settings) {
    settings_ = settings;
    draws_.seed(settings.seed);
    accesses.count = results.count = violations.count = 0;
    std::memset(violated_, 0, sizeof violated_);
    access_count = 0;
    for (uint32_t& count : fired) count = 0;
    service_failed = 0;
    serving_ = false;
    batch_ = index_ = 0;
    service_since_ = 0;
    drop_all();
}

void Csb::drop_all() {
    queue_.clear();
    flying_.clear();
    phase_ = IDLE;
    in_service_ = service_wanted_ = hold_ = repeats_ = line_ = false;
    pins = {};
    kick = true;
    dropped_at_ = edges;
}

// Drop the accesses of a batch that have not begun; one that has begun ends as usual.
void Csb::cancel(uint32_t batch) {
    while (!queue_.empty() && queue_.front().batch == batch) {
        queue_.pop_front();
        repeats_ = false;
    }
}

void Csb::submit(const Op* ops, uint32_t count) {
    queue_.insert(queue_.end(), ops, ops + count);
    kick = true;
}

void Csb::serve_interrupts(uint32_t status_address) {
    status_address_ = status_address;
    serving_ = true;
}

bool Csb::pending(uint32_t& batch, uint32_t& index) const {
    const bool flies = !flying_.empty();
    batch = flies ? flying_.front().op.batch : batch_;
    index = flies ? flying_.front().index : index_;
    return (flies || phase_ != IDLE) && !in_service_;
}

std::deque<Csb::Flight>::iterator Csb::oldest(bool is_write) {
    return std::find_if(flying_.begin(), flying_.end(),
                        [=](const Flight& flight) { return (flight.op.kind == WRITE) == is_write; });
}

// An answer needs a request that was accepted before this edge and not answered yet.
void Csb::judge(const CsbInputs& in) {
    if (!in.reset_n) {
        if (!in.resting) return;
        if (in.answer_valid) violate(READ_IN_RESET);
        if (in.write_complete) violate(WRITE_IN_RESET);
        if (in.interrupt) violate(LINE_IN_RESET);
        return;
    }
    // An access that is dropped because a reset begins may still be answered at that edge.
    if (edges > dropped_at_ + 1) {
        if (in.answer_valid && oldest(false) == flying_.end()) violate(READ_UNASKED);
        if (in.write_complete && oldest(true) == flying_.end()) violate(WRITE_UNASKED);
    }
    if (in.interrupt != line_) {
        line_ = in.interrupt;
        accesses.add() = {uint64_t(cycle), 0, line_, 0, 1};
    }
}

void Csb::violate(uint32_t rule) {
    if (violated_[rule]) return;
    violated_[rule] = true;
    violations.add() = {uint64_t(cycle), rule, 0};
}

void Csb::edge(const CsbInputs& in) {
    judge(in);
    hold_ = false;
    // An answer may begin the next request, which is not of this edge.
    const Phase phase = phase_;
    land(in);
    if (phase == STALLED) {
        put_on_pins();
    } else if (phase == REQUESTED) {
        ++waited_;
        if (in.ready) {
            pins.valid = false;
            accepted();
        } else if (waited_ == settings_.deadline_cycles) {
            pins = {};
            phase_ = IDLE;
            finish(op_, index_, NOT_ACCEPTED, 0);
        }
    }
    if (serving_ && in.interrupt && !service_wanted_ && !in_service_ && service_since_ != cycle) {
        service_wanted_ = true;
        service_since_ = cycle;
    }
    // The bench's reaction to an event goes to the pins in the same cycle, ahead of other accesses.
    if (!hold_) restart();
}

// Take the answers of this edge; a read and a write may be answered at once.
void Csb::land(const CsbInputs& in) {
    for (const bool is_write : {false, true}) {
        const auto answered = oldest(is_write);
        if (answered == flying_.end() || !(is_write ? in.write_complete : in.answer_valid)) continue;
        const Flight flight = *answered;
        flying_.erase(answered);
        if (!is_write) log(flight.op.address, in.answer_data, false);
        finish(flight.op, flight.index, DONE, is_write ? 0 : in.answer_data);
    }
    for (Flight& flight : flying_) {
        if (++flight.waited != settings_.deadline_cycles) continue;
        const Flight lost = flight;
        flying_.clear();
        finish(lost.op, lost.index, NOT_ANSWERED, 0);
        break;
    }
}

void Csb::accepted() {
    phase_ = IDLE;
    if (op_.kind == WRITE) {
        log(op_.address, op_.value, true);
        // The bench sees the access before the DUT can act on it, however late the answer comes.
        wake |= op_.wake;
        if (!op_.nonposted) {
            finish(op_, index_, DONE, 0);
            return;
        }
    }
    flying_.push_back({op_, index_, 0});
}

void Csb::restart() {
    hold_ = false;
    if (phase_ != IDLE || flying_.size() >= settings_.most_outstanding) return;
    if (service_wanted_ && (service_since_ < cycle || queue_.empty())) {
        if (!flying_.empty()) return;
        service_wanted_ = false;
        in_service_ = true;
        request({READ, status_address_});
    } else if (!queue_.empty() && !in_service_) {
        const Op op = queue_.front();
        // What goes on after a poll depends on its answer.
        if (!flying_.empty() && (op.kind == POLL || flying_.back().op.kind == POLL)) return;
        queue_.pop_front();
        if (!repeats_) {
            index_ = op.batch == batch_ ? index_ + 1 : 0;
            batch_ = op.batch;
            poll_start_ = cycle;
        }
        repeats_ = false;
        request(op);
    }
}

void Csb::request(const Op& op) {
    op_ = op;
    phase_ = STALLED;
    put_on_pins();
}

void Csb::put_on_pins() {
    if (settings_.stall > 0 && draws_.chance(Draws::CSB_STALL, settings_.stall)) return;
    pins = {true, op_.kind == WRITE, op_.kind == WRITE && op_.nonposted, uint16_t(op_.address >> 2),
            op_.kind == WRITE ? op_.value : 0};
    phase_ = REQUESTED;
    waited_ = 0;
}

void Csb::finish(const Op& op, uint32_t index, uint32_t status, uint32_t value) {
    if (in_service_) {
        finish_service(op, status, value);
        return;
    }
    if (status == DONE && op.kind == POLL && !holds(op, value)) {
        if (cycle <= poll_start_ + int64_t(op.deadline_cycles)) {
            // Polls go through the queue: a waiting interrupt comes before the next read of a poll.
            queue_.push_front(op);
            repeats_ = true;
            return;
        }
        status = POLL_EXPIRED;
    }
    if (op.kind == READ || op.wake || status != DONE)
        results.add() = {uint64_t(cycle), op.batch, index, status, value};
    if (status != DONE)
        while (!queue_.empty() && queue_.front().batch == op.batch) queue_.pop_front();
    // The last answer may come after that to the last access, a posted write.
    if (op.wake || status != DONE || (flying_.empty() && queue_.empty() && phase_ == IDLE)) wake = hold_ = true;
}

void Csb::finish_service(const Op& op, uint32_t status, uint32_t value) {
    if (status != DONE) {
        service_failed = 1 + op.kind;
        wake = hold_ = true;
    } else if (op.kind == READ && value != 0) {
        request({WRITE, status_address_, value, 1});
        return;
    } else if (op.kind == WRITE) {
        for (uint32_t bit = 0; bit < 32; ++bit) fired[bit] += op.value >> bit & 1;
        wake = hold_ = true;
    }
    in_service_ = false;
    service_since_ = cycle;
}

void Csb::log(uint32_t address, uint32_t value, bool is_write) {
    access_count += !in_service_;
    accesses.add() = {uint64_t(cycle), address, value, is_write, 0};
}

bool Csb::holds(const Op& op, uint32_t value) {
    const uint32_t field = (value & op.mask) >> op.shift;
    // The other half of the comparisons are their opposites.
    const bool met[NOT_EQUAL] = {field == op.value, field > op.value, field < op.value};
    return op.comparison < NOT_EQUAL ? met[op.comparison] : !met[op.comparison - NOT_EQUAL];
}

}  // namespace harness

namespace {

void show(const harness::CsbPins& pins, int* flags, int* addr, int* wdat) {
    *flags = pins.valid | pins.write << 1 | pins.nposted << 2 | harness::csb.busy() << 3;
    *addr = pins.addr;
    *wdat = pins.wdat;
}

}  // namespace

extern "C" {

void harness_csb_edge(int flags, int answer_data, int* out_flags, int* addr, int* wdat) {
    harness::CsbInputs in;
    in.ready = flags & 1;
    in.answer_valid = flags >> 1 & 1;
    in.write_complete = flags >> 2 & 1;
    in.interrupt = flags >> 3 & 1;
    in.reset_n = flags >> 4 & 1;
    in.resting = flags >> 5 & 1;
    in.answer_data = answer_data;
    harness::csb.edge(in);
    show(harness::csb.pins, out_flags, addr, wdat);
}

// Right after a rising edge, or as late as a delay in the RTL makes it, but before the clock has fallen.
void harness_line_moved() {
    if (harness::csb_low) harness::csb.violate(harness::LINE_OFF_CLOCK);
}

void harness_csb_restart(int* out_flags, int* addr, int* wdat) {
    harness::csb.restart();
    show(harness::csb.pins, out_flags, addr, wdat);
}

// Functions that the bench calls through tb/nvdla_tb/sim/native.py.

void nvb_csb_configure(const harness::CsbSettings* settings) { harness::csb.configure(*settings); }
void nvb_csb_drop_all() { harness::csb.drop_all(); }
void nvb_csb_cancel(uint32_t batch) { harness::csb.cancel(batch); }
void nvb_csb_submit(const harness::Op* ops, uint32_t count) { harness::csb.submit(ops, count); }
void nvb_csb_serve_interrupts(uint32_t status_address) { harness::csb.serve_interrupts(status_address); }
uint64_t nvb_csb_access_count() { return harness::csb.access_count; }
uint32_t nvb_csb_service_failed() { return harness::csb.service_failed; }
const uint32_t* nvb_csb_fired() { return harness::csb.fired; }
uint32_t nvb_csb_pending(uint32_t* batch, uint32_t* index) { return harness::csb.pending(*batch, *index); }

// The logs, one record after another.
void* nvb_csb_accesses(uint32_t** count) { return harness::csb.accesses.locate(count); }
void* nvb_csb_violations(uint32_t** count) { return harness::csb.violations.locate(count); }
void* nvb_csb_results(uint32_t** count) { return harness::csb.results.locate(count); }
}

// The slaves of the memory ports, and their functions that the bench and the harness's Verilog call.
#include "port.h"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "Vtop__Dpi.h"

namespace harness {

Port ports[2];

void Answers::clear() {
    waiting_.clear();
    active_ = valid_ = false;
}

// Take an answer that is due and may go next: the oldest one of its id.
bool Answers::pop(const PortSettings& settings, const Draws& draws) {
    if (waiting_.empty()) return false;
    size_t chosen = 0;
    if (!settings.reorder) {
        if (waiting_[0].due > cycle) return false;
    } else {
        // Only ids with waiting answers are looked at.
        static std::bitset<1 << 16> seen;
        for (const Response& response : waiting_) seen[response.id] = false;
        std::vector<size_t> due;
        for (size_t n = 0; n < waiting_.size(); ++n) {
            if (seen[waiting_[n].id]) continue;
            seen[waiting_[n].id] = true;
            if (waiting_[n].due <= cycle) due.push_back(n);
        }
        if (due.empty()) return false;
        chosen = due[draws.below(choice_, due.size())];
    }
    current_ = std::move(waiting_[chosen]);
    waiting_.erase(waiting_.begin() + chosen);
    return true;
}

bool Answers::edge(bool ready, bool stands, const PortSettings& settings, const Draws& draws) {
    if (active_ && valid_ && ready) {
        valid_ = false;
        active_ = ++beat_ < current_.beats;
    }
    if (!active_ && pop(settings, draws)) {
        active_ = true;
        beat_ = 0;
    }
    if (active_ && !valid_)
        valid_ = !stands && !(settings.valid_stall > 0 && draws.chance(stall_, settings.valid_stall));
    return valid_;
}

void Port::configure(const PortSettings& settings) {
    settings_ = settings;
    draws_.seed(settings.seed);
    memory.clear();
    writes.count = reads.count = answers.count = faults.count = violations.count = 0;
    std::memset(violated_, 0, sizeof violated_);
    handshakes = read_requests = 0;
    flush();
    forget_most();
}

void Port::forget_most() {
    most_reads = open_reads_;
    most_writes = open_writes_;
}

void Port::flush() {
    addresses_.clear();
    beats_.clear();
    read_answers_.clear();
    write_answers_.clear();
    ar_ = aw_ = w_ = {};
    open_reads_ = open_writes_ = 0;
    pins = {};
    pins.arready = pins.awready = pins.wready = true;
    pins.busy = moves_ready();
    kick = true;
    flushed_at_ = edges;
}

bool Offer::operator==(const Offer& other) const {
    return last == other.last && address == other.address && id == other.id && beats == other.beats &&
           !std::memcmp(data, other.data, sizeof data) && !std::memcmp(strobe, other.strobe, sizeof strobe);
}

// AXI: an offer stays unchanged until it is accepted.
void Port::judge(const PortInputs& in) {
    const Offer ar{in.arvalid, false, in.araddr, in.arid, in.arlen};
    const Offer aw{in.awvalid, false, in.awaddr, in.awid, in.awlen};
    Offer w{in.wvalid, in.wlast};
    std::memcpy(w.data, in.wdata, settings_.bus_bytes);
    std::memcpy(w.strobe, in.wstrb, settings_.bus_bytes / 8);
    judge(ar_, ar, pins.arready, AR_DROPPED, AR_CHANGED);
    judge(aw_, aw, pins.awready, AW_DROPPED, AW_CHANGED);
    judge(w_, w, pins.wready, W_DROPPED, W_CHANGED);
}

void Port::judge(Offer& held, const Offer& offered, bool ready, Rule dropped, Rule changed) {
    if (held.waits && !offered.waits) violate(dropped);
    if (held.waits && offered.waits && !(held == offered)) violate(changed);
    held = offered;
    held.waits = offered.waits && !ready;
}

void Port::violate(uint32_t rule) {
    if (violated_[rule]) return;
    violated_[rule] = true;
    violations.add() = {uint64_t(cycle), rule, 0};
}

void Port::edge(const PortInputs& in) {
    // A DUT in reset requests nothing, and may withdraw its offers.
    if (!in.reset_n) {
        if (in.resting && (in.arvalid || in.awvalid || in.wvalid)) violate(IN_RESET);
        ar_ = aw_ = w_ = {};
        return;
    }
    // The edge at which a reset begins: half-finished bursts from before it have been dropped.
    if (edges <= flushed_at_ + 1) return;
    // If nothing ever waits, nothing can be withdrawn.
    if (moves_ready()) judge(in);
    // A handshake uses the values driven before this edge.
    const bool rready = in.rready && pins.rvalid, bready = in.bready && pins.bvalid;
    open_reads_ -= rready;
    open_writes_ -= bready;
    if (bready) answers.add() = {uint64_t(cycle), uint64_t(write_answers_.current().written), pins.bid, 0};
    if (in.arvalid && pins.arready) {
        ++handshakes;
        ++read_requests;
        open_reads_ += in.arlen + 1u;
        most_reads = std::max(most_reads, open_reads_);
        if (settings_.read_clients && in.arid >= settings_.read_clients) violate(READ_CLIENT);
        read(in.arid, in.araddr, in.arlen + 1u);
    }
    if (in.awvalid && pins.awready) {
        ++handshakes;
        ++open_writes_;
        most_writes = std::max(most_writes, open_writes_);
        if (settings_.write_clients && in.awid >= settings_.write_clients) violate(WRITE_CLIENT);
        addresses_.push_back({in.awid, in.awaddr, in.awlen + 1u});
        match();
    }
    if (in.wvalid && pins.wready) {
        ++handshakes;
        Beat beat;
        beat.cycle = cycle;
        beat.last = in.wlast;
        std::memcpy(beat.data, in.wdata, settings_.bus_bytes);
        std::memcpy(beat.strobe, in.wstrb, settings_.bus_bytes / 8);
        beats_.push_back(beat);
        match();
    }
    pins.rvalid = read_answers_.edge(rready, stands_still(CHANNEL_R), settings_, draws_);
    if (pins.rvalid) {
        const Response& response = read_answers_.current();
        const uint32_t beat = read_answers_.beat();
        pins.rid = response.id;
        pins.rlast = beat + 1 == response.beats;
        std::memcpy(pins.rdata, response.data.data() + beat * settings_.bus_bytes, settings_.bus_bytes);
    }
    pins.bvalid = write_answers_.edge(bready, stands_still(CHANNEL_B), settings_, draws_);
    if (pins.bvalid) pins.bid = write_answers_.current().id;
    if (moves_ready()) {
        pins.arready = !stands_still(CHANNEL_AR) && !draws_.chance(Draws::AR, settings_.ready_stall);
        pins.awready = !stands_still(CHANNEL_AW) && !draws_.chance(Draws::AW, settings_.ready_stall);
        pins.wready = !stands_still(CHANNEL_W) && !draws_.chance(Draws::W, settings_.ready_stall);
    }
    pins.busy = moves_ready() || !read_answers_.idle() || !write_answers_.idle();
}

void Port::read(uint16_t id, uint64_t address, uint32_t beats) {
    const uint32_t width = settings_.bus_bytes;
    const uint64_t start = address / width * width;
    const uint64_t nbytes = uint64_t{beats} * width;
    report(memory.check_read(start, nbytes, width, settings_.atom_bytes), true, id, address, nbytes);
    if (settings_.log_reads) reads.add() = {uint64_t(cycle), address, id, beats};
    Response response{address, due(Draws::READ_JITTER, settings_.latency_cycles), id, beats, 0, std::vector<uint8_t>(beats * width)};
    for (uint32_t n = 0; n < beats; ++n) memory.read_word(start + n * width, response.data.data() + n * width, width);
    read_answers_.push(std::move(response));
}

// Perform the oldest write whose address and beats have all arrived.
void Port::match() {
    while (!addresses_.empty() && beats_.size() >= addresses_[0].beats) {
        const Address burst = addresses_[0];
        addresses_.pop_front();
        const uint32_t width = settings_.bus_bytes;
        const uint64_t start = burst.address / width * width, nbytes = uint64_t{burst.beats} * width;
        Memory::Fault fault{Memory::NONE, 0};
        for (uint32_t n = 0; n < burst.beats && fault.kind == Memory::NONE; ++n)
            fault = memory.check_write(start + n * width, beats_[n].strobe, width);
        report(fault, false, burst.id, burst.address, nbytes);
        int64_t written = 0;
        for (uint32_t n = 0; n < burst.beats; ++n) {
            const Beat& beat = beats_[0];
            written = beat.cycle;
            if (beat.last != (n + 1 == burst.beats)) violate(W_LAST);
            WriteRecord& record = writes.add();
            record.cycle = beat.cycle;
            record.seen = cycle;
            record.address = start + n * width;
            record.id = burst.id;
            std::memcpy(record.strobe, beat.strobe, width / 8);
            std::memcpy(record.data, beat.data, width);
            memory.write_word(record.address, beat.data, beat.strobe, width);
            beats_.pop_front();
        }
        write_answers_.push({burst.address, due(Draws::WRITE_JITTER, settings_.write_latency_cycles), burst.id, 1, written, {}});
    }
}

void Port::report(const Memory::Fault& fault, bool reading, uint16_t id, uint64_t address, uint64_t nbytes) {
    if (fault.kind == Memory::NONE) return;
    faults.add() = {uint64_t(cycle), address, nbytes, fault.at, id, reading, uint32_t(fault.kind), 0};
}

// A pausing channel stands still at the beginning of each period: the named ones always, otherwise any.
bool Port::stands_still(Channel channel) const {
    if (!settings_.pause_cycles || cycle % settings_.pause_period_cycles >= settings_.pause_cycles) return false;
    if (settings_.pause_channels) return settings_.pause_channels >> channel & 1;
    return draws_.coin(Draws::PAUSE, cycle / settings_.pause_period_cycles * CHANNELS + channel);
}

int64_t Port::due(Draws::Stream jitter, uint32_t latency_cycles) const {
    int64_t extra = settings_.jitter_cycles ? draws_.below(jitter, settings_.jitter_cycles + 1) : 0;
    return cycle + latency_cycles + extra;
}

std::vector<Outstanding> Port::outstanding() const {
    std::vector<Outstanding> all;
    if (const Response* answer = read_answers_.on_pins()) all.push_back({answer->address, answer->id, 1});
    if (const Response* answer = write_answers_.on_pins()) all.push_back({answer->address, answer->id, 0});
    for (const Response& response : read_answers_.waiting()) all.push_back({response.address, response.id, 1});
    for (const Response& response : write_answers_.waiting()) all.push_back({response.address, response.id, 0});
    return all;
}

}  // namespace harness

namespace {

void show(const harness::PortPins& pins, int* flags, int* ids, svBitVecVal* rdata) {
    *flags = pins.arready | pins.awready << 1 | pins.wready << 2 | pins.rvalid << 3 | pins.rlast << 4 |
             pins.bvalid << 5 | pins.busy << 6;
    *ids = pins.rid | uint32_t(pins.bid) << 16;
    std::memcpy(rdata, pins.rdata, sizeof pins.rdata);
}

}  // namespace

extern "C" {

void harness_port_edge(int port, int flags, int ids, unsigned long long araddr, unsigned long long awaddr,
                       const svBitVecVal* wdata, const svBitVecVal* wstrb, int* out_flags, int* out_ids,
                       svBitVecVal* rdata) {
    harness::PortInputs in;
    in.arvalid = flags & 1;
    in.awvalid = flags >> 1 & 1;
    in.wvalid = flags >> 2 & 1;
    in.rready = flags >> 3 & 1;
    in.bready = flags >> 4 & 1;
    in.wlast = flags >> 5 & 1;
    in.reset_n = flags >> 6 & 1;
    in.resting = flags >> 7 & 1;
    in.arlen = flags >> 8;
    in.awlen = flags >> 16;
    in.arid = ids;
    in.awid = uint32_t(ids) >> 16;
    in.araddr = araddr;
    in.awaddr = awaddr;
    in.wdata = reinterpret_cast<const uint8_t*>(wdata);
    in.wstrb = reinterpret_cast<const uint8_t*>(wstrb);
    harness::ports[port].edge(in);
    show(harness::ports[port].pins, out_flags, out_ids, rdata);
}

void harness_port_pins(int port, int* out_flags, int* out_ids, svBitVecVal* rdata) {
    show(harness::ports[port].pins, out_flags, out_ids, rdata);
}

// Functions that the bench calls through tb/nvdla_tb/sim/native.py.

void nvb_port_configure(uint32_t port, const harness::PortSettings* settings) {
    harness::ports[port].configure(*settings);
}

void nvb_port_log_reads(uint32_t port) { harness::ports[port].log_reads(); }
void nvb_port_flush(uint32_t port) { harness::ports[port].flush(); }

void nvb_port_allocate(uint32_t port, const uint64_t* first_and_last, uint32_t count) {
    harness::ports[port].memory.allocate(first_and_last, count);
}

harness::Page* nvb_port_page(uint32_t port, uint64_t number, uint32_t create) {
    harness::Memory& memory = harness::ports[port].memory;
    return create ? memory.create(number) : memory.find(number);
}

uint64_t nvb_port_handshakes(uint32_t port) { return harness::ports[port].handshakes; }
uint64_t nvb_port_read_requests(uint32_t port) { return harness::ports[port].read_requests; }
// The largest number of read beats and of write bursts outstanding at once since the last call.
void nvb_port_most_outstanding(uint32_t port, uint32_t* reads, uint32_t* writes) {
    *reads = harness::ports[port].most_reads;
    *writes = harness::ports[port].most_writes;
    harness::ports[port].forget_most();
}

uint32_t nvb_port_addresses_waiting(uint32_t port) { return harness::ports[port].addresses_waiting(); }
uint32_t nvb_port_beats_waiting(uint32_t port) { return harness::ports[port].beats_waiting(); }

uint32_t nvb_port_outstanding(uint32_t port, harness::Outstanding* out, uint32_t capacity) {
    const std::vector<harness::Outstanding> all = harness::ports[port].outstanding();
    for (uint32_t n = 0; n < all.size() && n < capacity; ++n) out[n] = all[n];
    return all.size();
}

// The logs, one record after another.
void* nvb_port_writes(uint32_t port, uint32_t** count) { return harness::ports[port].writes.locate(count); }
void* nvb_port_reads(uint32_t port, uint32_t** count) { return harness::ports[port].reads.locate(count); }
void* nvb_port_answers(uint32_t port, uint32_t** count) { return harness::ports[port].answers.locate(count); }
void* nvb_port_faults(uint32_t port, uint32_t** count) { return harness::ports[port].faults.locate(count); }
void* nvb_port_violations(uint32_t port, uint32_t** count) { return harness::ports[port].violations.locate(count); }
}

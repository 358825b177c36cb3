// The slave side of one memory port: the same behaviour, cycle by cycle, as tb/nvdla_tb/sim/memory_slave.py.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "harness.h"
#include "memory.h"

namespace harness {

constexpr uint32_t MAX_BUS_BYTES = 64;
constexpr uint32_t MAX_BEATS = 256;  // of a burst
constexpr uint32_t LOG_CAPACITY = 1 << 15;

// One beat of a finished write burst; `seen` is the cycle in which address and data were complete.
struct WriteRecord {
    uint64_t cycle, seen, address;
    uint32_t id, unused;
    uint8_t strobe[MAX_BUS_BYTES / 8];
    uint8_t data[MAX_BUS_BYTES];
};
static_assert(sizeof(WriteRecord) == 104, "as WRITE_RECORD in tb/nvdla_tb/sim/native.py");

struct ReadRecord {
    uint64_t cycle, address;
    uint32_t id, beats;
};
static_assert(sizeof(ReadRecord) == 24, "as READ_RECORD in tb/nvdla_tb/sim/native.py");

// An accepted answer to a write burst; `written` is the cycle of the burst's last beat, which names it on its port.
struct AnswerRecord {
    uint64_t cycle, written;
    uint32_t id, unused;
};
static_assert(sizeof(AnswerRecord) == 24, "as ANSWER_RECORD in tb/nvdla_tb/sim/native.py");

struct FaultRecord {
    uint64_t cycle, address, nbytes, at;
    uint32_t id, reading, kind, unused;
};
static_assert(sizeof(FaultRecord) == 48, "as FAULT_RECORD in tb/nvdla_tb/sim/native.py");

// Rules of the port, in the order of PortRule in tb/nvdla_tb/judge/port_rules.py.
enum Rule : uint32_t {
    AR_DROPPED,
    AR_CHANGED,
    AW_DROPPED,
    AW_CHANGED,
    W_DROPPED,
    W_CHANGED,
    W_LAST,
    IN_RESET = 15,  // after those of the slave, which is the harness itself
    READ_CLIENT,
    WRITE_CLIENT,
};

struct ViolationRecord {
    uint64_t cycle;
    uint32_t rule, unused;
};
static_assert(sizeof(ViolationRecord) == 16, "as VIOLATION_RECORD in tb/nvdla_tb/sim/native.py");

// As the bench fills it in; see BenchSettings and PortSettings.
struct PortSettings {
    uint64_t seed;
    double ready_stall, valid_stall;
    uint32_t bus_bytes, latency_cycles, jitter_cycles, reorder, log_reads, atom_bytes;
    uint32_t write_latency_cycles, pause_cycles, pause_period_cycles, pause_channels;
    uint32_t read_clients, write_clients;  // ids must be below these, if they are not 0
};
static_assert(sizeof(PortSettings) == 72, "as PortSettingsRecord in tb/nvdla_tb/sim/native.py");

struct Outstanding {
    uint64_t address;
    uint32_t id, reading;
};
static_assert(sizeof(Outstanding) == 16, "as OUTSTANDING_RECORD in tb/nvdla_tb/sim/native.py");

// In the order of CHANNELS in tb/nvdla_tb/stimulus/settings.py.
enum Channel : uint32_t { CHANNEL_AR, CHANNEL_AW, CHANNEL_W, CHANNEL_R, CHANNEL_B, CHANNELS };

// The pins that the port drives.
struct PortPins {
    bool busy, arready, awready, wready, rvalid, rlast, bvalid;
    uint16_t rid, bid;
    uint8_t rdata[MAX_BUS_BYTES];
};

// The pins that the port samples at a rising edge.
struct PortInputs {
    bool arvalid, awvalid, wvalid, wlast, rready, bready, reset_n, resting;
    uint16_t arid, awid;
    uint8_t arlen, awlen;
    uint64_t araddr, awaddr;
    const uint8_t *wdata, *wstrb;
};

struct Response {
    uint64_t address;
    int64_t due;
    uint32_t id, beats;
    int64_t written;  // cycle of the last beat of a write burst
    std::vector<uint8_t> data;
};

// Answers of one kind: the waiting ones, and the one on the pins.
class Answers {
  public:
    Answers(Draws::Stream choice, Draws::Stream stall) : choice_(choice), stall_(stall) {}
    void push(Response response) { waiting_.push_back(std::move(response)); }
    void clear();
    // Advance by one edge; true when a beat is on the pins afterwards.
    // No new beat is put there while the channel pauses.
    bool edge(bool ready, bool stands, const PortSettings& settings, const Draws& draws);
    bool idle() const { return waiting_.empty() && !active_; }
    const Response& current() const { return current_; }
    uint32_t beat() const { return beat_; }
    const std::deque<Response>& waiting() const { return waiting_; }
    // The answer that was begun, or that begins as soon as the channel moves.
    const Response* on_pins() const { return active_ ? &current_ : nullptr; }

  private:
    bool pop(const PortSettings& settings, const Draws& draws);
    const Draws::Stream choice_, stall_;
    std::deque<Response> waiting_;
    Response current_;
    bool active_ = false, valid_ = false;
    uint32_t beat_ = 0;
};

// The offer of a channel while its ready is low; it must not change until it is accepted.
struct Offer {
    bool waits = false, last = false;
    uint64_t address = 0;
    uint32_t id = 0, beats = 0;
    uint8_t data[MAX_BUS_BYTES] = {}, strobe[MAX_BUS_BYTES / 8] = {};
    bool operator==(const Offer& other) const;
};

class Port {
  public:
    Memory memory;
    PortPins pins;
    Log<WriteRecord, LOG_CAPACITY, 2 * MAX_BEATS> writes;
    Log<ReadRecord, LOG_CAPACITY> reads;
    Log<AnswerRecord, LOG_CAPACITY> answers;
    Log<FaultRecord, LOG_CAPACITY> faults;
    Log<ViolationRecord, 128> violations;  // the first of each rule
    uint64_t handshakes = 0, read_requests = 0;
    // The largest number of accepted, unanswered read beats and write bursts since the last query.
    uint32_t most_reads = 0, most_writes = 0;

    Port() { flush(); }
    void configure(const PortSettings& settings);
    // Drop all pending answers and half-finished bursts, as a reset of the DUT does.
    void flush();
    void edge(const PortInputs& in);
    void forget_most();
    // From now on, keep every read, too.
    void log_reads() { settings_.log_reads = 1; }
    // Record a broken rule, unless it was recorded before.
    void violate(uint32_t rule);
    uint32_t addresses_waiting() const { return addresses_.size(); }
    uint32_t beats_waiting() const { return beats_.size(); }
    std::vector<Outstanding> outstanding() const;

  private:
    struct Address {
        uint16_t id;
        uint64_t address;
        uint32_t beats;
    };
    struct Beat {
        int64_t cycle;
        bool last;
        uint8_t data[MAX_BUS_BYTES], strobe[MAX_BUS_BYTES / 8];
    };
    void read(uint16_t id, uint64_t address, uint32_t beats);
    void match();
    void judge(const PortInputs& in);
    void judge(Offer& held, const Offer& offered, bool ready, Rule dropped, Rule changed);
    void report(const Memory::Fault& fault, bool reading, uint16_t id, uint64_t address, uint64_t nbytes);
    int64_t due(Draws::Stream jitter, uint32_t latency_cycles) const;
    bool stands_still(Channel channel) const;
    bool moves_ready() const { return settings_.ready_stall > 0 || settings_.pause_cycles > 0; }

    PortSettings settings_ = {};
    Offer ar_, aw_, w_;
    bool violated_[MAX_RULES] = {};
    uint32_t open_reads_ = 0, open_writes_ = 0;
    int64_t flushed_at_ = 0;
    Draws draws_;
    std::deque<Address> addresses_;
    std::deque<Beat> beats_;
    Answers read_answers_{Draws::READ_CHOICE, Draws::READ_STALL};
    Answers write_answers_{Draws::WRITE_CHOICE, Draws::WRITE_STALL};
};

extern Port ports[2];

}  // namespace harness

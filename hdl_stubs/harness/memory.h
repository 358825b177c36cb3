// The memory of a port, in pages that the bench sees as numpy arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace harness {

// As in tb/nvdla_tb/nvdla/memory.py: one bit per byte says whether it was ever written.
struct Page {
    static constexpr uint64_t BYTES = 1 << 16;
    static constexpr uint8_t POISON = 0xDB;
    uint8_t data[BYTES];
    uint8_t valid[BYTES / 8];
    Page();
};
static_assert(sizeof(Page) == Page::BYTES / 8 * 9, "bytes and their bits, without padding");

class Memory {
  public:
    struct Range {
        uint64_t first, last;
    };
    enum FaultKind { NONE, OUTSIDE, NEVER_WRITTEN };
    struct Fault {
        FaultKind kind;
        uint64_t at;
    };

    void clear();
    void allocate(const uint64_t* first_and_last, uint32_t count);
    Page* find(uint64_t number);
    Page* create(uint64_t number);
    // `address` is aligned to `nbytes`, a bus word.
    void read_word(uint64_t address, uint8_t* out, uint32_t nbytes);
    void write_word(uint64_t address, const uint8_t* data, const uint8_t* strobe, uint32_t nbytes);
    Fault check(uint64_t address, uint64_t nbytes, bool reading);
    // If a bus word is wider than an atom, the DUT may use a single atom of it.
    Fault check_read(uint64_t address, uint64_t nbytes, uint32_t word_bytes, uint32_t atom_bytes);
    Fault check_write(uint64_t address, const uint8_t* strobe, uint32_t nbytes);

  private:
    uint64_t outside(uint64_t address, uint64_t nbytes, bool& found);
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    std::vector<Range> allocations_;
    uint64_t recent_number_ = 0;
    Page* recent_ = nullptr;
    size_t recent_range_ = 0;
};

}  // namespace harness

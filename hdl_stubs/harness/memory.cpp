// Pages, allocations and poison: the same rules as tb/nvdla_tb/nvdla/memory.py.
#include "memory.h"

#include <algorithm>
#include <cstring>

namespace harness {

Page::Page() {
    std::memset(data, POISON, sizeof data);
    std::memset(valid, 0, sizeof valid);
}

void Memory::clear() {
    pages_.clear();
    allocations_.clear();
    recent_ = nullptr;
}

void Memory::allocate(const uint64_t* first_and_last, uint32_t count) {
    allocations_.clear();
    for (uint32_t n = 0; n < count; ++n) allocations_.push_back({first_and_last[2 * n], first_and_last[2 * n + 1]});
    recent_range_ = 0;
}

Page* Memory::find(uint64_t number) {
    if (recent_ && recent_number_ == number) return recent_;
    auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    recent_number_ = number;
    return recent_ = found->second.get();
}

Page* Memory::create(uint64_t number) {
    Page* page = find(number);
    if (page) return page;
    recent_number_ = number;
    return recent_ = (pages_[number] = std::make_unique<Page>()).get();
}

void Memory::read_word(uint64_t address, uint8_t* out, uint32_t nbytes) {
    Page* page = find(address / Page::BYTES);
    if (page)
        std::memcpy(out, page->data + address % Page::BYTES, nbytes);
    else
        std::memset(out, Page::POISON, nbytes);
}

void Memory::write_word(uint64_t address, const uint8_t* data, const uint8_t* strobe, uint32_t nbytes) {
    uint32_t lanes = 0;
    for (uint32_t n = 0; n < nbytes / 8; ++n) lanes += strobe[n] != 0;
    if (lanes == 0) return;
    Page* page = create(address / Page::BYTES);
    uint64_t at = address % Page::BYTES;
    for (uint32_t group = 0; group < nbytes / 8; ++group) {
        if (strobe[group] == 0xFF) {
            std::memcpy(page->data + at + 8 * group, data + 8 * group, 8);
        } else {
            for (uint32_t lane = 0; lane < 8; ++lane)
                if (strobe[group] >> lane & 1) page->data[at + 8 * group + lane] = data[8 * group + lane];
        }
        page->valid[at / 8 + group] |= strobe[group];
    }
}

// The first byte of a range that lies in no allocation.
uint64_t Memory::outside(uint64_t address, uint64_t nbytes, bool& found) {
    uint64_t last = address + nbytes - 1;
    found = false;
    if (recent_range_ < allocations_.size()) {
        const Range& recent = allocations_[recent_range_];
        if (recent.first <= address && last <= recent.last) return 0;
    }
    uint64_t reached = address;
    while (true) {
        auto behind = std::upper_bound(allocations_.begin(), allocations_.end(), reached,
                                       [](uint64_t value, const Range& range) { return value < range.first; });
        if (behind == allocations_.begin() || (behind - 1)->last < reached) break;
        recent_range_ = behind - 1 - allocations_.begin();
        if ((behind - 1)->last >= last) return 0;
        reached = (behind - 1)->last + 1;
    }
    found = true;
    return reached;
}

Memory::Fault Memory::check(uint64_t address, uint64_t nbytes, bool reading) {
    bool found;
    uint64_t at = outside(address, nbytes, found);
    if (found) return {OUTSIDE, at};
    if (!reading) return {NONE, 0};
    for (uint64_t byte = address; byte < address + nbytes; byte += 8) {
        Page* page = find(byte / Page::BYTES);
        uint8_t valid = page ? page->valid[byte % Page::BYTES / 8] : 0;
        if (valid != 0xFF) return {NEVER_WRITTEN, byte + __builtin_ctz(~valid)};
    }
    return {NONE, 0};
}

Memory::Fault Memory::check_read(uint64_t address, uint64_t nbytes, uint32_t word_bytes, uint32_t atom_bytes) {
    const Fault fault = check(address, nbytes, true);
    if (fault.kind == NONE || word_bytes <= atom_bytes) return fault;
    for (uint64_t word = address; word < address + nbytes; word += word_bytes) {
        bool sound = false;
        for (uint64_t atom = word; atom < word + word_bytes; atom += atom_bytes)
            sound |= check(atom, atom_bytes, true).kind == NONE;
        if (!sound) return check(word, word_bytes, true);
    }
    return {NONE, 0};
}

// From the first to the last byte whose strobe is set.
Memory::Fault Memory::check_write(uint64_t address, const uint8_t* strobe, uint32_t nbytes) {
    uint32_t first = 0, end = nbytes;
    while (first < end && !(strobe[first / 8] >> first % 8 & 1)) ++first;
    while (end > first && !(strobe[(end - 1) / 8] >> (end - 1) % 8 & 1)) --end;
    return check(address + first, end - first, false);
}

}  // namespace harness

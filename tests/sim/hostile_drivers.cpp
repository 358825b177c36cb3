// Drivers that go wrong, started by test_drivers.py; each is an entry.
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include "nvdla_tb.h"

namespace {

constexpr uint32_t VERSION = 0x1000, SDP_STATUS = 0x9000, SDP_OFFSET = 0x90c0, PDP_RDMA_ENABLE = 0xa008, PDP_ENABLE = 0xb008;

void throws(const nvdla_tb *, void *) { throw std::runtime_error("from a handler"); }

}  // namespace

extern "C" {

int computes_for_ever(const nvdla_tb *tb)
{
    volatile int count = 0;
    tb->reg_read(VERSION);
    for (;;) count = count + 1;
}

int polls_for_ever(const nvdla_tb *tb)
{
    while (tb->reg_read(SDP_STATUS) == 0) {
    }
    return 0;
}

int writes_for_ever(const nvdla_tb *tb)
{
    for (;;) tb->reg_write(SDP_OFFSET, 3);
}

int looks_at_the_clock_for_ever(const nvdla_tb *tb)
{
    while (tb->microseconds() < 1000000) {
    }
    return 0;
}

int waits_for_an_interrupt_that_cannot_come(const nvdla_tb *tb)
{
    return tb->wait_interrupt(0) == NVDLA_TB_NO_INTERRUPT;
}

int waits_in_vain_with_a_limit(const nvdla_tb *tb)
{
    return tb->wait_interrupt(100) == NVDLA_TB_NO_INTERRUPT ? 7 : 0;
}

int reads_a_null_pointer(const nvdla_tb *tb)
{
    tb->reg_write(SDP_OFFSET, 3);
    return *reinterpret_cast<volatile int *>(uintptr_t(tb->reg_read(SDP_STATUS)));
}

int aborts(const nvdla_tb *tb)
{
    tb->reg_read(VERSION);
    std::abort();
}

int ends_the_process(const nvdla_tb *tb)
{
    tb->reg_read(VERSION);
    std::_Exit(0);
}

int throws_out_of_the_driver(const nvdla_tb *tb)
{
    tb->reg_read(VERSION);
    throws(tb, nullptr);
    return 0;
}

int does_nothing(const nvdla_tb *) { return 0; }

int reads_a_register_only(const nvdla_tb *tb) { return tb->reg_read(VERSION) == 0; }

int reads_no_word(const nvdla_tb *tb) { return int(tb->reg_read(VERSION + 2)); }

int writes_beyond_its_memory(const nvdla_tb *tb)
{
    const char bytes[80] = {};
    tb->mem_write(NVDLA_TB_MC, tb->allocate(NVDLA_TB_MC, 64, 32), bytes, sizeof bytes);
    return 0;
}

int reads_what_nobody_wrote(const nvdla_tb *tb)
{
    char bytes[64];
    tb->mem_read(NVDLA_TB_MC, tb->allocate(NVDLA_TB_MC, 64, 32), bytes, sizeof bytes);
    return 0;
}

int hands_over_null(const nvdla_tb *tb)
{
    tb->mem_write(NVDLA_TB_MC, tb->allocate(NVDLA_TB_MC, 64, 32), nullptr, 64);
    return 0;
}

int uses_a_memory_that_is_not_there(const nvdla_tb *tb)
{
    tb->reserve(NVDLA_TB_CVSRAM, 0, 64);
    return 0;
}

int asks_for_too_much(const nvdla_tb *tb) { return int(tb->allocate(NVDLA_TB_MC, UINT64_MAX, 32)); }

// Both go through one door, one at a time.
int calls_from_two_threads(const nvdla_tb *tb)
{
    uint32_t first = 0, second = 0;
    std::thread other([&] {
        for (int n = 0; n < 50; ++n) second = tb->reg_read(VERSION);
    });
    for (int n = 0; n < 50; ++n) first = tb->reg_read(SDP_STATUS);
    other.join();
    return !(first == 0 && second != 0);
}

int leaves_a_process_behind(const nvdla_tb *tb)
{
    if (fork() == 0) {
        setsid();
        execlp("sleep", "sleep", "86399.5", nullptr);
        std::_Exit(1);
    }
    return tb->reg_read(VERSION) == 0;
}

int enables_half_a_layer(const nvdla_tb *tb)
{
    tb->reg_write(PDP_ENABLE, 1);
    return 0;
}
}

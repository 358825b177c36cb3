/* What the bench offers a driver in C or C++ that runs in the simulator's process; see docs/drivers.md.
 *
 *     int nvdla_tb_main(const struct nvdla_tb *tb)
 *     {
 *         uint32_t version = tb->reg_read(0x1000);
 *         tb->log(version ? "here it is" : "nothing there");
 *         return version == 0;
 *     }
 *
 * The DUT's clock stands still while the driver computes, and runs while a function below is carried out.
 * What a function cannot do ends the run with a finding; it does not return then.
 */
#ifndef NVDLA_TB_H
#define NVDLA_TB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of `struct nvdla_tb`; functions are only ever added at its end. */
#define NVDLA_TB_VERSION 1

/* Memories that the DUT sees: behind DBB, and behind the optional second port. */
#define NVDLA_TB_MC 0
#define NVDLA_TB_CVSRAM 1

/* Returned by `wait_interrupt` when the line was not high in time. */
#define NVDLA_TB_NO_INTERRUPT 0

struct nvdla_tb {
    uint32_t version;

    /* Registers by byte address on CSB, a multiple of 4 below 0x40000. Writes are posted. */
    uint32_t (*reg_read)(uint32_t address);
    void (*reg_write)(uint32_t address, uint32_t value);

    /* Bytes of a memory that were allocated, reserved or loaded; those that are read must have been written. */
    void (*mem_read)(uint32_t ram, uint64_t address, void *to, uint64_t nbytes);
    void (*mem_write)(uint32_t ram, uint64_t address, const void *from, uint64_t nbytes);

    /* Give the DUT room: anywhere, at a multiple of a power of two, or at an address. */
    uint64_t (*allocate)(uint32_t ram, uint64_t nbytes, uint64_t alignment_bytes);
    void (*reserve)(uint32_t ram, uint64_t address, uint64_t nbytes);

    /* Wait until the interrupt line is high, for so many cycles at most, or without a limit for 0: an interrupt that
     * cannot come is a finding then. Return 1, or NVDLA_TB_NO_INTERRUPT. */
    int (*wait_interrupt)(uint64_t most_cycles);

    /* Time since the bench started, in cycles of the core's clock and in microseconds (500 cycles each). */
    uint64_t (*cycles)(void);
    uint64_t (*microseconds)(void);

    /* Let so many cycles pass. */
    void (*delay)(uint64_t cycles);

    /* Write a line to the log of the run. */
    void (*log)(const char *text);
};

/* The entry of a driver, `nvdla_tb_main` unless `--entry` names another; it returns 0 when all is well. */
typedef int nvdla_tb_entry(const struct nvdla_tb *tb);

/* A handler of interrupts, which reads and clears S_INTR_STATUS. */
typedef void nvdla_tb_handler(const struct nvdla_tb *tb, void *context);

/* Wait for the interrupt line as `wait_interrupt` does, and call the handler when it is high. */
static inline int nvdla_tb_wait(const struct nvdla_tb *tb, nvdla_tb_handler *handler, void *context, uint64_t most_cycles)
{
    int high = tb->wait_interrupt(most_cycles);
    if (high)
        handler(tb, context);
    return high;
}

#ifdef __cplusplus
}
#endif

#endif

/* A driver: two convolutions with bias and ReLU, and a max-pooling of each result.
 *
 * The register groups take turns: both convolutions are programmed before the first is done, one in each group, and so
 * are both poolings. A handler reads and clears the interrupts. The bench judges every byte, so the driver need not know
 * what is right. Sizes are those of nv_small, whose atoms have 8 bytes.
 */
#include "nvdla_tb.h"
#include "registers.h"

enum { CHANNELS = 16, SIDE = 8, KERNELS = 16, ATOM = 8, SURFACES = CHANNELS / ATOM };
enum { LINE = SIDE * ATOM, SURFACE = SIDE * LINE, CUBE = SURFACES * SURFACE };
enum { WEIGHTS = KERNELS * CHANNELS * 3 * 3, BIAS = 2 * KERNELS };
enum { POOLED_SIDE = SIDE / 2, POOLED_LINE = POOLED_SIDE * ATOM, POOLED_SURFACE = POOLED_SIDE * POOLED_LINE };
enum { POOLED = SURFACES * POOLED_SURFACE };
enum { ENTRIES = SIDE * CHANNELS / ATOM, DATA_BANKS = 1, WEIGHT_BANKS = 31 };

static const struct nvdla_tb *tb;
static uint32_t done; /* interrupts that the handler has seen */

static void handler(const struct nvdla_tb *bench, void *context)
{
    uint32_t status = bench->reg_read(GLB + S_INTR_STATUS);
    *(uint32_t *)context |= status;
    bench->reg_write(GLB + S_INTR_STATUS, status);
}

static void wait_for(uint32_t bits)
{
    while ((done & bits) != bits)
        nvdla_tb_wait(tb, handler, &done, 0);
    done &= ~bits;
}

/* Memory with bytes that look random. */
static uint32_t filled(uint32_t nbytes, uint32_t seed)
{
    uint8_t data[WEIGHTS];
    uint32_t address = (uint32_t)tb->allocate(NVDLA_TB_MC, nbytes, 32);
    for (uint32_t n = 0; n < nbytes; n++) {
        seed = seed * 1664525 + 1013904223;
        data[n] = (uint8_t)(seed >> 24);
    }
    tb->mem_write(NVDLA_TB_MC, address, data, nbytes);
    return address;
}

static void set(uint32_t unit, uint32_t offset, uint32_t value) { tb->reg_write(unit + offset, value); }

/* Sizes in registers are one less than what they mean. */
static uint32_t pair(uint32_t high, uint32_t low) { return (high - 1) << 16 | (low - 1); }

static void convolve(int group, uint32_t src, uint32_t weights, uint32_t bias, uint32_t dst)
{
    static const uint32_t units[] = {SDP_RDMA, SDP, CACC, CMAC_A, CMAC_B, CSC, CDMA};
    for (int n = 0; n < 7; n++)
        set(units[n], S_POINTER, group);

    set(SDP_RDMA, SDP_RDMA_D_FEATURE_MODE_CFG, 0x5); /* from the convolution */
    set(SDP_RDMA, SDP_RDMA_D_DATA_CUBE_WIDTH, SIDE - 1);
    set(SDP_RDMA, SDP_RDMA_D_DATA_CUBE_HEIGHT, SIDE - 1);
    set(SDP_RDMA, SDP_RDMA_D_DATA_CUBE_CHANNEL, KERNELS - 1);
    set(SDP_RDMA, SDP_RDMA_D_BRDMA_CFG, 0x2a); /* bias of each kernel, 16 bits */
    set(SDP_RDMA, SDP_RDMA_D_BS_BASE_ADDR_LOW, bias);
    set(SDP_RDMA, SDP_RDMA_D_NRDMA_CFG, 1);
    set(SDP_RDMA, SDP_RDMA_D_ERDMA_CFG, 1);

    set(SDP, SDP_D_FEATURE_MODE_CFG, 1);
    set(SDP, SDP_D_DATA_CUBE_WIDTH, SIDE - 1);
    set(SDP, SDP_D_DATA_CUBE_HEIGHT, SIDE - 1);
    set(SDP, SDP_D_DATA_CUBE_CHANNEL, KERNELS - 1);
    set(SDP, SDP_D_DST_BASE_ADDR_LOW, dst);
    set(SDP, SDP_D_DST_LINE_STRIDE, LINE);
    set(SDP, SDP_D_DST_SURFACE_STRIDE, SURFACE);
    set(SDP, SDP_D_DST_DMA_CFG, 1);
    set(SDP, SDP_D_DP_BS_CFG, 0x38); /* add, then ReLU */
    set(SDP, SDP_D_DP_BS_ALU_CFG, 1);
    set(SDP, SDP_D_DP_BN_CFG, 0x53); /* bypassed, as Y is */
    set(SDP, SDP_D_DP_EW_CFG, 0x53);
    set(SDP, SDP_D_CVT_SCALE, 1);

    set(CACC, CACC_D_DATAOUT_SIZE_0, pair(SIDE, SIDE));
    set(CACC, CACC_D_DATAOUT_SIZE_1, KERNELS - 1);
    set(CACC, CACC_D_CLIP_CFG, 6);
    set(CACC, CACC_D_MISC_CFG, 0);
    set(CMAC_A, CMAC_D_MISC_CFG, 0);
    set(CMAC_B, CMAC_D_MISC_CFG, 0);

    set(CSC, CSC_D_MISC_CFG, 0);
    set(CSC, CSC_D_DATAIN_SIZE_EXT_0, pair(SIDE, SIDE));
    set(CSC, CSC_D_DATAIN_SIZE_EXT_1, CHANNELS - 1);
    set(CSC, CSC_D_ENTRY_PER_SLICE, ENTRIES - 1);
    set(CSC, CSC_D_WEIGHT_SIZE_EXT_0, pair(3, 3));
    set(CSC, CSC_D_WEIGHT_SIZE_EXT_1, pair(KERNELS, CHANNELS));
    set(CSC, CSC_D_WEIGHT_BYTES, WEIGHTS);
    set(CSC, CSC_D_DATAOUT_SIZE_0, pair(SIDE, SIDE));
    set(CSC, CSC_D_DATAOUT_SIZE_1, KERNELS - 1);
    set(CSC, CSC_D_ATOMICS, SIDE * SIDE - 1);
    set(CSC, CSC_D_RELEASE, SIDE - 1);
    set(CSC, CSC_D_ZERO_PADDING, 0x10001);
    set(CSC, CSC_D_BANK, pair(WEIGHT_BANKS, DATA_BANKS));

    while (!(tb->reg_read(CDMA + CDMA_S_CBUF_FLUSH_STATUS) & 1))
        ;
    set(CDMA, CDMA_D_MISC_CFG, 0);
    set(CDMA, CDMA_D_DATAIN_FORMAT, 0xc00);
    set(CDMA, CDMA_D_DATAIN_SIZE_0, pair(SIDE, SIDE));
    set(CDMA, CDMA_D_DATAIN_SIZE_1, CHANNELS - 1);
    set(CDMA, CDMA_D_DATAIN_SIZE_EXT_0, pair(SIDE, SIDE));
    set(CDMA, CDMA_D_DAIN_RAM_TYPE, 1);
    set(CDMA, CDMA_D_DAIN_ADDR_LOW_0, src);
    set(CDMA, CDMA_D_LINE_STRIDE, LINE);
    set(CDMA, CDMA_D_SURF_STRIDE, SURFACE);
    set(CDMA, CDMA_D_DAIN_MAP, 0x10001);
    set(CDMA, CDMA_D_CVT_CFG, 0);
    set(CDMA, CDMA_D_ENTRY_PER_SLICE, ENTRIES - 1);
    set(CDMA, CDMA_D_WEIGHT_RAM_TYPE, 1);
    set(CDMA, CDMA_D_WEIGHT_ADDR_LOW, weights);
    set(CDMA, CDMA_D_WEIGHT_SIZE_0, CHANNELS * 3 * 3 - 1);
    set(CDMA, CDMA_D_WEIGHT_SIZE_1, KERNELS - 1);
    set(CDMA, CDMA_D_WEIGHT_BYTES, WEIGHTS);
    set(CDMA, CDMA_D_ZERO_PADDING, 0x1010101);
    set(CDMA, CDMA_D_BANK, pair(WEIGHT_BANKS, DATA_BANKS));

    for (int n = 0; n < 7; n++)
        set(units[n], units[n] == CDMA ? CDMA_D_OP_ENABLE : units[n] == SDP ? SDP_D_OP_ENABLE : D_OP_ENABLE, 1);
}

static void pool(int group, uint32_t src, uint32_t dst)
{
    set(PDP_RDMA, S_POINTER, group);
    set(PDP, S_POINTER, group);

    set(PDP_RDMA, PDP_RDMA_D_FLYING_MODE, 1); /* from memory */
    set(PDP_RDMA, PDP_RDMA_D_DATA_CUBE_IN_WIDTH, SIDE - 1);
    set(PDP_RDMA, PDP_RDMA_D_DATA_CUBE_IN_HEIGHT, SIDE - 1);
    set(PDP_RDMA, PDP_RDMA_D_DATA_CUBE_IN_CHANNEL, CHANNELS - 1);
    set(PDP_RDMA, PDP_RDMA_D_DATA_FORMAT, 0);
    set(PDP_RDMA, PDP_RDMA_D_SRC_BASE_ADDR_LOW, src);
    set(PDP_RDMA, PDP_RDMA_D_SRC_LINE_STRIDE, LINE);
    set(PDP_RDMA, PDP_RDMA_D_SRC_SURFACE_STRIDE, SURFACE);
    set(PDP_RDMA, PDP_RDMA_D_SRC_RAM_CFG, 1);
    set(PDP_RDMA, PDP_RDMA_D_POOLING_KERNEL_CFG, 0x11);

    set(PDP, PDP_D_OPERATION_MODE_CFG, 0x11); /* largest, from memory */
    set(PDP, PDP_D_DATA_CUBE_IN_WIDTH, SIDE - 1);
    set(PDP, PDP_D_DATA_CUBE_IN_HEIGHT, SIDE - 1);
    set(PDP, PDP_D_DATA_CUBE_IN_CHANNEL, CHANNELS - 1);
    set(PDP, PDP_D_DATA_CUBE_OUT_WIDTH, POOLED_SIDE - 1);
    set(PDP, PDP_D_DATA_CUBE_OUT_HEIGHT, POOLED_SIDE - 1);
    set(PDP, PDP_D_DATA_CUBE_OUT_CHANNEL, CHANNELS - 1);
    set(PDP, PDP_D_DATA_FORMAT, 0);
    set(PDP, PDP_D_POOLING_KERNEL_CFG, 0x110101); /* 2 x 2, stride 2 */
    set(PDP, PDP_D_SRC_BASE_ADDR_LOW, src);
    set(PDP, PDP_D_SRC_LINE_STRIDE, LINE);
    set(PDP, PDP_D_SRC_SURFACE_STRIDE, SURFACE);
    set(PDP, PDP_D_DST_BASE_ADDR_LOW, dst);
    set(PDP, PDP_D_DST_LINE_STRIDE, POOLED_LINE);
    set(PDP, PDP_D_DST_SURFACE_STRIDE, POOLED_SURFACE);
    set(PDP, PDP_D_DST_RAM_CFG, 1);

    set(PDP_RDMA, D_OP_ENABLE, 1);
    set(PDP, D_OP_ENABLE, 1);
}

int nvdla_tb_main(const struct nvdla_tb *bench)
{
    uint32_t convolved[2], pooled[2];

    tb = bench;
    done = 0;
    set(GLB, S_INTR_MASK, 0);
    uint32_t src = filled(CUBE, 1);
    for (int group = 0; group < 2; group++) {
        convolved[group] = (uint32_t)tb->allocate(NVDLA_TB_MC, CUBE, 32);
        pooled[group] = (uint32_t)tb->allocate(NVDLA_TB_MC, POOLED, 32);
        convolve(group, src, filled(WEIGHTS, 10 + group), filled(BIAS, 20 + group), convolved[group]);
    }
    wait_for(SDP_DONE(0) | CDMA_DONE(0) | CACC_DONE(0));
    wait_for(SDP_DONE(1) | CDMA_DONE(1) | CACC_DONE(1));
    for (int group = 0; group < 2; group++)
        pool(group, convolved[group], pooled[group]);
    wait_for(PDP_DONE(0));
    wait_for(PDP_DONE(1));
    tb->log("all layers are done");
    return 0;
}

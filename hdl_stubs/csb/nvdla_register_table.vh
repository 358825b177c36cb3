// One row per register of the units with register groups: {writable bits, value
// after reset}. Read-only registers have no writable bits; what they read is
// either the reset value or supplied by the unit. Words that are not listed ignore
// writes and reset to 0: read-only registers, holes, S_STATUS, S_POINTER and
// D_OP_ENABLE, which the register file keeps itself, and S_LUT_ACCESS_DATA,
// which reaches into the tables.
//
// The rows follow the public register description; the nv_small hardware
// returns the same reset values for every one of them.
function automatic [31:0] register_table(input integer unit, input integer word, input reg want_reset);
  reg [63:0] row;
  begin
    case (unit)
      `UNIT_CDMA:
        case (word)
           2: row = {32'h000f_000f, 32'h0003_000f}; // S_ARBITER
           5: row = {32'h1111_3301, 32'h0000_1100}; // D_MISC_CFG
           6: row = {32'h0011_3f01, 32'h0000_0c00}; // D_DATAIN_FORMAT
           7: row = {32'h1fff_1fff, 32'h0000_0000}; // D_DATAIN_SIZE_0
           8: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATAIN_SIZE_1
           9: row = {32'h1fff_1fff, 32'h0000_0000}; // D_DATAIN_SIZE_EXT_0
          10: row = {32'h0007_001f, 32'h0000_0000}; // D_PIXEL_OFFSET
          11: row = {32'h0000_0001, 32'h0000_0000}; // D_DAIN_RAM_TYPE
          12: row = {32'hffff_ffff, 32'h0000_0000}; // D_DAIN_ADDR_HIGH_0
          13: row = {32'hffff_ffff, 32'h0000_0000}; // D_DAIN_ADDR_LOW_0
          14: row = {32'hffff_ffff, 32'h0000_0000}; // D_DAIN_ADDR_HIGH_1
          15: row = {32'hffff_ffff, 32'h0000_0000}; // D_DAIN_ADDR_LOW_1
          16: row = {32'hffff_ffff, 32'h0000_0000}; // D_LINE_STRIDE
          17: row = {32'hffff_ffff, 32'h0000_0000}; // D_LINE_UV_STRIDE
          18: row = {32'hffff_ffff, 32'h0000_0000}; // D_SURF_STRIDE
          19: row = {32'h0001_0001, 32'h0000_0000}; // D_DAIN_MAP
          20: row = {32'h03ff_03ff, 32'h0000_0000}; // D_RESERVED_X_CFG
          21: row = {32'h001f_0007, 32'h0000_0000}; // D_RESERVED_Y_CFG
          22: row = {32'h0000_001f, 32'h0000_0000}; // D_BATCH_NUMBER
          23: row = {32'hffff_ffff, 32'h0000_0000}; // D_BATCH_STRIDE
          24: row = {32'h0000_3fff, 32'h0000_0000}; // D_ENTRY_PER_SLICE
          25: row = {32'h0000_0fff, 32'h0000_0000}; // D_FETCH_GRAIN
          26: row = {32'h0000_0001, 32'h0000_0000}; // D_WEIGHT_FORMAT
          27: row = {32'h0003_ffff, 32'h0000_0000}; // D_WEIGHT_SIZE_0
          28: row = {32'h0000_1fff, 32'h0000_0000}; // D_WEIGHT_SIZE_1
          29: row = {32'h0000_0001, 32'h0000_0000}; // D_WEIGHT_RAM_TYPE
          30: row = {32'hffff_ffff, 32'h0000_0000}; // D_WEIGHT_ADDR_HIGH
          31: row = {32'hffff_ffff, 32'h0000_0000}; // D_WEIGHT_ADDR_LOW
          32: row = {32'hffff_ffff, 32'h0000_0000}; // D_WEIGHT_BYTES
          33: row = {32'hffff_ffff, 32'h0000_0000}; // D_WGS_ADDR_HIGH
          34: row = {32'hffff_ffff, 32'h0000_0000}; // D_WGS_ADDR_LOW
          35: row = {32'hffff_ffff, 32'h0000_0000}; // D_WMB_ADDR_HIGH
          36: row = {32'hffff_ffff, 32'h0000_0000}; // D_WMB_ADDR_LOW
          37: row = {32'h0fff_ffff, 32'h0000_0000}; // D_WMB_BYTES
          38: row = {32'h0000_0001, 32'h0000_0000}; // D_MEAN_FORMAT
          39: row = {32'hffff_ffff, 32'h0000_0000}; // D_MEAN_GLOBAL_0
          40: row = {32'hffff_ffff, 32'h0000_0000}; // D_MEAN_GLOBAL_1
          41: row = {32'h0000_03f1, 32'h0000_0000}; // D_CVT_CFG
          42: row = {32'h0000_ffff, 32'h0000_0000}; // D_CVT_OFFSET
          43: row = {32'h0000_ffff, 32'h0000_0000}; // D_CVT_SCALE
          44: row = {32'h0007_0007, 32'h0000_0000}; // D_CONV_STRIDE
          45: row = {32'h3f1f_3f1f, 32'h0000_0000}; // D_ZERO_PADDING
          46: row = {32'h0000_ffff, 32'h0000_0000}; // D_ZERO_PADDING_VALUE
          47: row = {32'h001f_001f, 32'h0000_0000}; // D_BANK
          48: row = {32'h0000_0001, 32'h0000_0000}; // D_NAN_FLUSH_TO_ZERO
          53: row = {32'h0000_0001, 32'h0000_0000}; // D_PERF_ENABLE
          58: row = {32'hffff_ffff, 32'h0000_0000}; // D_CYA
          default: row = 64'd0;
        endcase
      `UNIT_CSC:
        case (word)
           3: row = {32'h1111_3301, 32'h0000_1100}; // D_MISC_CFG
           4: row = {32'h0000_0001, 32'h0000_0000}; // D_DATAIN_FORMAT
           5: row = {32'h1fff_1fff, 32'h0000_0000}; // D_DATAIN_SIZE_EXT_0
           6: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATAIN_SIZE_EXT_1
           7: row = {32'h0000_001f, 32'h0000_0000}; // D_BATCH_NUMBER
           8: row = {32'h0000_0003, 32'h0000_0000}; // D_POST_Y_EXTENSION
           9: row = {32'h0000_3fff, 32'h0000_0000}; // D_ENTRY_PER_SLICE
          10: row = {32'h0000_0001, 32'h0000_0000}; // D_WEIGHT_FORMAT
          11: row = {32'h001f_001f, 32'h0000_0000}; // D_WEIGHT_SIZE_EXT_0
          12: row = {32'h1fff_1fff, 32'h0000_0000}; // D_WEIGHT_SIZE_EXT_1
          13: row = {32'hffff_ffff, 32'h0000_0000}; // D_WEIGHT_BYTES
          14: row = {32'h0fff_ffff, 32'h0000_0000}; // D_WMB_BYTES
          15: row = {32'h1fff_1fff, 32'h0000_0000}; // D_DATAOUT_SIZE_0
          16: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATAOUT_SIZE_1
          17: row = {32'h001f_ffff, 32'h0000_0001}; // D_ATOMICS
          18: row = {32'h0000_0fff, 32'h0000_0001}; // D_RELEASE
          19: row = {32'h0007_0007, 32'h0000_0000}; // D_CONV_STRIDE_EXT
          20: row = {32'h001f_001f, 32'h0000_0000}; // D_DILATION_EXT
          21: row = {32'h001f_001f, 32'h0000_0000}; // D_ZERO_PADDING
          22: row = {32'h0000_ffff, 32'h0000_0000}; // D_ZERO_PADDING_VALUE
          23: row = {32'h001f_001f, 32'h0000_0000}; // D_BANK
          24: row = {32'h0000_0003, 32'h0000_0000}; // D_PRA_CFG
          25: row = {32'hffff_ffff, 32'h0000_0000}; // D_CYA
          default: row = 64'd0;
        endcase
      `UNIT_CMAC_A:
        case (word)
           3: row = {32'h0000_3001, 32'h0000_1000}; // D_MISC_CFG
          default: row = 64'd0;
        endcase
      `UNIT_CMAC_B:
        case (word)
           3: row = {32'h0000_3001, 32'h0000_1000}; // D_MISC_CFG
          default: row = 64'd0;
        endcase
      `UNIT_CACC:
        case (word)
           3: row = {32'h0000_3001, 32'h0000_1000}; // D_MISC_CFG
           4: row = {32'h1fff_1fff, 32'h0000_0000}; // D_DATAOUT_SIZE_0
           5: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATAOUT_SIZE_1
           6: row = {32'hffff_ffff, 32'h0000_0000}; // D_DATAOUT_ADDR
           7: row = {32'h0000_001f, 32'h0000_0000}; // D_BATCH_NUMBER
           8: row = {32'h00ff_ffff, 32'h0000_0000}; // D_LINE_STRIDE
           9: row = {32'h00ff_ffff, 32'h0000_0000}; // D_SURF_STRIDE
          10: row = {32'h0001_0001, 32'h0000_0000}; // D_DATAOUT_MAP
          11: row = {32'h0000_001f, 32'h0000_0000}; // D_CLIP_CFG
          13: row = {32'hffff_ffff, 32'h0000_0000}; // D_CYA
          default: row = 64'd0;
        endcase
      `UNIT_SDP_RDMA:
        case (word)
           3: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_WIDTH
           4: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_HEIGHT
           5: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_CHANNEL
           6: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_LOW
           7: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_HIGH
           8: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_LINE_STRIDE
           9: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_SURFACE_STRIDE
          10: row = {32'h0000_003f, 32'h0000_0001}; // D_BRDMA_CFG
          11: row = {32'hffff_ffff, 32'h0000_0000}; // D_BS_BASE_ADDR_LOW
          12: row = {32'hffff_ffff, 32'h0000_0000}; // D_BS_BASE_ADDR_HIGH
          13: row = {32'hffff_ffff, 32'h0000_0000}; // D_BS_LINE_STRIDE
          14: row = {32'hffff_ffff, 32'h0000_0000}; // D_BS_SURFACE_STRIDE
          15: row = {32'hffff_ffff, 32'h0000_0000}; // D_BS_BATCH_STRIDE
          16: row = {32'h0000_003f, 32'h0000_0001}; // D_NRDMA_CFG
          17: row = {32'hffff_ffff, 32'h0000_0000}; // D_BN_BASE_ADDR_LOW
          18: row = {32'hffff_ffff, 32'h0000_0000}; // D_BN_BASE_ADDR_HIGH
          19: row = {32'hffff_ffff, 32'h0000_0000}; // D_BN_LINE_STRIDE
          20: row = {32'hffff_ffff, 32'h0000_0000}; // D_BN_SURFACE_STRIDE
          21: row = {32'hffff_ffff, 32'h0000_0000}; // D_BN_BATCH_STRIDE
          22: row = {32'h0000_003f, 32'h0000_0001}; // D_ERDMA_CFG
          23: row = {32'hffff_ffff, 32'h0000_0000}; // D_EW_BASE_ADDR_LOW
          24: row = {32'hffff_ffff, 32'h0000_0000}; // D_EW_BASE_ADDR_HIGH
          25: row = {32'hffff_ffff, 32'h0000_0000}; // D_EW_LINE_STRIDE
          26: row = {32'hffff_ffff, 32'h0000_0000}; // D_EW_SURFACE_STRIDE
          27: row = {32'hffff_ffff, 32'h0000_0000}; // D_EW_BATCH_STRIDE
          28: row = {32'h0000_1fff, 32'h0000_0014}; // D_FEATURE_MODE_CFG
          29: row = {32'h0000_0001, 32'h0000_0000}; // D_SRC_DMA_CFG
          32: row = {32'h0000_0003, 32'h0000_0000}; // D_PERF_ENABLE
          default: row = 64'd0;
        endcase
      `UNIT_SDP:
        case (word)
           2: row = {32'h0003_03ff, 32'h0000_0000}; // S_LUT_ACCESS_CFG
           4: row = {32'h0000_0071, 32'h0000_0000}; // S_LUT_CFG
           5: row = {32'h00ff_ffff, 32'h0000_0000}; // S_LUT_INFO
           6: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LE_START
           7: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LE_END
           8: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LO_START
           9: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LO_END
          10: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LE_SLOPE_SCALE
          11: row = {32'h0000_03ff, 32'h0000_0000}; // S_LUT_LE_SLOPE_SHIFT
          12: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LO_SLOPE_SCALE
          13: row = {32'h0000_03ff, 32'h0000_0000}; // S_LUT_LO_SLOPE_SHIFT
          15: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_WIDTH
          16: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_HEIGHT
          17: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_CHANNEL
          18: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_BASE_ADDR_LOW
          19: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_BASE_ADDR_HIGH
          20: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_LINE_STRIDE
          21: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_SURFACE_STRIDE
          22: row = {32'h0000_007f, 32'h0000_0073}; // D_DP_BS_CFG
          23: row = {32'h0000_3f01, 32'h0000_0000}; // D_DP_BS_ALU_CFG
          24: row = {32'h0000_ffff, 32'h0000_0000}; // D_DP_BS_ALU_SRC_VALUE
          25: row = {32'h0000_ff01, 32'h0000_0000}; // D_DP_BS_MUL_CFG
          26: row = {32'h0000_ffff, 32'h0000_0000}; // D_DP_BS_MUL_SRC_VALUE
          27: row = {32'h0000_007f, 32'h0000_0053}; // D_DP_BN_CFG
          28: row = {32'h0000_3f01, 32'h0000_0000}; // D_DP_BN_ALU_CFG
          29: row = {32'h0000_ffff, 32'h0000_0000}; // D_DP_BN_ALU_SRC_VALUE
          30: row = {32'h0000_ff01, 32'h0000_0000}; // D_DP_BN_MUL_CFG
          31: row = {32'h0000_ffff, 32'h0000_0000}; // D_DP_BN_MUL_SRC_VALUE
          32: row = {32'h0000_007f, 32'h0000_0053}; // D_DP_EW_CFG
          33: row = {32'h0000_0003, 32'h0000_0002}; // D_DP_EW_ALU_CFG
          34: row = {32'hffff_ffff, 32'h0000_0000}; // D_DP_EW_ALU_SRC_VALUE
          35: row = {32'hffff_ffff, 32'h0000_0000}; // D_DP_EW_ALU_CVT_OFFSET_VALUE
          36: row = {32'h0000_ffff, 32'h0000_0000}; // D_DP_EW_ALU_CVT_SCALE_VALUE
          37: row = {32'h0000_003f, 32'h0000_0000}; // D_DP_EW_ALU_CVT_TRUNCATE_VALUE
          38: row = {32'h0000_0003, 32'h0000_0002}; // D_DP_EW_MUL_CFG
          39: row = {32'hffff_ffff, 32'h0000_0000}; // D_DP_EW_MUL_SRC_VALUE
          40: row = {32'hffff_ffff, 32'h0000_0000}; // D_DP_EW_MUL_CVT_OFFSET_VALUE
          41: row = {32'h0000_ffff, 32'h0000_0000}; // D_DP_EW_MUL_CVT_SCALE_VALUE
          42: row = {32'h0000_003f, 32'h0000_0000}; // D_DP_EW_MUL_CVT_TRUNCATE_VALUE
          43: row = {32'h0000_03ff, 32'h0000_0000}; // D_DP_EW_TRUNCATE_VALUE
          44: row = {32'h0000_1f0f, 32'h0000_0000}; // D_FEATURE_MODE_CFG
          45: row = {32'h0000_0001, 32'h0000_0000}; // D_DST_DMA_CFG
          46: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_BATCH_STRIDE
          47: row = {32'h0000_000f, 32'h0000_0000}; // D_DATA_FORMAT
          48: row = {32'hffff_ffff, 32'h0000_0000}; // D_CVT_OFFSET
          49: row = {32'h0000_ffff, 32'h0000_0000}; // D_CVT_SCALE
          50: row = {32'h0000_003f, 32'h0000_0000}; // D_CVT_SHIFT
          55: row = {32'h0000_000f, 32'h0000_0000}; // D_PERF_ENABLE
          default: row = 64'd0;
        endcase
      `UNIT_PDP_RDMA:
        case (word)
           3: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_IN_WIDTH
           4: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_IN_HEIGHT
           5: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_IN_CHANNEL
           6: row = {32'h0000_0001, 32'h0000_0000}; // D_FLYING_MODE
           7: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_LOW
           8: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_HIGH
           9: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_LINE_STRIDE
          10: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_SURFACE_STRIDE
          11: row = {32'h0000_0001, 32'h0000_0000}; // D_SRC_RAM_CFG
          12: row = {32'h0000_0003, 32'h0000_0000}; // D_DATA_FORMAT
          13: row = {32'h0000_00ff, 32'h0000_0000}; // D_OPERATION_MODE_CFG
          14: row = {32'h0000_00ff, 32'h0000_0000}; // D_POOLING_KERNEL_CFG
          15: row = {32'h0000_000f, 32'h0000_0000}; // D_POOLING_PADDING_CFG
          16: row = {32'h3fff_ffff, 32'h0000_0000}; // D_PARTIAL_WIDTH_IN
          17: row = {32'h0000_0001, 32'h0000_0000}; // D_PERF_ENABLE
          19: row = {32'hffff_ffff, 32'h0000_0000}; // D_CYA
          default: row = 64'd0;
        endcase
      `UNIT_PDP:
        case (word)
           3: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_IN_WIDTH
           4: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_IN_HEIGHT
           5: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_IN_CHANNEL
           6: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_OUT_WIDTH
           7: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_OUT_HEIGHT
           8: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_OUT_CHANNEL
           9: row = {32'h0000_ff13, 32'h0000_0000}; // D_OPERATION_MODE_CFG
          10: row = {32'h0000_0001, 32'h0000_0000}; // D_NAN_FLUSH_TO_ZERO
          11: row = {32'h3fff_ffff, 32'h0000_0000}; // D_PARTIAL_WIDTH_IN
          12: row = {32'h3fff_ffff, 32'h0000_0000}; // D_PARTIAL_WIDTH_OUT
          13: row = {32'h00ff_0f0f, 32'h0000_0000}; // D_POOLING_KERNEL_CFG
          14: row = {32'h0001_ffff, 32'h0000_0000}; // D_RECIP_KERNEL_WIDTH
          15: row = {32'h0001_ffff, 32'h0000_0000}; // D_RECIP_KERNEL_HEIGHT
          16: row = {32'h0000_7777, 32'h0000_0000}; // D_POOLING_PADDING_CFG
          17: row = {32'h0007_ffff, 32'h0000_0000}; // D_POOLING_PADDING_VALUE_1_CFG
          18: row = {32'h0007_ffff, 32'h0000_0000}; // D_POOLING_PADDING_VALUE_2_CFG
          19: row = {32'h0007_ffff, 32'h0000_0000}; // D_POOLING_PADDING_VALUE_3_CFG
          20: row = {32'h0007_ffff, 32'h0000_0000}; // D_POOLING_PADDING_VALUE_4_CFG
          21: row = {32'h0007_ffff, 32'h0000_0000}; // D_POOLING_PADDING_VALUE_5_CFG
          22: row = {32'h0007_ffff, 32'h0000_0000}; // D_POOLING_PADDING_VALUE_6_CFG
          23: row = {32'h0007_ffff, 32'h0000_0000}; // D_POOLING_PADDING_VALUE_7_CFG
          24: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_LOW
          25: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_HIGH
          26: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_LINE_STRIDE
          27: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_SURFACE_STRIDE
          28: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_BASE_ADDR_LOW
          29: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_BASE_ADDR_HIGH
          30: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_LINE_STRIDE
          31: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_SURFACE_STRIDE
          32: row = {32'h0000_0001, 32'h0000_0000}; // D_DST_RAM_CFG
          33: row = {32'h0000_0003, 32'h0000_0000}; // D_DATA_FORMAT
          37: row = {32'h0000_0001, 32'h0000_0000}; // D_PERF_ENABLE
          39: row = {32'hffff_ffff, 32'h0000_0000}; // D_CYA
          default: row = 64'd0;
        endcase
      `UNIT_CDP_RDMA:
        case (word)
           3: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_WIDTH
           4: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_HEIGHT
           5: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATA_CUBE_CHANNEL
           6: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_LOW
           7: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_BASE_ADDR_HIGH
           8: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_LINE_STRIDE
           9: row = {32'hffff_ffff, 32'h0000_0000}; // D_SRC_SURFACE_STRIDE
          10: row = {32'h0000_0001, 32'h0000_0000}; // D_SRC_DMA_CFG
          13: row = {32'h0000_0003, 32'h0000_0000}; // D_DATA_FORMAT
          14: row = {32'h0000_0001, 32'h0000_0000}; // D_PERF_ENABLE
          16: row = {32'hffff_ffff, 32'h0000_0000}; // D_CYA
          default: row = 64'd0;
        endcase
      `UNIT_CDP:
        case (word)
           2: row = {32'h0003_03ff, 32'h0000_0000}; // S_LUT_ACCESS_CFG
           4: row = {32'h0000_0071, 32'h0000_0000}; // S_LUT_CFG
           5: row = {32'h00ff_ffff, 32'h0000_0000}; // S_LUT_INFO
           6: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LE_START_LOW
           7: row = {32'h0000_003f, 32'h0000_0000}; // S_LUT_LE_START_HIGH
           8: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LE_END_LOW
           9: row = {32'h0000_003f, 32'h0000_0000}; // S_LUT_LE_END_HIGH
          10: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LO_START_LOW
          11: row = {32'h0000_003f, 32'h0000_0000}; // S_LUT_LO_START_HIGH
          12: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LO_END_LOW
          13: row = {32'h0000_003f, 32'h0000_0000}; // S_LUT_LO_END_HIGH
          14: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LE_SLOPE_SCALE
          15: row = {32'h0000_03ff, 32'h0000_0000}; // S_LUT_LE_SLOPE_SHIFT
          16: row = {32'hffff_ffff, 32'h0000_0000}; // S_LUT_LO_SLOPE_SCALE
          17: row = {32'h0000_03ff, 32'h0000_0000}; // S_LUT_LO_SLOPE_SHIFT
          19: row = {32'h0000_0003, 32'h0000_0000}; // D_FUNC_BYPASS
          20: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_BASE_ADDR_LOW
          21: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_BASE_ADDR_HIGH
          22: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_LINE_STRIDE
          23: row = {32'hffff_ffff, 32'h0000_0000}; // D_DST_SURFACE_STRIDE
          24: row = {32'h0000_0001, 32'h0000_0000}; // D_DST_DMA_CFG
          26: row = {32'h0000_0003, 32'h0000_0001}; // D_DATA_FORMAT
          27: row = {32'h0000_0001, 32'h0000_0000}; // D_NAN_FLUSH_TO_ZERO
          28: row = {32'h0000_0003, 32'h0000_0000}; // D_LRN_CFG
          29: row = {32'h0000_ffff, 32'h0000_0000}; // D_DATIN_OFFSET
          30: row = {32'h0000_ffff, 32'h0000_0001}; // D_DATIN_SCALE
          31: row = {32'h0000_001f, 32'h0000_0000}; // D_DATIN_SHIFTER
          32: row = {32'hffff_ffff, 32'h0000_0000}; // D_DATOUT_OFFSET
          33: row = {32'h0000_ffff, 32'h0000_0001}; // D_DATOUT_SCALE
          34: row = {32'h0000_003f, 32'h0000_0000}; // D_DATOUT_SHIFTER
          39: row = {32'h0000_0003, 32'h0000_0000}; // D_PERF_ENABLE
          46: row = {32'hffff_ffff, 32'h0000_0000}; // D_CYA
          default: row = 64'd0;
        endcase
      `UNIT_RBK:
        case (word)
           3: row = {32'h0000_0303, 32'h0000_0100}; // D_MISC_CFG
           4: row = {32'h0000_0001, 32'h0000_0000}; // D_DAIN_RAM_TYPE
           5: row = {32'h1fff_1fff, 32'h0000_0000}; // D_DATAIN_SIZE_0
           6: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATAIN_SIZE_1
           7: row = {32'hffff_ffff, 32'h0000_0000}; // D_DAIN_ADDR_HIGH
           8: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAIN_ADDR_LOW
           9: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAIN_LINE_STRIDE
          10: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAIN_SURF_STRIDE
          11: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAIN_PLANAR_STRIDE
          12: row = {32'h0000_0001, 32'h0000_0000}; // D_DAOUT_RAM_TYPE
          13: row = {32'h0000_1fff, 32'h0000_0000}; // D_DATAOUT_SIZE_1
          14: row = {32'hffff_ffff, 32'h0000_0000}; // D_DAOUT_ADDR_HIGH
          15: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAOUT_ADDR_LOW
          16: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAOUT_LINE_STRIDE
          17: row = {32'hffff_ffe0, 32'h0000_0000}; // D_CONTRACT_STRIDE_0
          18: row = {32'hffff_ffe0, 32'h0000_0000}; // D_CONTRACT_STRIDE_1
          19: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAOUT_SURF_STRIDE
          20: row = {32'hffff_ffe0, 32'h0000_0000}; // D_DAOUT_PLANAR_STRIDE
          21: row = {32'h001f_001f, 32'h0000_0000}; // D_DECONV_STRIDE
          22: row = {32'h0000_0001, 32'h0000_0000}; // D_PERF_ENABLE
          default: row = 64'd0;
        endcase
      default: row = 64'd0;
    endcase
    register_table = want_reset ? row[31:0] : row[63:32];
  end
endfunction

// The bits of those registers of nv_full that have fewer, and which of its registers reset to 0 all the same: read
// off the register files of the public nv_full RTL.
function automatic [31:0] full_register_bits(input integer unit, input integer word);
  case (unit)
    `UNIT_CACC:
      case (word)
        6: full_register_bits = 32'hffff_ffe0;  // D_DATAOUT_ADDR
        8, 9: full_register_bits = 32'h00ff_ffe0;  // D_LINE_STRIDE, D_SURF_STRIDE
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_CDMA:
      case (word)
        13, 15, 16, 17, 18, 23, 31, 34, 36: full_register_bits = 32'hffff_ffe0;  // addresses and strides
        24: full_register_bits = 32'h0000_0fff;  // D_ENTRY_PER_SLICE
        32: full_register_bits = 32'hffff_ff80;  // D_WEIGHT_BYTES
        37: full_register_bits = 32'h0fff_ff80;  // D_WMB_BYTES
        47: full_register_bits = 32'h000f_000f;  // D_BANK
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_CDP:
      case (word)
        20, 22, 23: full_register_bits = 32'hffff_ffe0;  // D_DST_BASE_ADDR_LOW, D_DST_LINE_STRIDE, D_DST_SURFACE_STRIDE
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_CDP_RDMA:
      case (word)
        6, 8, 9: full_register_bits = 32'hffff_ffe0;  // D_SRC_BASE_ADDR_LOW, D_SRC_LINE_STRIDE, D_SRC_SURFACE_STRIDE
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_CSC:
      case (word)
        9: full_register_bits = 32'h0000_0fff;  // D_ENTRY_PER_SLICE
        13: full_register_bits = 32'hffff_ff80;  // D_WEIGHT_BYTES
        14: full_register_bits = 32'h0fff_ff80;  // D_WMB_BYTES
        23: full_register_bits = 32'h000f_000f;  // D_BANK
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_PDP:
      case (word)
        24, 26, 27, 28, 30, 31: full_register_bits = 32'hffff_ffe0;  // addresses and strides
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_PDP_RDMA:
      case (word)
        7, 9, 10: full_register_bits = 32'hffff_ffe0;  // D_SRC_BASE_ADDR_LOW, D_SRC_LINE_STRIDE, D_SRC_SURFACE_STRIDE
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_SDP:
      case (word)
        18, 20, 21, 46: full_register_bits = 32'hffff_ffe0;  // addresses and strides
        default: full_register_bits = 32'hffff_ffff;
      endcase
    `UNIT_SDP_RDMA:
      case (word)
        6, 8, 9, 11, 13, 14, 15, 17, 19, 20, 21, 23, 25, 26, 27: full_register_bits = 32'hffff_ffe0;  // addresses and strides
        default: full_register_bits = 32'hffff_ffff;
      endcase
    default: full_register_bits = 32'hffff_ffff;
  endcase
endfunction

function automatic full_register_clears(input integer unit, input integer word);
  case (unit)
    `UNIT_SDP: full_register_clears = word == 22 || word == 27 || word == 32 || word == 33 || word == 38;
    `UNIT_SDP_RDMA: full_register_clears = word == 10 || word == 16 || word == 22;
    default: full_register_clears = 1'b0;
  endcase
endfunction

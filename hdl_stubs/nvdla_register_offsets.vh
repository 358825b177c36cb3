// Word offsets inside each unit's 4 KiB slot, for the registers whose values
// the engines use, and the size of every register file.
//   `<UNIT>_WORDS        number of 32-bit words the unit decodes
//   `<UNIT>_OP_ENABLE    word of D_OP_ENABLE: below it one copy, from it on two groups
//   `<UNIT>_<REGISTER>   word of one register
`ifndef NVDLA_REGISTER_OFFSETS_VH
`define NVDLA_REGISTER_OFFSETS_VH

`define UNIT_CDMA       0
`define CDMA_WORDS                               59
`define CDMA_OP_ENABLE                           4
`define CDMA_S_CBUF_FLUSH_STATUS                 3
`define CDMA_D_MISC_CFG                          5
`define CDMA_D_DATAIN_FORMAT                     6
`define CDMA_D_DATAIN_SIZE_0                     7
`define CDMA_D_DATAIN_SIZE_1                     8
`define CDMA_D_PIXEL_OFFSET                      10
`define CDMA_D_DAIN_ADDR_LOW_0                   13
`define CDMA_D_DAIN_ADDR_LOW_1                   15
`define CDMA_D_LINE_STRIDE                       16
`define CDMA_D_LINE_UV_STRIDE                    17
`define CDMA_D_SURF_STRIDE                       18
`define CDMA_D_ENTRY_PER_SLICE                   24
`define CDMA_D_WEIGHT_ADDR_LOW                   31
`define CDMA_D_WEIGHT_BYTES                      32
`define CDMA_D_MEAN_FORMAT                       38
`define CDMA_D_MEAN_GLOBAL_0                     39
`define CDMA_D_CVT_CFG                           41
`define CDMA_D_CVT_OFFSET                        42
`define CDMA_D_CVT_SCALE                         43
`define CDMA_D_ZERO_PADDING                      45
`define CDMA_D_ZERO_PADDING_VALUE                46
`define CDMA_D_BANK                              47

`define UNIT_CSC        1
`define CSC_WORDS                                26
`define CSC_OP_ENABLE                            2
`define CSC_D_MISC_CFG                           3
`define CSC_D_DATAIN_FORMAT                      4
`define CSC_D_DATAIN_SIZE_EXT_0                  5
`define CSC_D_DATAIN_SIZE_EXT_1                  6
`define CSC_D_POST_Y_EXTENSION                   8
`define CSC_D_ENTRY_PER_SLICE                    9
`define CSC_D_WEIGHT_SIZE_EXT_0                  11
`define CSC_D_WEIGHT_SIZE_EXT_1                  12
`define CSC_D_DATAOUT_SIZE_0                     15
`define CSC_D_RELEASE                            18
`define CSC_D_CONV_STRIDE_EXT                    19
`define CSC_D_DILATION_EXT                       20
`define CSC_D_ZERO_PADDING                       21
`define CSC_D_ZERO_PADDING_VALUE                 22
`define CSC_D_BANK                               23

`define UNIT_CMAC_A     2
`define CMAC_A_WORDS                             4
`define CMAC_A_OP_ENABLE                         2

`define UNIT_CMAC_B     3
`define CMAC_B_WORDS                             4
`define CMAC_B_OP_ENABLE                         2

`define UNIT_CACC       4
`define CACC_WORDS                               14
`define CACC_OP_ENABLE                           2
`define CACC_D_CLIP_CFG                          11
`define CACC_D_OUT_SATURATION                    12

`define UNIT_SDP_RDMA   5
`define SDP_RDMA_WORDS                           37
`define SDP_RDMA_OP_ENABLE                       2
`define SDP_RDMA_D_DATA_CUBE_WIDTH               3
`define SDP_RDMA_D_DATA_CUBE_HEIGHT              4
`define SDP_RDMA_D_DATA_CUBE_CHANNEL             5
`define SDP_RDMA_D_SRC_BASE_ADDR_LOW             6
`define SDP_RDMA_D_SRC_LINE_STRIDE               8
`define SDP_RDMA_D_SRC_SURFACE_STRIDE            9
`define SDP_RDMA_D_BRDMA_CFG                     10
`define SDP_RDMA_D_NRDMA_CFG                     16
`define SDP_RDMA_D_FEATURE_MODE_CFG              28
`define SDP_RDMA_D_SRC_DMA_CFG                   29
`define SDP_RDMA_D_STATUS_NAN_INPUT_NUM          30

`define UNIT_SDP        6
`define SDP_WORDS                                63
`define SDP_OP_ENABLE                            14
`define SDP_D_DATA_CUBE_WIDTH                    15
`define SDP_D_DATA_CUBE_HEIGHT                   16
`define SDP_D_DATA_CUBE_CHANNEL                  17
`define SDP_D_DST_BASE_ADDR_LOW                  18
`define SDP_D_DST_LINE_STRIDE                    20
`define SDP_D_DST_SURFACE_STRIDE                 21
`define SDP_D_DP_BS_CFG                          22
`define SDP_D_DP_BN_CFG                          27
`define SDP_D_DP_EW_CFG                          32
`define SDP_D_FEATURE_MODE_CFG                   44
`define SDP_D_DST_DMA_CFG                        45
`define SDP_D_DATA_FORMAT                        47
`define SDP_D_CVT_OFFSET                         48
`define SDP_D_CVT_SCALE                          49
`define SDP_D_CVT_SHIFT                          50
`define SDP_D_STATUS                             51
`define SDP_D_STATUS_NAN_OUTPUT_NUM              54
`define SDP_D_PERF_ENABLE                        55
`define SDP_D_PERF_LUT_UFLOW                     57
`define SDP_D_PERF_LUT_OFLOW                     58
`define SDP_D_PERF_OUT_SATURATION                59
`define SDP_D_PERF_LUT_HYBRID                    60
`define SDP_D_PERF_LUT_LE_HIT                    61
`define SDP_D_PERF_LUT_LO_HIT                    62

`define UNIT_PDP_RDMA   7
`define PDP_RDMA_WORDS                           20
`define PDP_RDMA_OP_ENABLE                       2
`define PDP_RDMA_D_DATA_CUBE_IN_WIDTH            3
`define PDP_RDMA_D_DATA_CUBE_IN_HEIGHT           4
`define PDP_RDMA_D_DATA_CUBE_IN_CHANNEL          5
`define PDP_RDMA_D_FLYING_MODE                   6
`define PDP_RDMA_D_SRC_BASE_ADDR_LOW             7
`define PDP_RDMA_D_SRC_LINE_STRIDE               9
`define PDP_RDMA_D_SRC_SURFACE_STRIDE            10
`define PDP_RDMA_D_SRC_RAM_CFG                   11
`define PDP_RDMA_D_OPERATION_MODE_CFG            13
`define PDP_RDMA_D_POOLING_KERNEL_CFG            14
`define PDP_RDMA_D_PARTIAL_WIDTH_IN              16

`define UNIT_PDP        8
`define PDP_WORDS                                40
`define PDP_OP_ENABLE                            2
`define PDP_D_DATA_CUBE_IN_WIDTH                 3
`define PDP_D_DATA_CUBE_IN_HEIGHT                4
`define PDP_D_DATA_CUBE_IN_CHANNEL               5
`define PDP_D_DATA_CUBE_OUT_WIDTH                6
`define PDP_D_DATA_CUBE_OUT_HEIGHT               7
`define PDP_D_OPERATION_MODE_CFG                 9
`define PDP_D_NAN_FLUSH_TO_ZERO                  10
`define PDP_D_PARTIAL_WIDTH_IN                   11
`define PDP_D_PARTIAL_WIDTH_OUT                  12
`define PDP_D_POOLING_KERNEL_CFG                 13
`define PDP_D_RECIP_KERNEL_WIDTH                 14
`define PDP_D_RECIP_KERNEL_HEIGHT                15
`define PDP_D_POOLING_PADDING_CFG                16
`define PDP_D_POOLING_PADDING_VALUE_1_CFG        17
`define PDP_D_DST_BASE_ADDR_LOW                  28
`define PDP_D_DST_LINE_STRIDE                    30
`define PDP_D_DST_SURFACE_STRIDE                 31
`define PDP_D_DST_RAM_CFG                        32
`define PDP_D_DATA_FORMAT                        33

`define UNIT_CDP_RDMA   9
`define CDP_RDMA_WORDS                           17
`define CDP_RDMA_OP_ENABLE                       2
`define CDP_RDMA_D_DATA_CUBE_WIDTH               3
`define CDP_RDMA_D_DATA_CUBE_HEIGHT              4
`define CDP_RDMA_D_DATA_CUBE_CHANNEL             5
`define CDP_RDMA_D_SRC_BASE_ADDR_LOW             6
`define CDP_RDMA_D_SRC_LINE_STRIDE               8
`define CDP_RDMA_D_SRC_SURFACE_STRIDE            9
`define CDP_RDMA_D_SRC_DMA_CFG                   10
`define CDP_RDMA_D_DATA_FORMAT                   13

`define UNIT_CDP        10
`define CDP_WORDS                                47
`define CDP_OP_ENABLE                            18
`define CDP_D_FUNC_BYPASS                        19
`define CDP_D_DST_BASE_ADDR_LOW                  20
`define CDP_D_DST_LINE_STRIDE                    22
`define CDP_D_DST_SURFACE_STRIDE                 23
`define CDP_D_DST_DMA_CFG                        24
`define CDP_D_DATA_FORMAT                        26
`define CDP_D_NAN_FLUSH_TO_ZERO                  27
`define CDP_D_LRN_CFG                            28
`define CDP_D_DATIN_OFFSET                       29
`define CDP_D_DATOUT_OFFSET                      32
`define CDP_D_OUT_SATURATION                     38
`define CDP_D_PERF_ENABLE                        39
`define CDP_D_PERF_LUT_UFLOW                     41

`define UNIT_RBK        11
`define RBK_WORDS                                25
`define RBK_OP_ENABLE                            2
`define RBK_D_MISC_CFG                           3
`define RBK_D_DAIN_RAM_TYPE                      4
`define RBK_D_DATAIN_SIZE_0                      5
`define RBK_D_DATAIN_SIZE_1                      6
`define RBK_D_DAIN_ADDR_HIGH                     7
`define RBK_D_DAIN_ADDR_LOW                      8
`define RBK_D_DAIN_LINE_STRIDE                   9
`define RBK_D_DAIN_SURF_STRIDE                   10
`define RBK_D_DAIN_PLANAR_STRIDE                 11
`define RBK_D_DAOUT_RAM_TYPE                     12
`define RBK_D_DATAOUT_SIZE_1                     13
`define RBK_D_DAOUT_ADDR_HIGH                    14
`define RBK_D_DAOUT_ADDR_LOW                     15
`define RBK_D_DAOUT_LINE_STRIDE                  16
`define RBK_D_CONTRACT_STRIDE_0                  17
`define RBK_D_CONTRACT_STRIDE_1                  18
`define RBK_D_DAOUT_SURF_STRIDE                  19
`define RBK_D_DAOUT_PLANAR_STRIDE                20
`define RBK_D_DECONV_STRIDE                      21

`endif

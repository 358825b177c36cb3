// ConfigROM of nv_small: the descriptors through which software learns what is
// in the chip, exactly as the hardware returns them. They differ from the
// published table: burst length and memory interface width are read shifted left
// by 5, CMAC reports 0x10 as compatible capabilities and has a word of weight
// types, and so has SDP, whose later words move by 4 bytes.
module nvdla_cfgrom #(
    parameter [5:0] SLOT = 6'd0
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        req_valid,
    input  wire        req_write,
    input  wire [15:0] req_addr,
    output reg  [31:0] rdata
);
  function automatic [31:0] word_value(input [9:0] word);
    case (word)
      10'd0: word_value = 32'h0001_0001; // HW_VERSION
      10'd1: word_value = 32'h0000_0001; // GLB_DESC
      10'd2: word_value = 32'h0018_0002; // CIF_DESC
      10'd3: word_value = 32'h0000_0000; // CIF_CAP_INCOMPAT
      10'd4: word_value = 32'h0000_0000; // CIF_CAP_COMPAT
      10'd5: word_value = 32'h0000_0008; // CIF_BASE_WIDTH
      10'd6: word_value = 32'h0000_0032; // CIF_BASE_LATENCY
      10'd7: word_value = 32'h0000_0080; // CIF_BASE_BURST_LENGTH_MAX
      10'd8: word_value = 32'h0000_0400; // CIF_BASE_MEM_ADDR_WIDTH
      10'd9: word_value = 32'h0034_0003; // CDMA_DESC
      10'd10: word_value = 32'h0000_0000; // CDMA_CAP_INCOMPAT
      10'd11: word_value = 32'h0000_0010; // CDMA_CAP_COMPAT
      10'd12: word_value = 32'h0000_0010; // CDMA_BASE_FEATURE_TYPES
      10'd13: word_value = 32'h0000_0010; // CDMA_BASE_WEIGHT_TYPES
      10'd14: word_value = 32'h0000_0008; // CDMA_BASE_ATOMIC_C
      10'd15: word_value = 32'h0000_0008; // CDMA_BASE_ATOMIC_K
      10'd16: word_value = 32'h0000_0008; // CDMA_BASE_ATOMIC_M
      10'd17: word_value = 32'h0000_0020; // CDMA_BASE_CBUF_BANK_NUM
      10'd18: word_value = 32'h0000_0008; // CDMA_BASE_CBUF_BANK_WIDTH
      10'd19: word_value = 32'h0000_0200; // CDMA_BASE_CBUF_BANK_DEPTH
      10'd20: word_value = 32'h0000_0000; // CDMA_MULTI_BATCH_MAX
      10'd21: word_value = 32'h0cff_f001; // CDMA_IMAGE_IN_FORMATS_PACKED
      10'd22: word_value = 32'h0000_0003; // CDMA_IMAGE_IN_FORMATS_SEMI
      10'd23: word_value = 32'h0018_0004; // CBUF_DESC
      10'd24: word_value = 32'h0000_0000; // CBUF_CAP_INCOMPAT
      10'd25: word_value = 32'h0000_0000; // CBUF_CAP_COMPAT
      10'd26: word_value = 32'h0000_0020; // CBUF_BASE_CBUF_BANK_NUM
      10'd27: word_value = 32'h0000_0008; // CBUF_BASE_CBUF_BANK_WIDTH
      10'd28: word_value = 32'h0000_0200; // CBUF_BASE_CBUF_BANK_DEPTH
      10'd29: word_value = 32'h0000_0003; // CBUF_BASE_CDMA_ID
      10'd30: word_value = 32'h0030_0005; // CSC_DESC
      10'd31: word_value = 32'h0000_0000; // CSC_CAP_INCOMPAT
      10'd32: word_value = 32'h0000_0010; // CSC_CAP_COMPAT
      10'd33: word_value = 32'h0000_0010; // CSC_BASE_FEATURE_TYPES
      10'd34: word_value = 32'h0000_0010; // CSC_BASE_WEIGHT_TYPES
      10'd35: word_value = 32'h0000_0008; // CSC_BASE_ATOMIC_C
      10'd36: word_value = 32'h0000_0008; // CSC_BASE_ATOMIC_K
      10'd37: word_value = 32'h0000_0008; // CSC_BASE_ATOMIC_M
      10'd38: word_value = 32'h0000_0020; // CSC_BASE_CBUF_BANK_NUM
      10'd39: word_value = 32'h0000_0008; // CSC_BASE_CBUF_BANK_WIDTH
      10'd40: word_value = 32'h0000_0200; // CSC_BASE_CBUF_BANK_DEPTH
      10'd41: word_value = 32'h0000_0003; // CSC_BASE_CDMA_ID
      10'd42: word_value = 32'h0000_0000; // CSC_MULTI_BATCH_MAX
      10'd43: word_value = 32'h001c_0006; // CMAC_A_DESC
      10'd44: word_value = 32'h0000_0000; // CMAC_A_CAP_INCOMPAT
      10'd45: word_value = 32'h0000_0010; // CMAC_A_CAP_COMPAT
      10'd46: word_value = 32'h0000_0010; // CMAC_A_BASE_FEATURE_TYPES
      10'd47: word_value = 32'h0000_0010; // CMAC_A_BASE_WEIGHT_TYPES
      10'd48: word_value = 32'h0000_0008; // CMAC_A_BASE_ATOMIC_C
      10'd49: word_value = 32'h0000_0008; // CMAC_A_BASE_ATOMIC_K
      10'd50: word_value = 32'h0000_0003; // CMAC_A_BASE_CDMA_ID
      10'd51: word_value = 32'h001c_0006; // CMAC_B_DESC
      10'd52: word_value = 32'h0000_0000; // CMAC_B_CAP_INCOMPAT
      10'd53: word_value = 32'h0000_0010; // CMAC_B_CAP_COMPAT
      10'd54: word_value = 32'h0000_0010; // CMAC_B_BASE_FEATURE_TYPES
      10'd55: word_value = 32'h0000_0010; // CMAC_B_BASE_WEIGHT_TYPES
      10'd56: word_value = 32'h0000_0008; // CMAC_B_BASE_ATOMIC_C
      10'd57: word_value = 32'h0000_0008; // CMAC_B_BASE_ATOMIC_K
      10'd58: word_value = 32'h0000_0003; // CMAC_B_BASE_CDMA_ID
      10'd59: word_value = 32'h0020_0007; // CACC_DESC
      10'd60: word_value = 32'h0000_0000; // CACC_CAP_INCOMPAT
      10'd61: word_value = 32'h0000_0000; // CACC_CAP_COMPAT
      10'd62: word_value = 32'h0000_0010; // CACC_BASE_FEATURE_TYPES
      10'd63: word_value = 32'h0000_0010; // CACC_BASE_WEIGHT_TYPES
      10'd64: word_value = 32'h0000_0008; // CACC_BASE_ATOMIC_C
      10'd65: word_value = 32'h0000_0008; // CACC_BASE_ATOMIC_K
      10'd66: word_value = 32'h0000_0003; // CACC_BASE_CDMA_ID
      10'd67: word_value = 32'h0000_0000; // CACC_MULTI_BATCH_MAX
      10'd68: word_value = 32'h000e_0008; // SDP_RDMA_DESC
      10'd69: word_value = 32'h0000_0000; // SDP_RDMA_CAP_INCOMPAT
      10'd70: word_value = 32'h0000_0000; // SDP_RDMA_CAP_COMPAT
      10'd71: word_value = 32'h0000_0008; // SDP_RDMA_BASE_ATOMIC_M
      10'd72: word_value = 32'h0000_0009; // SDP_RDMA_BASE_SDP_ID
      10'd73: word_value = 32'h0020_0009; // SDP_DESC
      10'd74: word_value = 32'h0000_0000; // SDP_CAP_INCOMPAT
      10'd75: word_value = 32'h0000_0018; // SDP_CAP_COMPAT
      10'd76: word_value = 32'h0000_0010; // SDP_BASE_FEATURE_TYPES
      10'd77: word_value = 32'h0000_0010; // SDP_BASE_WEIGHT_TYPES
      10'd78: word_value = 32'h0000_0003; // SDP_BASE_CDMA_ID
      10'd79: word_value = 32'h0000_0000; // SDP_MULTI_BATCH_MAX
      10'd80: word_value = 32'h0000_0001; // SDP_BS_THROUGHPUT
      10'd81: word_value = 32'h0000_0001; // SDP_BN_THROUGHPUT
      10'd82: word_value = 32'h0000_0000; // SDP_EW_THROUGHPUT
      10'd83: word_value = 32'h000e_000a; // PDP_RDMA_DESC
      10'd84: word_value = 32'h0000_0000; // PDP_RDMA_CAP_INCOMPAT
      10'd85: word_value = 32'h0000_0000; // PDP_RDMA_CAP_COMPAT
      10'd86: word_value = 32'h0000_0008; // PDP_RDMA_BASE_ATOMIC_M
      10'd87: word_value = 32'h0000_000b; // PDP_RDMA_BASE_PDP_ID
      10'd88: word_value = 32'h0010_000b; // PDP_DESC
      10'd89: word_value = 32'h0000_0000; // PDP_CAP_INCOMPAT
      10'd90: word_value = 32'h0000_0000; // PDP_CAP_COMPAT
      10'd91: word_value = 32'h0000_0010; // PDP_BASE_FEATURE_TYPES
      10'd92: word_value = 32'h0000_0001; // PDP_BASE_THROUGHPUT
      10'd93: word_value = 32'h000e_000c; // CDP_RDMA_DESC
      10'd94: word_value = 32'h0000_0000; // CDP_RDMA_CAP_INCOMPAT
      10'd95: word_value = 32'h0000_0000; // CDP_RDMA_CAP_COMPAT
      10'd96: word_value = 32'h0000_0008; // CDP_RDMA_BASE_ATOMIC_M
      10'd97: word_value = 32'h0000_000d; // CDP_RDMA_BASE_CDP_ID
      10'd98: word_value = 32'h0010_000d; // CDP_DESC
      10'd99: word_value = 32'h0000_0000; // CDP_CAP_INCOMPAT
      10'd100: word_value = 32'h0000_0000; // CDP_CAP_COMPAT
      10'd101: word_value = 32'h0000_0010; // CDP_BASE_FEATURE_TYPES
      10'd102: word_value = 32'h0000_0001; // CDP_BASE_THROUGHPUT
      10'd103: word_value = 32'h0000_0000; // END_OF_LIST
      default: word_value = 32'd0;
    endcase
  endfunction

  always @(posedge clk or negedge rst_n)
    if (!rst_n) rdata <= 32'd0;
    else if (req_valid && !req_write && (req_addr[15:10] == SLOT)) rdata <= word_value(req_addr[9:0]);
    else rdata <= 32'd0;
endmodule

// What compressed weights have beside themselves: the sizes of their kernel groups
// (WGS), which tell how many bytes there are whatever D_WEIGHT_BYTES says (measured on
// the public nv_full RTL), and the masks (WMB), which go into a bank of their own.
`include "nvdla_register_offsets.vh"

module nvdla_cdma_compression #(
    parameter ADDR_WIDTH = 64,
    parameter ATOM_BYTES = 32,
    parameter ADDR_BITS = 14,
    parameter BANK_WORDS = 1024,
    parameter WMB_BANK = 15
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [32*(`CDMA_WORDS-`CDMA_OP_ENABLE)-1:0] cfg,  // a layer needs a part of it
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                    is_byte,
    // Read clients: WMB, WGS from bit 0 up
    output wire [             1:0] rd_req_valid,
    input  wire [             1:0] rd_req_ready,
    output wire [2*ADDR_WIDTH-1:0] rd_req_addr,
    input  wire [             1:0] rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    write,
    output wire [   ADDR_BITS-1:0] write_addr,
    output wire [8*ATOM_BYTES-1:0] write_data,
    output wire [            31:0] loaded,        // words
    input  wire [            31:0] released,
    output wire                    sizes_known,
    output reg  [            31:0] total,         // bytes of weights
    output wire                    idle
);
  localparam [ADDR_BITS:0] FIRST = WMB_BANK * BANK_WORDS;
  localparam [ADDR_BITS:0] CAPACITY = BANK_WORDS;
  localparam SIZES = ATOM_BYTES / 4;  // in a word
  localparam LOG2_SIZES = $clog2(SIZES);
  localparam [LOG2_SIZES-1:0] LAST = SIZES[LOG2_SIZES-1:0] - 1'b1;
  localparam [9:0] ROUND_UP = SIZES[9:0] - 10'd1;
  localparam [ADDR_WIDTH-1:0] STEP = {{(ADDR_WIDTH - 8) {1'b0}}, ATOM_BYTES[7:0]};

  /* verilator lint_off UNUSEDSIGNAL */
  wire [63:0] wgs_base = {
    cfg[32*(`CDMA_D_WGS_ADDR_HIGH-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_WGS_ADDR_LOW-`CDMA_OP_ENABLE)+:32]
  };
  wire [63:0] wmb_base = {
    cfg[32*(`CDMA_D_WMB_ADDR_HIGH-`CDMA_OP_ENABLE)+:32], cfg[32*(`CDMA_D_WMB_ADDR_LOW-`CDMA_OP_ENABLE)+:32]
  };
  /* verilator lint_on UNUSEDSIGNAL */
  wire [8:0] sixteens = cfg[32*(`CDMA_D_WEIGHT_SIZE_1-`CDMA_OP_ENABLE)+4+:9];  // of kernels, minus one
  wire [9:0] groups = {1'b0, is_byte ? sixteens >> 1 : sixteens} + 10'd1;

  // One size a clock
  reg [9:0] sizes_left;  // to be added
  reg [9:0] words_left;  // to be requested
  reg [LOG2_SIZES-1:0] at;
  reg [ADDR_WIDTH-1:0] wgs_addr;
  wire wgs_ready, wgs_valid, unused_idle, masks_idle;
  wire [8*ATOM_BYTES-1:0] wgs;
  wire last_of_word = (at == LAST) || (sizes_left == 10'd1);

  assign sizes_known = (sizes_left == 10'd0);
  assign idle        = masks_idle && sizes_known;

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(8 * ATOM_BYTES)
  ) wgs_read (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(words_left != 10'd0),
      .addr_ready(wgs_ready),
      .addr      (wgs_addr),
      .req_valid (rd_req_valid[1]),
      .req_ready (rd_req_ready[1]),
      .req_addr  (rd_req_addr[ADDR_WIDTH+:ADDR_WIDTH]),
      .rsp_valid (rd_rsp_valid[1]),
      .rsp_data  (rd_rsp_data),
      .data_valid(wgs_valid),
      .data_ready(last_of_word),
      .data      (wgs),
      .idle      (unused_idle)
  );

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      sizes_left <= 10'd0;
      words_left <= 10'd0;
      at         <= 0;
      total      <= 32'd0;
      wgs_addr   <= 0;
    end else if (start) begin
      at         <= 0;
      total      <= 32'd0;
      sizes_left <= groups;
      words_left <= (groups + ROUND_UP) >> LOG2_SIZES;
      wgs_addr   <= wgs_base[ADDR_WIDTH-1:0];
    end else begin
      if (words_left != 10'd0 && wgs_ready) begin
        words_left <= words_left - 10'd1;
        wgs_addr   <= wgs_addr + STEP;
      end
      if (wgs_valid) begin
        total      <= total + wgs[32*at+:32];
        sizes_left <= sizes_left - 10'd1;
        at         <= last_of_word ? 0 : at + 1'b1;
      end
    end

  nvdla_cdma_stream #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .ATOM_BYTES(ATOM_BYTES),
      .ADDR_BITS (ADDR_BITS)
  ) masks (
      .clk         (clk),
      .rst_n       (rst_n),
      .start       (start),
      .active      (1'b1),
      .base        (wmb_base[ADDR_WIDTH-1:0]),
      .bytes       (cfg[32*(`CDMA_D_WMB_BYTES-`CDMA_OP_ENABLE)+:32]),
      .complete    (1'b1),
      .first       (FIRST),
      .capacity    (CAPACITY),
      .rd_req_valid(rd_req_valid[0]),
      .rd_req_ready(rd_req_ready[0]),
      .rd_req_addr (rd_req_addr[0+:ADDR_WIDTH]),
      .rd_rsp_valid(rd_rsp_valid[0]),
      .rd_rsp_data (rd_rsp_data),
      .write_valid (write),
      .write_ready (1'b1),
      .write_addr  (write_addr),
      .write_data  (write_data),
      .loaded      (loaded),
      .released    (released),
      .idle        (masks_idle)
  );
endmodule

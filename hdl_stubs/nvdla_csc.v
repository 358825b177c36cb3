// CSC: registers, sequence generator (CSC_SG) and the two loaders.
//
// The order of a layer is: kernel group; stripe of outputs, progressively over width
// and height; block of ATOMIC_C channels; kernel row; kernel column: a stripe
// operation. It consists of one atomic operation for each output of the stripe, with
// the same weights. A stripe is as long as the accumulators of CACC allow.
//
// An atomic operation is issued per clock, as soon as its weights and its line are
// in the buffer, unless CACC holds the pipeline (`advance` low).
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_csc #(
    parameter [5:0] SLOT = 6'd4,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 1,
    parameter BANK_WORDS = 512,
    parameter ATOMIC_C = 8,
    parameter ATOMIC_K = 8,
    parameter LOG2_STRIPE = 6,
    parameter LINES = 4
) (
    input  wire                           clk,
    input  wire                           rst_n,
    input  wire                           req_valid,
    input  wire                           req_write,
    input  wire [                   15:0] req_addr,
    input  wire [                   31:0] req_wdata,
    output wire [                   31:0] rdata,
    output wire                           enabled,
    input  wire                           load,
    input  wire                           start,
    output wire                           done,
    // Buffer
    input  wire [            ADDR_BITS:0] dat_first,
    input  wire [                   13:0] dat_slices,
    output wire [                   13:0] release_slices,
    output wire                           release_valid,
    input  wire                           wt_cleared,
    input  wire [                   31:0] wt_loaded,
    output wire [                   31:0] wt_released,
    output wire [LINES*(ATOMIC_C/ATOM_BYTES+1)*ADDR_BITS-1:0] dat_addr,
    input  wire [LINES*(ATOMIC_C/ATOM_BYTES+1)*8*ATOM_BYTES-1:0] dat_data,
    output wire [(ATOMIC_C/ATOM_BYTES+1)*ADDR_BITS-1:0] wt_addr,
    input  wire [(ATOMIC_C/ATOM_BYTES+1)*8*ATOM_BYTES-1:0] wt_data,
    // Atomic operations, to CMAC
    input  wire                           advance,
    output wire                           op_valid,
    output wire [         8*ATOMIC_C-1:0] op_elements,
    output reg  [        LOG2_STRIPE-1:0] op_index,      // output in the stripe
    output reg                            op_first,      // of its output
    output reg                            op_last,       // of its output
    output reg                            op_end,        // of the layer
    output wire                           weights_load,  // for the operations from the next clock on
    output wire [8*ATOMIC_C*ATOMIC_K-1:0] weights
);
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam LOG2_ENTRY = $clog2(ENTRY_WORDS);
  localparam [13:0] GROUP = ATOMIC_K[13:0];
  localparam [13:0] BLOCK = ATOMIC_C[13:0];
  localparam [26:0] STRIPE = 27'd1 << LOG2_STRIPE;

  wire unused_producer, unused_consumer;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`CSC_WORDS-`CSC_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  wire [31:0] misc = cfg[32*(`CSC_D_MISC_CFG-`CSC_OP_ENABLE)+:32];
  /* verilator lint_on UNUSEDSIGNAL */

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (`UNIT_CSC),
      .WORDS    (`CSC_WORDS),
      .OP_ENABLE(`CSC_OP_ENABLE)
  ) regs (
      .clk      (clk),
      .rst_n    (rst_n),
      .req_valid(req_valid),
      .req_write(req_write),
      .req_addr (req_addr),
      .req_wdata(req_wdata),
      .rdata    (rdata),
      .ro_data  (32'd0),
      .producer (unused_producer),
      .consumer (unused_consumer),
      .enabled  (enabled),
      .load     (load),
      .cfg      (cfg),
      .done     (done)
  );

  wire is_image = cfg[32*(`CSC_D_DATAIN_FORMAT-`CSC_OP_ENABLE)];
  wire [12:0] in_width = cfg[32*(`CSC_D_DATAIN_SIZE_EXT_0-`CSC_OP_ENABLE)+:13];
  wire [12:0] in_height = cfg[32*(`CSC_D_DATAIN_SIZE_EXT_0-`CSC_OP_ENABLE)+16+:13];
  wire [12:0] in_channels = cfg[32*(`CSC_D_DATAIN_SIZE_EXT_1-`CSC_OP_ENABLE)+:13];
  wire [1:0] extension = cfg[32*(`CSC_D_POST_Y_EXTENSION-`CSC_OP_ENABLE)+:2];
  wire [13:0] entries = cfg[32*(`CSC_D_ENTRY_PER_SLICE-`CSC_OP_ENABLE)+:14];
  wire [4:0] columns = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_0-`CSC_OP_ENABLE)+:5];
  wire [4:0] rows = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_0-`CSC_OP_ENABLE)+16+:5];
  wire [12:0] channels = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_1-`CSC_OP_ENABLE)+:13];
  wire [12:0] kernels = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_1-`CSC_OP_ENABLE)+16+:13];
  wire [12:0] out_width = cfg[32*(`CSC_D_DATAOUT_SIZE_0-`CSC_OP_ENABLE)+:13];
  wire [12:0] out_height = cfg[32*(`CSC_D_DATAOUT_SIZE_0-`CSC_OP_ENABLE)+16+:13];
  wire [11:0] release_cfg = cfg[32*(`CSC_D_RELEASE-`CSC_OP_ENABLE)+:12];
  wire [2:0] stride_x = cfg[32*(`CSC_D_CONV_STRIDE_EXT-`CSC_OP_ENABLE)+:3];
  wire [2:0] stride_y = cfg[32*(`CSC_D_CONV_STRIDE_EXT-`CSC_OP_ENABLE)+16+:3];
  wire [4:0] dilation_x = cfg[32*(`CSC_D_DILATION_EXT-`CSC_OP_ENABLE)+:5];
  wire [4:0] dilation_y = cfg[32*(`CSC_D_DILATION_EXT-`CSC_OP_ENABLE)+16+:5];
  wire [4:0] pad_left = cfg[32*(`CSC_D_ZERO_PADDING-`CSC_OP_ENABLE)+:5];
  wire [4:0] pad_top = cfg[32*(`CSC_D_ZERO_PADDING-`CSC_OP_ENABLE)+16+:5];
  wire [7:0] pad_value = cfg[32*(`CSC_D_ZERO_PADDING_VALUE-`CSC_OP_ENABLE)+:8];
  wire [4:0] dat_banks = cfg[32*(`CSC_D_BANK-`CSC_OP_ENABLE)+:5];
  wire [4:0] wt_banks = cfg[32*(`CSC_D_BANK-`CSC_OP_ENABLE)+16+:5];

  wire [ADDR_BITS:0] dat_capacity = ({{(ADDR_BITS - 4) {1'b0}}, dat_banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] wt_capacity = ({{(ADDR_BITS - 4) {1'b0}}, wt_banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] slice_words = ({{(ADDR_BITS - 13) {1'b0}}, entries} + 1'b1) << LOG2_ENTRY;
  wire [2:0] lines = 3'd1 << extension;
  wire [26:0] outputs = {13'd0, {1'b0, out_width} + 14'd1} * {13'd0, {1'b0, out_height} + 14'd1};

  `NVDLA_BUG(conv_pad_left_ignored)
  `NVDLA_BUG(conv_pad_top_ignored)
  `NVDLA_BUG(conv_pad_value_ignored)
  `NVDLA_BUG(conv_strides_swapped)
  `NVDLA_BUG(conv_dilation_ignored)
  `NVDLA_BUG(conv_window_one_line_down)
  `NVDLA_BUG(conv_kernel_columns_reversed)
  // Sequence
  reg run;
  reg [13:0] kernels_left;
  reg [26:0] outputs_left;  // of the group, from this stripe on
  reg [12:0] stripe_x, stripe_y, out_x, out_y, block;
  reg [5:0] row, column;
  reg [LOG2_STRIPE-1:0] index;

  wire [26:0] length = (outputs_left < STRIPE) ? outputs_left : STRIPE;
  wire [5:0] rows_left = {1'b0, rows} + 6'd1 - row;
  wire [2:0] lines_here = (rows_left < {3'd0, lines}) ? rows_left[2:0] : lines;
  wire first_operation = (block == 13'd0) && (row == 6'd0) && (column == 6'd0);
  wire index_ends = ({{(27 - LOG2_STRIPE) {1'b0}}, index} + 27'd1 == length);
  wire column_ends = (column == {1'b0, columns});
  wire row_ends = (rows_left <= {3'd0, lines});
  wire block_ends = (lines != 3'd1) || ({1'b0, block} + 14'd1) * BLOCK > {1'b0, channels};
  wire last_operation = column_ends && row_ends && block_ends;
  wire stripe_ends = index_ends && last_operation;
  wire group_ends = stripe_ends && (outputs_left == length);
  wire layer_ends = group_ends && (kernels_left <= GROUP);
  wire [12:0] next_x = (out_x == out_width) ? 13'd0 : out_x + 13'd1;
  wire [12:0] next_y = (out_x == out_width) ? out_y + 13'd1 : out_y;

  // Position in the input
  wire [17:0] step_x = {5'd0, out_x} * {15'd0, bug_conv_strides_swapped ? stride_y : stride_x} + {5'd0, out_x};
  wire [17:0] step_y = {5'd0, out_y} * {15'd0, bug_conv_strides_swapped ? stride_x : stride_y} + {5'd0, out_y};
  wire [5:0] kernel_column = bug_conv_kernel_columns_reversed ? {1'b0, columns} - column : column;
  wire [17:0] apart_x = {13'd0, bug_conv_dilation_ignored ? 5'd0 : dilation_x} + 18'd1;
  wire [17:0] apart_y = {13'd0, bug_conv_dilation_ignored ? 5'd0 : dilation_y} + 18'd1;
  wire [17:0] in_x = step_x + {12'd0, kernel_column} * apart_x -
                     {13'd0, bug_conv_pad_left_ignored ? 5'd0 : pad_left};
  wire [17:0] in_y = step_y + {12'd0, row} * apart_y -
                     {13'd0, bug_conv_pad_top_ignored ? 5'd0 : pad_top} + {17'd0, bug_conv_window_one_line_down};
  wire [17:0] last_y = in_y + {15'd0, lines_here} - 18'd1;
  wire [17:0] needed_y = ($signed(last_y) > $signed({5'd0, in_height})) ? {5'd0, in_height} : last_y;
  wire line_there = $signed({4'd0, dat_slices}) > $signed(needed_y);
  wire [19:0] element = {2'd0, step_x} * {6'd0, {1'b0, in_channels} + 14'd1} + {7'd0, block} * {6'd0, BLOCK};

  wire weights_valid;
  wire issue = run && advance && line_there && (index != 0 || weights_valid);

  assign weights_load   = issue && (index == 0);
  assign done           = issue && layer_ends;
  assign release_valid  = done && !misc[24];
  assign release_slices = {2'd0, release_cfg} + 14'd1;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      run          <= 1'b0;
      kernels_left <= 14'd0;
      outputs_left <= 27'd0;
      {stripe_x, stripe_y, out_x, out_y, block} <= 65'd0;
      {row, column} <= 12'd0;
      index        <= 0;
    end else if (start) begin
      run          <= 1'b1;
      kernels_left <= {1'b0, kernels} + 14'd1;
      outputs_left <= outputs;
      {stripe_x, stripe_y, out_x, out_y, block} <= 65'd0;
      {row, column} <= 12'd0;
      index        <= 0;
    end else if (issue) begin
      index <= index_ends ? 0 : index + 1'b1;
      {out_x, out_y} <= index_ends ? {stripe_x, stripe_y} : {next_x, next_y};
      if (index_ends) begin
        column <= column_ends ? 6'd0 : column + 6'd1;
        if (column_ends) row <= row_ends ? 6'd0 : row + {3'd0, lines};
        if (column_ends && row_ends) block <= block_ends ? 13'd0 : block + 13'd1;
      end
      if (stripe_ends) begin
        outputs_left <= group_ends ? outputs : outputs_left - length;
        {stripe_x, stripe_y} <= group_ends ? 26'd0 : {next_x, next_y};
        {out_x, out_y} <= group_ends ? 26'd0 : {next_x, next_y};
        if (group_ends) kernels_left <= kernels_left - GROUP;
        if (layer_ends) run <= 1'b0;
      end
    end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      op_index <= 0;
      {op_first, op_last, op_end} <= 3'd0;
    end else if (advance) begin
      op_index <= index;
      {op_first, op_last, op_end} <= {first_operation, last_operation, issue && layer_ends};
    end

  nvdla_csc_dl #(
      .ATOM_BYTES(ATOM_BYTES),
      .ADDR_BITS (ADDR_BITS),
      .ATOMIC_C  (ATOMIC_C),
      .LINES     (LINES)
  ) dl (
      .clk        (clk),
      .rst_n      (rst_n),
      .advance    (advance),
      .is_image   (is_image),
      .width      (in_width),
      .height     (in_height),
      .channels   ({1'b0, channels} + 14'd1),
      .pad_value  (bug_conv_pad_value_ignored ? 8'd0 : pad_value),
      .first      (dat_first),
      .capacity   (dat_capacity),
      .slice_words(slice_words),
      .issue      (issue),
      .x          (in_x),
      .y          (in_y),
      .element    (element),
      .block      (block),
      .lines      (lines),
      .lines_here (lines_here),
      .addr       (dat_addr),
      .data       (dat_data),
      .valid      (op_valid),
      .elements   (op_elements)
  );

  nvdla_csc_wl #(
      .ATOM_BYTES(ATOM_BYTES),
      .ADDR_BITS (ADDR_BITS),
      .ATOMIC_C  (ATOMIC_C),
      .ATOMIC_K  (ATOMIC_K)
  ) wl (
      .clk     (clk),
      .rst_n   (rst_n),
      .cleared (wt_cleared),
      .start   (start),
      .kernels (kernels),
      .channels(channels),
      .rows    (rows),
      .columns (columns),
      .lines   (lines),
      .stripes ((outputs + STRIPE - 27'd1) >> LOG2_STRIPE),
      .keep    (misc[28]),
      .first   (dat_capacity),
      .capacity(wt_capacity),
      .loaded  (wt_loaded),
      .released(wt_released),
      .addr    (wt_addr),
      .data    (wt_data),
      .valid   (weights_valid),
      .take    (weights_load),
      .weights (weights)
  );
endmodule

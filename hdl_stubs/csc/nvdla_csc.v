// CSC: registers, sequence generator (CSC_SG) and the two loaders.
//
// The order of a layer is: kernel group; stripe of outputs, progressively over width
// and height; block of ATOMIC_C channels; kernel row; kernel column: a stripe
// operation. It consists of one atomic operation for each output of the stripe, with
// the same weights. A stripe is as long as the accumulators of CACC allow. In Winograd
// mode an atomic operation is a 4x4 tile of four channels, its outputs are 2x2, and a
// stripe walks over tiles.
//
// An atomic operation is issued per clock, as soon as its weights and its line are
// in the buffer, unless CACC holds the pipeline (`advance` low).
//
// A layer of a kind that FULL does not compute is not `runnable`.
`include "nvdla_register_offsets.vh"
`include "nvdla_bugs.vh"

module nvdla_csc #(
    parameter [5:0] SLOT = 6'd4,
    parameter FULL = 0,
    parameter ATOM_BYTES = 8,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 1,
    parameter BANK_WORDS = 512,
    parameter WMB_BANK = 31,
    parameter ATOMIC_C = 8,
    parameter ATOMIC_K = 8,
    parameter ELEMENT_BITS = 8,
    parameter SLOT_BITS = 3,
    parameter LOG2_STRIPE = 6,
    parameter LINES = 4,
    parameter DATA_PORTS = 8,
    parameter WEIGHT_PORTS = 2
) (
    input  wire                                 clk,
    input  wire                                 rst_n,
    input  wire                                 req_valid,
    input  wire                                 req_write,
    input  wire [                         15:0] req_addr,
    input  wire [                         31:0] req_wdata,
    output wire [                         31:0] rdata,
    output wire                                 enabled,
    input  wire                                 load,
    output wire                                 runnable,
    output wire [                          7:0] mode,            // {cubes minus one, Winograd, precision}
    output wire                                 compressed,
    input  wire                                 start,
    output wire                                 done,
    // Buffer
    input  wire [                  ADDR_BITS:0] dat_first,
    input  wire [                         13:0] dat_slices,
    output wire [                         13:0] release_slices,
    output wire                                 release_valid,
    input  wire                                 wt_cleared,
    input  wire                                 wt_filled,
    input  wire [                         31:0] wt_loaded,
    output wire [                         31:0] wt_released,
    input  wire [                         31:0] wmb_loaded,
    output wire [                         31:0] wmb_released,
    output wire [     DATA_PORTS*ADDR_BITS-1:0] dat_addr,
    input  wire [  DATA_PORTS*8*ATOM_BYTES-1:0] dat_data,
    output wire [   WEIGHT_PORTS*ADDR_BITS-1:0] wt_addr,
    input  wire [WEIGHT_PORTS*8*ATOM_BYTES-1:0] wt_data,
    // Atomic operations, to CMAC
    input  wire                                 advance,
    output wire                                 op_valid,
    output wire [    ATOMIC_C*ELEMENT_BITS-1:0] op_elements,
    output wire [                         16:0] op_nan,          // {there is one, the first one}
    output reg  [              LOG2_STRIPE-1:0] op_index,        // output, or tile, in the stripe
    output reg                                  op_first,        // of its output
    output reg                                  op_last,         // of its output
    output reg                                  op_end,          // of the layer
    // Weights of the next stripe operation, a kernel at a time; 16 bits use the even slots
    output wire                                 kernel_valid,
    output wire [                SLOT_BITS-1:0] kernel_slot,
    output wire [    ATOMIC_C*ELEMENT_BITS-1:0] kernel_elements,
    output wire                                 weights_load     // they count from the next clock on
);
  localparam [1:0] INT8 = 2'd0;
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam LOG2_ENTRY = $clog2(ENTRY_WORDS);
  localparam LOG2_TILES = $clog2(ATOM_BYTES / 4);  // blocks of four channels in an atom of INT8
  localparam [17:0] BLOCK = ATOMIC_C[17:0];
  localparam [13:0] GROUP = ATOMIC_K[13:0];
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
      .OP_ENABLE(`CSC_OP_ENABLE),
      .FULL     (FULL)
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
  wire [4:0] batches = cfg[32*(`CSC_D_BATCH_NUMBER-`CSC_OP_ENABLE)+:5];
  wire [1:0] extension = cfg[32*(`CSC_D_POST_Y_EXTENSION-`CSC_OP_ENABLE)+:2];
  wire [13:0] entries = cfg[32*(`CSC_D_ENTRY_PER_SLICE-`CSC_OP_ENABLE)+:14];
  wire [4:0] weight_columns = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_0-`CSC_OP_ENABLE)+:5];
  wire [4:0] weight_rows = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_0-`CSC_OP_ENABLE)+16+:5];
  wire [12:0] channels = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_1-`CSC_OP_ENABLE)+:13];
  wire [12:0] kernels = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_1-`CSC_OP_ENABLE)+16+:13];
  wire [12:0] cube_width = cfg[32*(`CSC_D_DATAOUT_SIZE_0-`CSC_OP_ENABLE)+:13];
  wire [12:0] cube_height = cfg[32*(`CSC_D_DATAOUT_SIZE_0-`CSC_OP_ENABLE)+16+:13];
  wire [11:0] release_cfg = cfg[32*(`CSC_D_RELEASE-`CSC_OP_ENABLE)+:12];
  wire [2:0] stride_x = cfg[32*(`CSC_D_CONV_STRIDE_EXT-`CSC_OP_ENABLE)+:3];
  wire [2:0] stride_y = cfg[32*(`CSC_D_CONV_STRIDE_EXT-`CSC_OP_ENABLE)+16+:3];
  `NVDLA_BUG(conv_image_dilated)
  // The taps of an image lie side by side, whatever the register holds.
  wire is_dilated = !is_image || bug_conv_image_dilated;
  wire [4:0] dilation_x = !is_dilated ? 5'd0 : cfg[32*(`CSC_D_DILATION_EXT-`CSC_OP_ENABLE)+:5];
  wire [4:0] dilation_y = !is_dilated ? 5'd0 : cfg[32*(`CSC_D_DILATION_EXT-`CSC_OP_ENABLE)+16+:5];
  wire [4:0] pad_left = cfg[32*(`CSC_D_ZERO_PADDING-`CSC_OP_ENABLE)+:5];
  wire [4:0] pad_top = cfg[32*(`CSC_D_ZERO_PADDING-`CSC_OP_ENABLE)+16+:5];
  wire [15:0] pad_value = cfg[32*(`CSC_D_ZERO_PADDING_VALUE-`CSC_OP_ENABLE)+:16];
  wire [4:0] dat_banks = cfg[32*(`CSC_D_BANK-`CSC_OP_ENABLE)+:5];
  wire [4:0] wt_banks = cfg[32*(`CSC_D_BANK-`CSC_OP_ENABLE)+16+:5];

  wire [ADDR_BITS:0] dat_capacity = ({{(ADDR_BITS - 4) {1'b0}}, dat_banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] wt_capacity = ({{(ADDR_BITS - 4) {1'b0}}, wt_banks} + 1'b1) << LOG2_BANK;
  wire [31:0] part_words = ({18'd0, entries} + 32'd1) << LOG2_ENTRY;  // a line of a cube
  wire [4:0] cubes = mode[7:3];
  wire winograd = mode[2];
  wire is_byte = (mode[1:0] == INT8);

  generate
    if (FULL != 0) begin : all_precisions
      // Whole tiles, which the cube that CDMA extended holds, of whole atoms
      wire whole_tiles = (cube_width[1:0] == 2'd3) && (cube_height[1:0] == 2'd3) &&
                         (&channels[LOG2_TILES:0]) && (!is_byte || channels[LOG2_TILES+1]) &&
                         ({1'b0, cube_width} + 14'd2 <= {1'b0, in_width}) &&
                         ({1'b0, cube_height} + 14'd2 <= {1'b0, in_height});

      assign mode       = {batches, misc[0], misc[13:12]};
      assign compressed = cfg[32*(`CSC_D_WEIGHT_FORMAT-`CSC_OP_ENABLE)];
      assign runnable   = (misc[13:12] != 2'd3) && (is_image || misc[9:8] == misc[13:12]) &&
                          (batches == 5'd0 || !(is_image || winograd)) &&
                          (is_image || extension == 2'd0) && !(compressed && misc[28]) &&
                          (!winograd || (!is_image && whole_tiles));
    end else begin : int8
      wire unused_bits = &{1'b0, batches};

      assign mode       = 8'd0;
      assign compressed = 1'b0;
      assign runnable   = 1'b1;
    end
  endgenerate

  // Outputs, or tiles of 2x2 outputs; elements of a kernel beside one another
  wire [4:0] columns = winograd ? 5'd0 : weight_columns;
  wire [4:0] rows = winograd ? 5'd0 : weight_rows;
  wire [2:0] lines = 3'd1 << extension;
  wire [12:0] out_width = winograd ? cube_width >> 1 : cube_width;
  wire [12:0] out_height = winograd ? cube_height >> 1 : cube_height;
  wire [26:0] outputs = {13'd0, {1'b0, out_width} + 14'd1} * {13'd0, {1'b0, out_height} + 14'd1};
  wire [17:0] depth = winograd ? ({5'd0, channels} + 18'd1) << 4 : {5'd0, channels} + 18'd1;
  wire [13:0] group = is_byte ? GROUP : GROUP >> 1;

  `NVDLA_BUG(conv_pad_left_ignored)
  `NVDLA_BUG(conv_pad_top_ignored)
  `NVDLA_BUG(conv_pad_value_ignored)
  `NVDLA_BUG(conv_strides_swapped)
  `NVDLA_BUG(conv_stride_of_x)
  `NVDLA_BUG(conv_dilation_ignored)
  `NVDLA_BUG(conv_window_one_line_down)
  `NVDLA_BUG(conv_kernel_columns_reversed)
  `NVDLA_BUG(conv_last_cube_repeated)
  // Sequence: groups of kernels, in them cubes, in them stripes, so that weights come once
  reg run;
  reg [13:0] kernels_left;
  reg [4:0] cube;
  reg [17:0] depth_left;
  reg [26:0] outputs_left;  // of the cube, from this stripe on
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
  wire block_ends = (lines != 3'd1) || (depth_left <= BLOCK);
  wire last_operation = column_ends && row_ends && block_ends;
  wire stripe_ends = index_ends && last_operation;
  wire cube_ends = stripe_ends && (outputs_left == length);
  wire group_ends = cube_ends && (cube == cubes);
  wire layer_ends = group_ends && (kernels_left <= group);
  wire [12:0] next_x = (out_x == out_width) ? 13'd0 : out_x + 13'd1;
  wire [12:0] next_y = (out_x == out_width) ? out_y + 13'd1 : out_y;

  // Position in the input; CDMA has put Winograd's padding into the cube.
  wire [2:0] apart_x = winograd ? 3'd1 : bug_conv_strides_swapped ? stride_y : stride_x;
  wire [2:0] apart_y = winograd ? 3'd1 : (bug_conv_strides_swapped || bug_conv_stride_of_x) ? stride_x : stride_y;
  wire [17:0] step_x = {5'd0, out_x} * ({15'd0, apart_x} + 18'd1);
  wire [17:0] step_y = {5'd0, out_y} * ({15'd0, apart_y} + 18'd1);
  wire [5:0] kernel_column = bug_conv_kernel_columns_reversed ? {1'b0, columns} - column : column;
  wire [17:0] taps_x = {13'd0, bug_conv_dilation_ignored ? 5'd0 : dilation_x} + 18'd1;
  wire [17:0] taps_y = {13'd0, bug_conv_dilation_ignored ? 5'd0 : dilation_y} + 18'd1;
  wire [17:0] in_x = step_x + {12'd0, kernel_column} * taps_x -
                     {13'd0, (winograd || bug_conv_pad_left_ignored) ? 5'd0 : pad_left};
  wire [17:0] in_y = step_y + {12'd0, row} * taps_y -
                     {13'd0, (winograd || bug_conv_pad_top_ignored) ? 5'd0 : pad_top} +
                     {17'd0, bug_conv_window_one_line_down};
  wire [17:0] last_y = in_y + (winograd ? 18'd3 : {15'd0, lines_here} - 18'd1);
  wire [17:0] needed_y = ($signed(last_y) > $signed({5'd0, in_height})) ? {5'd0, in_height} : last_y;
  wire line_there = $signed({4'd0, dat_slices}) > $signed(needed_y);
  wire [19:0] element = {2'd0, step_x} * {6'd0, {1'b0, in_channels} + 14'd1} + {7'd0, block} * {2'd0, BLOCK};

  wire [4:0] cube_read = cube - {4'd0, bug_conv_last_cube_repeated && cube != 5'd0 && cube == cubes};

  wire weights_valid;
  // A layer ends with all its lines in the buffer, those that no window takes, too, and with all of D_WEIGHT_BYTES, the
  // padding, too: CDMA is done before it. On the public nv_small RTL the last kernels do not start before (read off it).
  wire all_there = wt_filled && $signed({4'd0, dat_slices}) > $signed({5'd0, in_height});
  wire issue = run && advance && line_there && (all_there || !layer_ends) && (index != 0 || weights_valid);

  assign weights_load   = issue && (index == 0);
  assign done           = issue && layer_ends;
  assign release_valid  = done && !misc[24];
  assign release_slices = {2'd0, release_cfg} + 14'd1;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      run          <= 1'b0;
      kernels_left <= 14'd0;
      cube         <= 5'd0;
      depth_left   <= 18'd0;
      outputs_left <= 27'd0;
      {stripe_x, stripe_y, out_x, out_y, block} <= 65'd0;
      {row, column} <= 12'd0;
      index        <= 0;
    end else if (start) begin
      run          <= 1'b1;
      kernels_left <= {1'b0, kernels} + 14'd1;
      cube         <= 5'd0;
      depth_left   <= depth;
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
        if (column_ends && row_ends) begin
          block      <= block_ends ? 13'd0 : block + 13'd1;
          depth_left <= block_ends ? depth : depth_left - BLOCK;
        end
      end
      if (stripe_ends) begin
        outputs_left <= cube_ends ? outputs : outputs_left - length;
        {stripe_x, stripe_y} <= cube_ends ? 26'd0 : {next_x, next_y};
        {out_x, out_y} <= cube_ends ? 26'd0 : {next_x, next_y};
        if (cube_ends) cube <= group_ends ? 5'd0 : cube + 5'd1;
        if (group_ends) kernels_left <= kernels_left - group;
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
      .FULL        (FULL),
      .ATOM_BYTES  (ATOM_BYTES),
      .ADDR_BITS   (ADDR_BITS),
      .ATOMIC_C    (ATOMIC_C),
      .ELEMENT_BITS(ELEMENT_BITS),
      .LINES       (LINES),
      .PORTS       (DATA_PORTS)
  ) dl (
      .clk         (clk),
      .rst_n       (rst_n),
      .advance     (advance),
      .is_image    (is_image),
      .winograd    (winograd),
      .precision   (mode[1:0]),
      .pra_truncate(cfg[32*(`CSC_D_PRA_CFG-`CSC_OP_ENABLE)+:2]),
      .width       (in_width),
      .height      (in_height),
      .channels    ({1'b0, channels} + 14'd1),
      .pad_value   (bug_conv_pad_value_ignored ? 16'd0 : pad_value),
      .first       (dat_first),
      .capacity    (dat_capacity),
      .line_words  (part_words * ({27'd0, cubes} + 32'd1)),
      .cube_words  (part_words * {27'd0, cube_read}),
      .issue       (issue),
      .x           (in_x),
      .y           (in_y),
      .element     (element),
      .block       (block),
      .length      ((depth_left < BLOCK) ? depth_left[13:0] : BLOCK[13:0]),
      .lines       (lines),
      .lines_here  (lines_here),
      .addr        (dat_addr),
      .data        (dat_data),
      .valid       (op_valid),
      .elements    (op_elements),
      .nan         (op_nan)
  );

  wire [SLOT_BITS-1:0] kernel;

  assign kernel_slot = is_byte ? kernel : kernel << 1;

  nvdla_csc_wl #(
      .FULL        (FULL),
      .ATOM_BYTES  (ATOM_BYTES),
      .ADDR_BITS   (ADDR_BITS),
      .BANK_WORDS  (BANK_WORDS),
      .WMB_BANK    (WMB_BANK),
      .ATOMIC_C    (ATOMIC_C),
      .ELEMENT_BITS(ELEMENT_BITS),
      .SLOT_BITS   (SLOT_BITS),
      .PORTS       (WEIGHT_PORTS)
  ) wl (
      .clk         (clk),
      .rst_n       (rst_n),
      .cleared     (wt_cleared),
      .start       (start),
      .is_byte     (is_byte),
      .compressed  (compressed),
      .kernels     (kernels),
      .depth       (depth),
      .rows        (rows),
      .columns     (columns),
      .lines       (lines),
      .group       (group),
      .stripes     (((outputs + STRIPE - 27'd1) >> LOG2_STRIPE) * ({22'd0, cubes} + 27'd1)),
      .keep        (misc[28]),
      .first       (dat_capacity),
      .capacity    (wt_capacity),
      .loaded      (wt_loaded),
      .released    (wt_released),
      .wmb_loaded  (wmb_loaded),
      .wmb_released(wmb_released),
      .addr        (wt_addr),
      .data        (wt_data),
      .valid       (weights_valid),
      .take        (weights_load),
      .kernel_valid(kernel_valid),
      .kernel      (kernel),
      .elements    (kernel_elements)
  );
endmodule

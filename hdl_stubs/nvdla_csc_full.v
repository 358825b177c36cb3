// CSC of a configuration with all precisions: registers, sequence generator (CSC_SG)
// and the two loaders. Direct convolution in the order of nvdla_csc, 64 channels an
// atomic operation; in Winograd mode an atomic operation is a 4x4 tile of four
// channels, its outputs are 2x2, and a stripe walks over tiles.
//
// A layer of a kind that this design does not compute is not `runnable`.
`include "nvdla_register_offsets.vh"

module nvdla_csc_full #(
    parameter [5:0] SLOT = 6'd6,
    parameter ADDR_BITS = 14,
    parameter ENTRY_WORDS = 4,
    parameter BANK_WORDS = 1024,
    parameter WMB_BANK = 15,
    parameter LOG2_STRIPE = 5
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    req_valid,
    input  wire                    req_write,
    input  wire [            15:0] req_addr,
    input  wire [            31:0] req_wdata,
    output wire [            31:0] rdata,
    output wire                    enabled,
    input  wire                    load,
    output wire                    runnable,
    output wire [             2:0] mode,            // {Winograd, precision}
    output wire                    compressed,
    input  wire                    start,
    output wire                    done,
    // Buffer
    input  wire [     ADDR_BITS:0] dat_first,
    input  wire [            13:0] dat_slices,
    output wire [            13:0] release_slices,
    output wire                    release_valid,
    input  wire                    wt_cleared,
    input  wire [            31:0] wt_loaded,
    output wire [            31:0] wt_released,
    input  wire [            31:0] wmb_loaded,
    output wire [            31:0] wmb_released,
    output wire [16*ADDR_BITS-1:0] dat_addr,
    input  wire [       16*256-1:0] dat_data,
    output wire [ 7*ADDR_BITS-1:0] wt_addr,
    input  wire [        7*256-1:0] wt_data,
    // Atomic operations, to CMAC
    input  wire                    advance,
    output wire                    op_valid,
    output wire [          1023:0] op_elements,
    output wire [            16:0] op_nan,          // {there is one, the first one}
    output reg  [ LOG2_STRIPE-1:0] op_index,        // output, or tile, in the stripe
    output reg                     op_first,        // of its output
    output reg                     op_last,         // of its output
    output reg                     op_end,          // of the layer
    // Weights of the next stripe operation, a kernel at a time
    output wire                    kernel_valid,
    output wire [             4:0] kernel_slot,
    output wire [          1023:0] kernel_elements,
    output wire                    weights_load     // they count from the next clock on
);
  localparam [1:0] INT8 = 2'd0;
  localparam LOG2_BANK = $clog2(BANK_WORDS);
  localparam LOG2_ENTRY = $clog2(ENTRY_WORDS);
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

  wire winograd = misc[0];
  wire [1:0] precision = misc[13:12];
  wire is_byte = (precision == INT8);
  wire is_image = cfg[32*(`CSC_D_DATAIN_FORMAT-`CSC_OP_ENABLE)];
  wire [12:0] in_width = cfg[32*(`CSC_D_DATAIN_SIZE_EXT_0-`CSC_OP_ENABLE)+:13];
  wire [12:0] in_height = cfg[32*(`CSC_D_DATAIN_SIZE_EXT_0-`CSC_OP_ENABLE)+16+:13];
  wire [4:0] batches = cfg[32*(`CSC_D_BATCH_NUMBER-`CSC_OP_ENABLE)+:5];
  wire [1:0] extension = cfg[32*(`CSC_D_POST_Y_EXTENSION-`CSC_OP_ENABLE)+:2];
  wire [13:0] entries = cfg[32*(`CSC_D_ENTRY_PER_SLICE-`CSC_OP_ENABLE)+:14];
  wire [4:0] columns = winograd ? 5'd0 : cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_0-`CSC_OP_ENABLE)+:5];
  wire [4:0] rows = winograd ? 5'd0 : cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_0-`CSC_OP_ENABLE)+16+:5];
  wire [12:0] channels = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_1-`CSC_OP_ENABLE)+:13];
  wire [12:0] kernels = cfg[32*(`CSC_D_WEIGHT_SIZE_EXT_1-`CSC_OP_ENABLE)+16+:13];
  wire [12:0] cube_width = cfg[32*(`CSC_D_DATAOUT_SIZE_0-`CSC_OP_ENABLE)+:13];
  wire [12:0] cube_height = cfg[32*(`CSC_D_DATAOUT_SIZE_0-`CSC_OP_ENABLE)+16+:13];
  wire [11:0] release_cfg = cfg[32*(`CSC_D_RELEASE-`CSC_OP_ENABLE)+:12];
  wire [2:0] stride_x = cfg[32*(`CSC_D_CONV_STRIDE_EXT-`CSC_OP_ENABLE)+:3];
  wire [2:0] stride_y = cfg[32*(`CSC_D_CONV_STRIDE_EXT-`CSC_OP_ENABLE)+16+:3];
  wire [4:0] dilation_x = cfg[32*(`CSC_D_DILATION_EXT-`CSC_OP_ENABLE)+:5];
  wire [4:0] dilation_y = cfg[32*(`CSC_D_DILATION_EXT-`CSC_OP_ENABLE)+16+:5];
  wire [4:0] pad_left = cfg[32*(`CSC_D_ZERO_PADDING-`CSC_OP_ENABLE)+:5];
  wire [4:0] pad_top = cfg[32*(`CSC_D_ZERO_PADDING-`CSC_OP_ENABLE)+16+:5];
  wire [15:0] pad_value = cfg[32*(`CSC_D_ZERO_PADDING_VALUE-`CSC_OP_ENABLE)+:16];
  wire [4:0] dat_banks = cfg[32*(`CSC_D_BANK-`CSC_OP_ENABLE)+:5];
  wire [4:0] wt_banks = cfg[32*(`CSC_D_BANK-`CSC_OP_ENABLE)+16+:5];

  wire [ADDR_BITS:0] dat_capacity = ({{(ADDR_BITS - 4) {1'b0}}, dat_banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] wt_capacity = ({{(ADDR_BITS - 4) {1'b0}}, wt_banks} + 1'b1) << LOG2_BANK;
  wire [ADDR_BITS:0] slice_words = ({{(ADDR_BITS - 13) {1'b0}}, entries} + 1'b1) << LOG2_ENTRY;

  assign mode       = {winograd, precision};
  assign compressed = cfg[32*(`CSC_D_WEIGHT_FORMAT-`CSC_OP_ENABLE)];
  // Winograd: whole tiles, which the cube that CDMA extended holds, of whole atoms
  assign runnable = !is_image && (extension == 2'd0) && (batches == 5'd0) && (misc[9:8] == precision) &&
                    (precision != 2'd3) && !(compressed && misc[28]) &&
                    (!winograd || (!is_byte && cube_width[1:0] == 2'd3 && cube_height[1:0] == 2'd3 &&
                                   (&channels[3:0]) &&
                                   {1'b0, cube_width} + 14'd2 <= {1'b0, in_width} &&
                                   {1'b0, cube_height} + 14'd2 <= {1'b0, in_height}));

  // Outputs, or tiles of 2x2 outputs; elements of a kernel beside one another
  wire [12:0] out_width = winograd ? cube_width >> 1 : cube_width;
  wire [12:0] out_height = winograd ? cube_height >> 1 : cube_height;
  wire [26:0] outputs = {13'd0, {1'b0, out_width} + 14'd1} * {13'd0, {1'b0, out_height} + 14'd1};
  wire [17:0] depth = winograd ? ({5'd0, channels} + 18'd1) << 4 : {5'd0, channels} + 18'd1;
  wire [13:0] group = is_byte ? 14'd32 : 14'd16;

  // Sequence
  reg run;
  reg [13:0] kernels_left;
  reg [17:0] depth_left;
  reg [26:0] outputs_left;  // of the group, from this stripe on
  reg [12:0] stripe_x, stripe_y, out_x, out_y, block;
  reg [4:0] row, column;
  reg [LOG2_STRIPE-1:0] index;

  wire [26:0] length = (outputs_left < STRIPE) ? outputs_left : STRIPE;
  wire first_operation = (block == 13'd0) && (row == 5'd0) && (column == 5'd0);
  wire index_ends = ({{(27 - LOG2_STRIPE) {1'b0}}, index} + 27'd1 == length);
  wire column_ends = (column == columns);
  wire row_ends = (row == rows);
  wire block_ends = (depth_left <= 18'd64);
  wire last_operation = column_ends && row_ends && block_ends;
  wire stripe_ends = index_ends && last_operation;
  wire group_ends = stripe_ends && (outputs_left == length);
  wire layer_ends = group_ends && (kernels_left <= group);
  wire [12:0] next_x = (out_x == out_width) ? 13'd0 : out_x + 13'd1;
  wire [12:0] next_y = (out_x == out_width) ? out_y + 13'd1 : out_y;

  // Position in the input; CDMA has put Winograd's padding into the cube.
  wire [2:0] step_x = winograd ? 3'd1 : stride_x;
  wire [2:0] step_y = winograd ? 3'd1 : stride_y;
  wire [17:0] in_x = {5'd0, out_x} * ({15'd0, step_x} + 18'd1) + {13'd0, column} * ({13'd0, dilation_x} + 18'd1) -
                     (winograd ? 18'd0 : {13'd0, pad_left});
  wire [17:0] in_y = {5'd0, out_y} * ({15'd0, step_y} + 18'd1) + {13'd0, row} * ({13'd0, dilation_y} + 18'd1) -
                     (winograd ? 18'd0 : {13'd0, pad_top});
  wire [17:0] last_y = in_y + (winograd ? 18'd3 : 18'd0);
  wire [17:0] needed_y = ($signed(last_y) > $signed({5'd0, in_height})) ? {5'd0, in_height} : last_y;
  wire line_there = $signed({4'd0, dat_slices}) > $signed(needed_y);

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
      depth_left   <= 18'd0;
      outputs_left <= 27'd0;
      {stripe_x, stripe_y, out_x, out_y, block} <= 65'd0;
      {row, column} <= 10'd0;
      index        <= 0;
    end else if (start) begin
      run          <= 1'b1;
      kernels_left <= {1'b0, kernels} + 14'd1;
      depth_left   <= depth;
      outputs_left <= outputs;
      {stripe_x, stripe_y, out_x, out_y, block} <= 65'd0;
      {row, column} <= 10'd0;
      index        <= 0;
    end else if (issue) begin
      index <= index_ends ? 0 : index + 1'b1;
      {out_x, out_y} <= index_ends ? {stripe_x, stripe_y} : {next_x, next_y};
      if (index_ends) begin
        column <= column_ends ? 5'd0 : column + 5'd1;
        if (column_ends) row <= row_ends ? 5'd0 : row + 5'd1;
        if (column_ends && row_ends) begin
          block      <= block_ends ? 13'd0 : block + 13'd1;
          depth_left <= block_ends ? depth : depth_left - 18'd64;
        end
      end
      if (stripe_ends) begin
        outputs_left <= group_ends ? outputs : outputs_left - length;
        {stripe_x, stripe_y} <= group_ends ? 26'd0 : {next_x, next_y};
        {out_x, out_y} <= group_ends ? 26'd0 : {next_x, next_y};
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

  nvdla_csc_full_dl #(
      .ADDR_BITS(ADDR_BITS)
  ) dl (
      .clk         (clk),
      .rst_n       (rst_n),
      .advance     (advance),
      .winograd    (winograd),
      .precision   (precision),
      .pra_truncate(cfg[32*(`CSC_D_PRA_CFG-`CSC_OP_ENABLE)+:2]),
      .width       (in_width),
      .height      (in_height),
      .pad_value   (pad_value),
      .first       (dat_first),
      .capacity    (dat_capacity),
      .slice_words (slice_words),
      .issue       (issue),
      .x           (in_x),
      .y           (in_y),
      .block       (block),
      .length      ((depth_left < 18'd64) ? depth_left[6:0] : 7'd64),
      .addr        (dat_addr),
      .data        (dat_data),
      .valid       (op_valid),
      .elements    (op_elements),
      .nan         (op_nan)
  );

  nvdla_csc_full_wl #(
      .ADDR_BITS (ADDR_BITS),
      .BANK_WORDS(BANK_WORDS),
      .WMB_BANK  (WMB_BANK)
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
      .stripes     ((outputs + STRIPE - 27'd1) >> LOG2_STRIPE),
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
      .kernel_slot (kernel_slot),
      .elements    (kernel_elements)
  );
endmodule

// RUBIK: rearranges a cube in memory without computing.
//
//   contract  input channel (y * sx + x) * C' + c becomes channel c at (w * sx + x,
//             h * sy + y); channels are whole atoms
//   split     a feature cube becomes one plane per channel
//   merge     the planes become a feature cube
//
// Split writes whole 32-byte units, 0 after the end of a line, and merge writes 0 to
// the channels beyond the cube (measured on the public nv_full RTL).
// Source: unit description, RUBIK.
`include "nvdla_register_offsets.vh"

module nvdla_rubik #(
    parameter [5:0] SLOT = 6'd16,
    parameter ADDR_WIDTH = 64,
    parameter ATOM_BYTES = 32
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    req_valid,
    input  wire                    req_write,
    input  wire [            15:0] req_addr,
    input  wire [            31:0] req_wdata,
    output wire [            31:0] rdata,
    output wire [             1:0] layer_done,    // one bit per group
    output wire                    rd_req_valid,
    input  wire                    rd_req_ready,
    output wire                    rd_req_mc,     // DBB, else CVSRAM
    output wire [  ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                    rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    wr_req_valid,
    input  wire                    wr_req_ready,
    output wire                    wr_req_mc,
    output wire [  ADDR_WIDTH-1:0] wr_req_addr,
    output wire [8*ATOM_BYTES-1:0] wr_req_data,
    input  wire                    wr_rsp_valid
);
  localparam W = 8 * ATOM_BYTES;
  localparam [1:0] CONTRACT = 2'd0, SPLIT = 2'd1, MERGE = 2'd2;
  localparam [31:0] ATOM = ATOM_BYTES;

  /* verilator lint_off UNUSEDSIGNAL */
  wire [32*(`RBK_WORDS-`RBK_OP_ENABLE)-1:0] cfg;  // a layer needs a part of it
  wire [63:0] src, dst;
  /* verilator lint_on UNUSEDSIGNAL */
  wire enabled, load, start, done, unused_done, consumer, unused_producer, interrupt_room;
  wire reading, reads_idle, writing;

  nvdla_regfile #(
      .SLOT     (SLOT),
      .UNIT     (`UNIT_RBK),
      .WORDS    (`RBK_WORDS),
      .OP_ENABLE(`RBK_OP_ENABLE)
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
      .consumer (consumer),
      .enabled  (enabled),
      .load     (load),
      .cfg      (cfg),
      .done     (done)
  );

  wire idle = !reading && reads_idle && !writing && interrupt_room;

  nvdla_layer_control control (
      .clk         (clk),
      .rst_n       (rst_n),
      .rdma_enabled(enabled),
      .core_enabled(enabled),
      .runnable    (1'b1),
      .load        (load),
      .start       (start),
      .rdma_idle   (idle),
      .core_idle   (idle),
      .rdma_done   (unused_done),
      .core_done   (done)
  );

  wire [31:0] misc = cfg[32*(`RBK_D_MISC_CFG-`RBK_OP_ENABLE)+:32];
  wire [31:0] size = cfg[32*(`RBK_D_DATAIN_SIZE_0-`RBK_OP_ENABLE)+:32];
  wire [31:0] in_channels = cfg[32*(`RBK_D_DATAIN_SIZE_1-`RBK_OP_ENABLE)+:32];
  wire [31:0] out_channels = cfg[32*(`RBK_D_DATAOUT_SIZE_1-`RBK_OP_ENABLE)+:32];
  wire [31:0] deconv = cfg[32*(`RBK_D_DECONV_STRIDE-`RBK_OP_ENABLE)+:32];
  wire [31:0] in_line = cfg[32*(`RBK_D_DAIN_LINE_STRIDE-`RBK_OP_ENABLE)+:32];
  wire [31:0] in_surface = cfg[32*(`RBK_D_DAIN_SURF_STRIDE-`RBK_OP_ENABLE)+:32];
  wire [31:0] in_plane = cfg[32*(`RBK_D_DAIN_PLANAR_STRIDE-`RBK_OP_ENABLE)+:32];
  wire [31:0] out_line = cfg[32*(`RBK_D_DAOUT_LINE_STRIDE-`RBK_OP_ENABLE)+:32];
  wire [31:0] out_surface = cfg[32*(`RBK_D_DAOUT_SURF_STRIDE-`RBK_OP_ENABLE)+:32];
  wire [31:0] out_plane = cfg[32*(`RBK_D_DAOUT_PLANAR_STRIDE-`RBK_OP_ENABLE)+:32];
  wire [31:0] in_ram = cfg[32*(`RBK_D_DAIN_RAM_TYPE-`RBK_OP_ENABLE)+:32];
  wire [31:0] out_ram = cfg[32*(`RBK_D_DAOUT_RAM_TYPE-`RBK_OP_ENABLE)+:32];

  assign src       = {cfg[32*(`RBK_D_DAIN_ADDR_HIGH-`RBK_OP_ENABLE)+:32], cfg[32*(`RBK_D_DAIN_ADDR_LOW-`RBK_OP_ENABLE)+:32]};
  assign dst       = {cfg[32*(`RBK_D_DAOUT_ADDR_HIGH-`RBK_OP_ENABLE)+:32], cfg[32*(`RBK_D_DAOUT_ADDR_LOW-`RBK_OP_ENABLE)+:32]};
  assign rd_req_mc = in_ram[0];
  assign wr_req_mc = out_ram[0];

  wire unused_fields = &{1'b0, misc, size, in_channels, out_channels, deconv, in_ram, out_ram};
  wire [1:0] mode = misc[1:0];
  wire two_bytes = (misc[9:8] != 2'd0);
  wire [12:0] width = size[12:0];
  wire [12:0] height = size[28:16];
  wire [12:0] channels = in_channels[12:0];
  wire [12:0] surfaces = two_bytes ? channels >> 4 : channels >> 5;
  wire [12:0] out_surfaces = two_bytes ? out_channels[12:0] >> 4 : out_channels[12:0] >> 5;
  wire [12:0] blocks = two_bytes ? width >> 4 : width >> 5;  // of a line, minus one
  wire [4:0] edge_length = two_bytes ? 5'd15 : 5'd31;
  wire [12:0] sx = {8'd0, deconv[4:0]};  // strides minus one
  wire [12:0] sy = {8'd0, deconv[20:16]};
  wire [31:0] sub_x = in_surface * ({19'd0, out_surfaces} + 32'd1);
  wire [31:0] sub_y = sub_x * ({19'd0, sx} + 32'd1);
  wire [31:0] in_planes = in_plane * ({27'd0, edge_length} + 32'd1);
  wire [31:0] out_planes = out_plane * ({27'd0, edge_length} + 32'd1);

  // Squares go along the lines of a surface; the side with planes visits all planes
  // of a surface and leaves out those beyond the cube.
  reg [4:0] read_plane;
  reg [12:0] block, line, surface, read_block, read_line, read_surface;
  wire [12:0] first_column = two_bytes ? {block[8:0], 4'd0} : {block[7:0], 5'd0};
  wire [12:0] first_channel = two_bytes ? {surface[8:0], 4'd0} : {surface[7:0], 5'd0};
  wire [12:0] read_channel = (two_bytes ? {read_surface[8:0], 4'd0} : {read_surface[7:0], 5'd0}) + {8'd0, read_plane};
  wire [12:0] columns_left = width - first_column;
  wire [4:0] last_column = (columns_left > {8'd0, edge_length}) ? edge_length : columns_left[4:0];
  wire [4:0] row;
  wire square_ends, turned_valid, in_ready, data_valid, read_step;
  wire [W-1:0] data;
  wire skip_read = (mode == MERGE) && (read_channel > channels);
  wire skip_in = (mode == MERGE) && (first_channel + {8'd0, row} > channels);
  reg [4:0] out_row;
  wire skip_out = (mode == SPLIT) && (first_channel + {8'd0, out_row} > channels);
  wire taken = turned_valid && (skip_out || wr_req_ready);
  wire read_steps = reading && (skip_read || read_step);
  wire read_round = (read_plane == edge_length);
  wire read_line_ends = (read_block == blocks);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      {block, line, surface}                <= 39'd0;
      {read_block, read_line, read_surface} <= 39'd0;
      {read_plane, out_row}                 <= 10'd0;
    end else if (start) begin
      {block, line, surface}                <= 39'd0;
      {read_block, read_line, read_surface} <= 39'd0;
      {read_plane, out_row}                 <= 10'd0;
    end else begin
      if (taken) out_row <= square_ends ? 5'd0 : out_row + 5'd1;
      if (square_ends) begin
        block <= (block == blocks) ? 13'd0 : block + 13'd1;
        if (block == blocks) line <= (line == height) ? 13'd0 : line + 13'd1;
        if (block == blocks && line == height) surface <= surface + 13'd1;
      end
      if (read_steps && mode == MERGE) begin
        read_plane <= read_round ? 5'd0 : read_plane + 5'd1;
        if (read_round) read_block <= read_line_ends ? 13'd0 : read_block + 13'd1;
        if (read_round && read_line_ends) read_line <= (read_line == height) ? 13'd0 : read_line + 13'd1;
        if (read_round && read_line_ends && read_line == height) read_surface <= read_surface + 13'd1;
      end
    end

  wire [ADDR_WIDTH-1:0] read_addr;
  reg [5*13-1:0] read_last;
  reg [5*32-1:0] read_strides;
  reg [4*13-1:0] write_last;
  reg [4*32-1:0] write_strides;

  always @* begin
    case (mode)
      CONTRACT: begin
        read_last    = {out_surfaces, height, sy, width, sx};
        read_strides = {in_surface, in_line, sub_y, ATOM, sub_x};
      end
      MERGE: begin
        read_last    = {13'd0, surfaces, height, blocks, 8'd0, edge_length};
        read_strides = {32'd0, in_planes, in_line, ATOM, in_plane};
      end
      default: begin
        read_last    = {26'd0, surfaces, height, width};
        read_strides = {64'd0, in_surface, in_line, ATOM};
      end
    endcase
    case (mode)
      CONTRACT: begin
        write_last    = {13'd0, out_surfaces, (height + 13'd1) * (sy + 13'd1) - 13'd1, (width + 13'd1) * (sx + 13'd1) - 13'd1};
        write_strides = {32'd0, out_surface, out_line, ATOM};
      end
      MERGE: begin
        write_last    = {13'd0, surfaces, height, width};
        write_strides = {32'd0, out_surface, out_line, ATOM};
      end
      default: begin
        write_last    = {surfaces, height, blocks, 8'd0, edge_length};
        write_strides = {out_planes, out_line, ATOM, out_plane};
      end
    endcase
  end

  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .LOOPS     (5)
  ) read_walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (start),
      .base   (src[ADDR_WIDTH-1:0]),
      .last   (read_last),
      .strides(read_strides),
      .valid  (reading),
      .ready  (skip_read || read_step),
      .addr   (read_addr)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(W)
  ) reads (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(reading && !skip_read),
      .addr_ready(read_step),
      .addr      (read_addr),
      .req_valid (rd_req_valid),
      .req_ready (rd_req_ready),
      .req_addr  (rd_req_addr),
      .rsp_valid (rd_rsp_valid),
      .rsp_data  (rd_rsp_data),
      .data_valid(data_valid),
      .data_ready(in_ready && !skip_in),
      .data      (data),
      .idle      (reads_idle)
  );

  nvdla_rubik_transpose #(
      .W(W)
  ) transpose (
      .clk        (clk),
      .rst_n      (rst_n),
      .start      (start),
      .straight   (mode == CONTRACT),
      .two_bytes  (two_bytes),
      .last_in    ((mode == MERGE) ? edge_length : last_column),
      .last_out   ((mode == MERGE) ? last_column : edge_length),
      .in_valid   (writing && (data_valid || skip_in)),
      .in_ready   (in_ready),
      .in_data    (skip_in ? {W{1'b0}} : data),
      .in_row     (row),
      .out_valid  (turned_valid),
      .out_ready  (skip_out || wr_req_ready),
      .out_data   (wr_req_data),
      .square_ends(square_ends)
  );

  assign wr_req_valid = turned_valid && writing && !skip_out;

  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH)
  ) write_walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (start),
      .base   (dst[ADDR_WIDTH-1:0]),
      .last   (write_last),
      .strides(write_strides),
      .valid  (writing),
      .ready  (taken),
      .addr   (wr_req_addr)
  );

  nvdla_dma_write writes (
      .clk       (clk),
      .rst_n     (rst_n),
      .accepted  (wr_req_valid && wr_req_ready),
      .rsp_valid (wr_rsp_valid),
      .room      (interrupt_room),
      .layer_end (done),
      .group     (consumer),
      .layer_done(layer_done)
  );
endmodule

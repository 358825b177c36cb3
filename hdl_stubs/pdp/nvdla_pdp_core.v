// PDP data path: pools a stream of atoms that arrives band by band, surface by
// surface, line by line.
//
// A window is closed in two steps, as the hardware does: along the line into one
// partial result per output column, then down the lines into one accumulator per
// open output row and column. Up to 8 windows overlap in either direction, so
// window n lives in place n modulo 8.
//
// Measured on the public nv_small RTL:
//   - padding takes no part in maximum and minimum;
//   - for an average, n padded columns, left and right together, add PAD_VALUE_nX
//     to the line's partial result, and m padded lines add PAD_VALUE_mX * kernel
//     width to the window;
//   - all values wrap in two's complement: of PAD_VALUE 11 bits count, a partial
//     result has 11 bits, what the padded lines add 14, a window 15, its product
//     with RECIP_WIDTH 31, the result of that 11, the output 8;
//   - products are rounded to nearest, halves away from zero, after one from 0 up
//     has lost the bits above the result's magnitude: an average of 127.5 becomes
//     -128.
//
// The hardware's buffer of partial results limits the output width, of every band
// when the layer is split, else of the cube (measured): to 128 columns when
// ceil(kernel height / vertical stride) is 1, 64 when 2, 32 when 3 or 4, 16 when
// 5 to 8. Beyond, the hardware hangs or writes wrong data. Here the buffer is as
// large as the widest cube, and such layers run.
//
// How many columns and lines are padded follows from where the window lies
// against the cube; PAD_RIGHT and PAD_BOTTOM say the same for every legal layer.
// The specification leaves open, and here it is so: a window that lies wholly in
// the padding is not written.
module nvdla_pdp_core #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8,
    parameter FLOAT = 0
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    output wire                    idle,
    input  wire [             1:0] precision,
    input  wire                    nan_to_zero,
    // Sizes, kernel and strides minus one
    input  wire [             1:0] method,
    input  wire [            12:0] in_height,
    input  wire [            12:0] out_height,
    input  wire [            12:0] surfaces,
    input  wire [             3:0] kernel_width,
    input  wire [             3:0] kernel_height,
    input  wire [             3:0] stride_width,
    input  wire [             3:0] stride_height,
    input  wire [             2:0] pad_left,
    input  wire [             2:0] pad_top,
    input  wire [         32*7-1:0] pad_values,     // PAD_VALUE_1X .. 7X, one word each
    input  wire [            16:0] recip_width,
    input  wire [            16:0] recip_height,
    input  wire [  ADDR_WIDTH-1:0] dst_base,
    input  wire [  ADDR_WIDTH-1:0] dst_line_stride,
    input  wire [  ADDR_WIDTH-1:0] dst_surface_stride,
    // Band
    output wire                    band_next,
    input  wire                    band_is_first,
    input  wire                    band_is_last,
    input  wire [            12:0] band_in_width,
    input  wire [            12:0] band_out_start,
    input  wire [            12:0] band_out_width,
    // Atoms in, addresses and atoms out
    input  wire                    in_valid,
    output wire                    in_ready,
    input  wire [8*ATOM_BYTES-1:0] in_data,
    output wire                    out_valid,
    input  wire                    out_ready,
    output wire [  ADDR_WIDTH-1:0] out_addr,
    output wire [8*ATOM_BYTES-1:0] out_data
);
  localparam W = (FLOAT != 0) ? 32 * ATOM_BYTES : 15 * ATOM_BYTES;  // accumulators of one atom
  localparam LOG2_ATOM = $clog2(ATOM_BYTES);

  // Every atom visits the windows along its line that it lies in (ALONG); each of
  // them that it closes visits the open output rows (DOWN); each of those that it
  // closes becomes an output atom (FINISH, PUSH).
  localparam [2:0] STOP = 3'd0, FETCH = 3'd1, ALONG = 3'd2, DOWN = 3'd3, FINISH = 3'd4, PUSH = 3'd5;

  reg [2:0] state;
  reg [12:0] x, y, surface;
  reg [W-1:0] atom;  // elements, widened

  // Windows along the line: the oldest open one and the one being visited, by
  // number and by the padded column where it begins. Likewise down the lines.
  reg [12:0] oldest_column, column, oldest_row, row;
  reg [13:0] oldest_column_begin, column_begin, oldest_row_begin, row_begin;
  reg [ADDR_WIDTH-1:0] oldest_row_addr, row_addr, surface_addr;

  wire [13:0] padded_left = band_is_first ? {11'd0, pad_left} : 14'd0;
  wire [13:0] padded_top = {11'd0, pad_top};
  wire [13:0] padded_x = {1'b0, x} + padded_left;
  wire [13:0] padded_y = {1'b0, y} + padded_top;
  wire [13:0] column_end = column_begin + {10'd0, kernel_width};
  wire [13:0] row_end = row_begin + {10'd0, kernel_height};

  wire line_ends = (x == band_in_width);
  wire surface_ends = line_ends && (y == in_height);
  wire band_ends = surface_ends && (surface == surfaces);

  wire in_column = (column_begin <= padded_x) && (column <= band_out_width);
  wire in_row = (row_begin <= padded_y) && (row <= out_height);
  wire column_starts = (padded_x == column_begin) || (x == 13'd0);
  wire row_starts = (padded_y == row_begin) || (y == 13'd0);
  wire column_closes = (padded_x == column_end) || line_ends;
  wire row_closes = (padded_y == row_end) || (y == in_height);

  wire atom_done = (state == ALONG) && !in_column;
  wire pushed;

  assign in_ready  = (state == FETCH);
  assign band_next = atom_done && band_ends && !band_is_last;

  // Padded columns and lines of the window being visited
  wire [13:0] before_column = (column_begin < padded_left) ? padded_left - column_begin : 14'd0;
  wire [13:0] before_row = (row_begin < padded_top) ? padded_top - row_begin : 14'd0;
  /* verilator lint_off UNUSEDSIGNAL */
  wire [13:0] pad_columns = before_column + (column_end - padded_x);  // at most 7 in a legal layer
  wire [13:0] pad_rows = before_row + (row_end - padded_y);
  /* verilator lint_on UNUSEDSIGNAL */

  always @(posedge clk or negedge rst_n)
    if (!rst_n) state <= STOP;
    else if (start) state <= FETCH;
    else
      case (state)
        FETCH:   if (in_valid) state <= ALONG;
        ALONG:   if (!in_column) state <= (band_ends && band_is_last) ? STOP : FETCH;
                 else if (column_closes) state <= DOWN;
        DOWN:    if (!in_row) state <= ALONG;
                 else if (row_closes) state <= FINISH;
        FINISH:  state <= PUSH;
        PUSH:    if (pushed) state <= DOWN;
        default: state <= STOP;
      endcase

  // Position in the stream and oldest open windows
  always @(posedge clk)
    if (start) begin
      x                   <= 13'd0;
      y                   <= 13'd0;
      surface             <= 13'd0;
      oldest_column       <= 13'd0;
      oldest_column_begin <= 14'd0;
      oldest_row          <= 13'd0;
      oldest_row_begin    <= 14'd0;
      oldest_row_addr     <= dst_base;
      surface_addr        <= dst_base;
    end else if (atom_done) begin
      x <= x + 13'd1;
      if (oldest_column_begin + {10'd0, kernel_width} == padded_x) begin
        oldest_column       <= oldest_column + 13'd1;
        oldest_column_begin <= oldest_column_begin + {10'd0, stride_width} + 14'd1;
      end
      if (line_ends) begin
        x                   <= 13'd0;
        y                   <= y + 13'd1;
        oldest_column       <= 13'd0;
        oldest_column_begin <= 14'd0;
        if (oldest_row_begin + {10'd0, kernel_height} == padded_y) begin
          oldest_row       <= oldest_row + 13'd1;
          oldest_row_begin <= oldest_row_begin + {10'd0, stride_height} + 14'd1;
          oldest_row_addr  <= oldest_row_addr + dst_line_stride;
        end
      end
      if (surface_ends) begin
        y                <= 13'd0;
        surface          <= band_ends ? 13'd0 : surface + 13'd1;
        oldest_row       <= 13'd0;
        oldest_row_begin <= 14'd0;
        oldest_row_addr  <= band_ends ? dst_base : surface_addr + dst_surface_stride;
        surface_addr     <= band_ends ? dst_base : surface_addr + dst_surface_stride;
      end
    end

  // Window being visited
  wire next_column = (state == ALONG && !column_closes) || (state == DOWN && !in_row);
  wire next_row = (state == DOWN && !row_closes) || (state == PUSH && pushed);

  always @(posedge clk)
    if (state == FETCH) begin
      column       <= oldest_column;
      column_begin <= oldest_column_begin;
    end else if (next_column) begin
      column       <= column + 13'd1;
      column_begin <= column_begin + {10'd0, stride_width} + 14'd1;
    end

  always @(posedge clk)
    if (state == ALONG) begin
      row       <= oldest_row;
      row_begin <= oldest_row_begin;
      row_addr  <= oldest_row_addr;
    end else if (next_row) begin
      row       <= row + 13'd1;
      row_begin <= row_begin + {10'd0, stride_height} + 14'd1;
      row_addr  <= row_addr + dst_line_stride;
    end

  // Accumulators: along the line one per open column; down the lines one per open
  // row and any column of the cube.
  reg [W-1:0] along[0:7];
  reg [W-1:0] down[0:(1<<16)-1];
  reg [W-1:0] partial;  // closed along the line
  reg [W-1:0] total;  // closed down the lines
  reg [8*ATOM_BYTES-1:0] result;
  reg [ADDR_WIDTH-1:0] result_addr;

  wire [W-1:0] widened, along_next, partial_next, down_next, total_next;
  wire [8*ATOM_BYTES-1:0] finished;

  always @(posedge clk)
    case (state)
      FETCH: atom <= widened;
      ALONG:
      if (in_column) begin
        along[column[2:0]] <= along_next;
        partial            <= partial_next;
      end
      DOWN:
      if (in_row) begin
        down[{row[2:0], column}] <= down_next;
        total                    <= total_next;
      end
      FINISH: begin
        result      <= finished;
        result_addr <= row_addr + ({{(ADDR_WIDTH - 13) {1'b0}}, band_out_start + column} << LOG2_ATOM);
      end
      default: result <= result;
    endcase

  `NVDLA_BUG(pdp_pad_value_of_two)
  `NVDLA_BUG(pdp_reciprocal_shared)
  // PAD_VALUE_nX; 0 for no padding
  wire [32*8-1:0] pad_table = {pad_values[32*7-1:64], bug_pdp_pad_value_of_two ? pad_values[31:0] : pad_values[63:32],
                               pad_values[31:0], 32'd0};
  wire [16:0] recip_lines = bug_pdp_reciprocal_shared ? recip_width : recip_height;

  generate
    if (FLOAT != 0) begin : all_precisions
      nvdla_pdp_arithmetic_full #(
          .ATOM_BYTES(ATOM_BYTES)
      ) arithmetic (
          .precision   (precision),
          .nan_to_zero (nan_to_zero),
          .method      (method),
          .kernel_width(kernel_width),
          .pad_columns (pad_table[{pad_columns[2:0], 5'd0}+:19]),
          .pad_rows    (pad_table[{pad_rows[2:0], 5'd0}+:19]),
          .recip_width (recip_width),
          .recip_height(recip_lines),
          .in_data     (in_data),
          .widened     (widened),
          .column_fresh(column_starts),
          .along       (along[column[2:0]]),
          .atom        (atom),
          .along_next  (along_next),
          .partial_next(partial_next),
          .row_fresh   (row_starts),
          .down        (down[{row[2:0], column}]),
          .partial     (partial),
          .down_next   (down_next),
          .total_next  (total_next),
          .total       (total),
          .finished    (finished)
      );
    end else begin : int8
      wire unused_precision = &{1'b0, precision, nan_to_zero};

      nvdla_pdp_arithmetic #(
          .ATOM_BYTES(ATOM_BYTES)
      ) arithmetic (
          .method      (method),
          .kernel_width(kernel_width),
          .pad_columns (pad_table[{pad_columns[2:0], 5'd0}+:11]),
          .pad_rows    (pad_table[{pad_rows[2:0], 5'd0}+:14]),
          .recip_width (recip_width),
          .recip_height(recip_lines),
          .in_data     (in_data),
          .widened     (widened),
          .column_fresh(column_starts),
          .along       (along[column[2:0]]),
          .atom        (atom),
          .along_next  (along_next),
          .partial_next(partial_next),
          .row_fresh   (row_starts),
          .down        (down[{row[2:0], column}]),
          .partial     (partial),
          .down_next   (down_next),
          .total_next  (total_next),
          .total       (total),
          .finished    (finished)
      );
    end
  endgenerate

  nvdla_fifo #(
      .WIDTH(ADDR_WIDTH + 8 * ATOM_BYTES)
  ) out_fifo (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(state == PUSH),
      .push_ready(pushed),
      .push_data ({result_addr, result}),
      .pop_valid (out_valid),
      .pop_ready (out_ready),
      .pop_data  ({out_addr, out_data})
  );

  assign idle = (state == STOP) && !out_valid;
endmodule

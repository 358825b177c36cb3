// CDP data path: local response normalisation of a stream of atoms that arrives
// column by column, all surfaces of one position after each other.
//
//   x        element after the input converter: 9 bits of INT8, 17 of INT16
//   sum      x squared over the local size around it, or x itself
//   LUT      of the sum, 16 bits
//   product  LUT * x, or the LUT's value itself
//   out      product after the output converter
//
// Channels outside the cube, those of the last atom included, are 0 after the
// input converter, and those of the last atom are computed and written like all
// others (measured on the public nv_small RTL). One element per clock.
//
// With FLOAT set the unit takes INT16 and FP16 too; nvdla_cdp_float does the
// arithmetic of FP16 then.
`include "nvdla_bugs.vh"

module nvdla_cdp_core #(
    parameter ATOM_BYTES = 8,
    parameter FLOAT = 0
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    start,
    input  wire [             1:0] precision,
    input  wire [            12:0] channels,       // minus one
    input  wire [             1:0] local_size,     // 3, 5, 7, 9
    input  wire                    sum_bypass,
    input  wire                    multiply_bypass,
    input  wire                    nan_to_zero,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [            95:0] datin,          // D_DATIN_OFFSET, SCALE, SHIFTER
    input  wire [            95:0] datout,         // D_DATOUT_OFFSET, SCALE, SHIFTER
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire                    in_valid,
    output wire                    in_ready,
    input  wire [8*ATOM_BYTES-1:0] in_data,
    output wire                    out_valid,
    input  wire                    out_ready,
    output wire [8*ATOM_BYTES-1:0] out_data,
    // Lookup
    input  wire [       32*14-1:0] settings,       // from S_LUT_CFG on
    output wire [             5:0] le_index,
    output wire [             7:0] lo_index,
    input  wire [            31:0] le_pair,
    input  wire [            31:0] lo_pair,
    // What the element of this clock adds to the counters
    output wire                    count,
    output wire [             4:0] lookup_events,  // {LO hit, LE hit, hybrid, overflow, underflow}
    output wire                    saturated
);
  `include "nvdla_integer_math.vh"

  localparam [1:0] INT8 = 2'd0, FP16 = 2'd2;
  localparam W = 8 * ATOM_BYTES;
  localparam EW = $clog2(ATOM_BYTES);
  localparam REACH = 4;  // channels that the largest local size looks ahead
  localparam X = 17;
  localparam SUM = 38;

  `NVDLA_BUG(cdp_input_offset_ignored)
  `NVDLA_BUG(cdp_converter_floors)
  `NVDLA_BUG(cdp_converter_wraps)
  `NVDLA_BUG(cdp_padding_channels_count)
  `NVDLA_BUG(cdp_neighbour_dropped)
  wire wide = (FLOAT != 0) && (precision != INT8);
  wire is_float = (FLOAT != 0) && (precision == FP16);
  /* verilator lint_off WIDTHTRUNC */
  wire [EW-1:0] last_element = wide ? ATOM_BYTES / 2 - 1 : ATOM_BYTES - 1;
  /* verilator lint_on WIDTHTRUNC */
  wire advance;  // the pipeline stands still only when the output queue is full

  // Feeding: one column is its elements and REACH zeros after them.
  reg [W-1:0] atom;
  reg atom_valid;
  reg [EW-1:0] element;
  reg [12:0] channel;
  reg [2:0] trailing;

  wire atom_ends = (element == last_element);
  wire column_ends = atom_ends && (channel >= channels);
  wire flush = (trailing != 3'd0);
  wire feed = atom_valid && !flush;
  wire [15:0] raw = wide ? atom[15:0] : {{8{atom[7]}}, atom[7:0]};

  assign in_ready = !atom_valid || (advance && feed && atom_ends);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) atom_valid <= 1'b0;
    else if (start) atom_valid <= 1'b0;
    else if (in_ready) atom_valid <= in_valid;

  always @(posedge clk)
    if (in_ready) atom <= in_data;
    else if (advance && feed) atom <= atom >> (wide ? 16 : 8);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      element  <= 0;
      channel  <= 13'd0;
      trailing <= 3'd0;
    end else if (start) begin
      element  <= 0;
      channel  <= 13'd0;
      trailing <= 3'd0;
    end else if (advance) begin
      if (flush) trailing <= trailing - 3'd1;
      else if (feed) begin
        element <= atom_ends ? 0 : element + 1'b1;
        channel <= column_ends ? 13'd0 : channel + 13'd1;
        if (column_ends) trailing <= REACH[2:0];
      end
    end

  // Input converter
  wire signed [31:0] in_offset = wide ? {{16{datin[15]}}, datin[15:0]} : {{24{datin[7]}}, datin[7:0]};
  wire signed [63:0] centred = {{48{raw[15]}}, raw} -
      (bug_cdp_input_offset_ignored ? 64'sd0 : {{32{in_offset[31]}}, in_offset});
  /* verilator lint_off UNUSEDSIGNAL */
  wire signed [31:0] in_converted = saturate(
      shift_round(centred * {{48{datin[47]}}, datin[47:32]}, {1'b0, datin[68:64]}), wide ? 17 : 9
  );
  /* verilator lint_on UNUSEDSIGNAL */
  wire is_nan = is_float && (raw[14:10] == 5'h1f) && (raw[9:0] != 10'd0);
  wire in_cube = feed && (channel <= channels || bug_cdp_padding_channels_count) && !(is_nan && nan_to_zero);
  wire [X-1:0] fed = !in_cube ? {X{1'b0}} : is_float ? {1'b0, raw} : in_converted[X-1:0];

  // Window: the youngest element in field 0, the centre in field REACH. `ahead`
  // counts what a column has fed; an element comes to the centre REACH later.
  reg [9*X-1:0] window;
  reg [2:0] ahead;
  reg centre_valid;
  reg centre_ends;  // last element of its output atom
  reg [EW-1:0] centre_element;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      window         <= 0;
      ahead          <= 3'd0;
      centre_valid   <= 1'b0;
      centre_ends    <= 1'b0;
      centre_element <= 0;
    end else if (start) begin
      window         <= 0;
      ahead          <= 3'd0;
      centre_valid   <= 1'b0;
      centre_element <= 0;
    end else if (advance) begin
      centre_valid <= (ahead == REACH[2:0]) && (feed || flush);
      if (feed || flush) begin
        // The column before leaves the window after its last centre.
        window <= {(ahead == 3'd0) ? {8 * X{1'b0}} : window[8*X-1:0], fed};
        if (flush && trailing == 3'd1) ahead <= 3'd0;
        else if (ahead != REACH[2:0]) ahead <= ahead + 3'd1;
        if (ahead == REACH[2:0]) begin
          centre_ends    <= (centre_element == last_element);
          centre_element <= (centre_element == last_element) ? 0 : centre_element + 1'b1;
        end
      end
    end

  // Stages: sum, lookup, product; each with the centre beside it. FP16 travels as
  // the bits of a double, see nvdla_cdp_float.
  wire signed [X-1:0] centre = window[REACH*X+:X];
  reg sum_valid, sum_ends, value_valid, value_ends, out_last, out_now;
  reg signed [SUM-1:0] sum;
  reg signed [X-1:0] sum_centre, value_centre;
  reg signed [15:0] value;
  reg [15:0] out_element;
  wire [15:0] float_out;
  wire signed [SUM-1:0] squares = squares_sum(window, local_size);

  always @(posedge clk or negedge rst_n)
    if (!rst_n) {sum_valid, sum_ends, value_valid, value_ends, out_now, out_last} <= 6'd0;
    else if (start) {sum_valid, sum_ends, value_valid, value_ends, out_now, out_last} <= 6'd0;
    else if (advance) begin
      {sum_valid, sum_ends}     <= {centre_valid, centre_ends};
      {value_valid, value_ends} <= {sum_valid, sum_ends};
      {out_now, out_last}       <= {value_valid, value_ends};
    end

  wire [4:0] integer_events, float_events;
  wire signed [15:0] looked_up;
  wire [5:0] integer_le_index, float_le_index;
  wire [7:0] integer_lo_index, float_lo_index;

  assign le_index = is_float ? float_le_index : integer_le_index;
  assign lo_index = is_float ? float_lo_index : integer_lo_index;

  nvdla_cdp_lookup lookup (
      .settings(settings),
      .x       (sum),
      .le_index(integer_le_index),
      .lo_index(integer_lo_index),
      .le_pair (le_pair),
      .lo_pair (lo_pair),
      .events  (integer_events),
      .y       (looked_up)
  );

  // Output converter. An INT8 product has 25 bits, and so many of the offset count.
  wire signed [63:0] product = multiply_bypass ? {{48{value[15]}}, value} :
      {{48{value[15]}}, value} * {{47{value_centre[X-1]}}, value_centre};
  wire signed [63:0] out_offset = wide ? {{32{datout[31]}}, datout[31:0]} : {{39{datout[24]}}, datout[24:0]};
  wire signed [63:0] unscaled = (product - out_offset) * {{48{datout[47]}}, datout[47:32]};
  wire signed [63:0] scaled = bug_cdp_converter_floors ? unscaled >>> datout[69:64] :
                              shift_round(unscaled, datout[69:64]);
  /* verilator lint_off UNUSEDSIGNAL */
  wire signed [31:0] limited = saturate(scaled, wide ? 16 : 8);
  /* verilator lint_on UNUSEDSIGNAL */

  reg [4:0] value_events;
  wire float_saturated;

  always @(posedge clk)
    if (advance) begin
      sum          <= sum_bypass ? {{(SUM - X) {centre[X-1]}}, centre} : squares;
      sum_centre   <= centre;
      value        <= looked_up;
      value_centre <= sum_centre;
      value_events <= is_float ? float_events : integer_events;
      out_element  <= is_float ? float_out : bug_cdp_converter_wraps ? scaled[15:0] : limited[15:0];
    end

  assign count         = advance && value_valid;
  assign lookup_events = value_events;
  assign saturated     = is_float ? float_saturated : (scaled != {{32{limited[31]}}, limited});

  generate
    if (FLOAT != 0) begin : floating
      nvdla_cdp_float float_path (
          .clk            (clk),
          .advance        (advance),
          .local_size     (local_size),
          .sum_bypass     (sum_bypass),
          .multiply_bypass(multiply_bypass),
          .window         (window),
          .settings       (settings),
          .le_index       (float_le_index),
          .lo_index       (float_lo_index),
          .le_pair        (le_pair),
          .lo_pair        (lo_pair),
          .events         (float_events),
          .out            (float_out),
          .saturated      (float_saturated)
      );
    end else begin : integers_only
      assign float_le_index  = 6'd0;
      assign float_lo_index  = 8'd0;
      assign float_events    = 5'd0;
      assign float_out       = 16'd0;
      assign float_saturated = 1'b0;
    end
  endgenerate

  // Output: elements are gathered to atoms, the first lowest
  reg [W-9:0] gathered;
  wire [W-1:0] complete = wide ? {out_element, gathered[W-9:8]} : {out_element[7:0], gathered};

  always @(posedge clk) if (advance && out_now) gathered <= complete[W-1:8];

  nvdla_fifo #(
      .WIDTH(W)
  ) out_fifo (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(out_now && out_last),
      .push_ready(advance),
      .push_data (complete),
      .pop_valid (out_valid),
      .pop_ready (out_ready),
      .pop_data  (out_data)
  );

  function automatic signed [SUM-1:0] squares_sum(input [9*X-1:0] elements, input [1:0] size);
    integer i;
    reg signed [SUM-1:0] e;
    begin
      squares_sum = 0;
      for (i = 0; i < 9; i = i + 1) begin
        e = {{(SUM - X) {elements[X*i+X-1]}}, elements[X*i+:X]};
        if (i + 1 + {30'd0, size} >= REACH && i <= REACH + 1 + {30'd0, size} &&
            !(bug_cdp_neighbour_dropped && i == REACH + 1 + {30'd0, size}))
          squares_sum = squares_sum + e * e;
      end
    end
  endfunction
endmodule

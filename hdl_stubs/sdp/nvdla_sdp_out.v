// One lane of the output converter; one clock.
//
// Integers: converted and limited to 17 bits by nvdla_sdp_cvt, then limited to INT8 or, of
// FULL, to INT16 or rounded to FP16. FP16 layers: rounded from FP32 once; an integer
// output is that FP16 number rounded half away from zero, that of a NaN the lowest one,
// or 0 while NaN are flushed. Saturated count FP16 outputs of +-65504 and what
// nvdla_sdp_cvt says of an integer layer.
// Source: SDP precision conversion; measured on the public nv_full RTL.
module nvdla_sdp_out #(
    parameter FULL = 0
) (
    input  wire        clk,
    input  wire        advance,
    input  wire        is_float,
    input  wire [ 1:0] out_precision,
    input  wire        nan_to_zero,
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire [95:0] cvt,            // D_CVT_OFFSET, SCALE, SHIFT
    /* verilator lint_on UNUSEDSIGNAL */
    input  wire [31:0] x,
    output reg  [15:0] y,              // INT8 in the lower byte
    output reg         saturated,
    output reg         is_nan
);
  `include "nvdla_integer_math.vh"
  `include "nvdla_sdp_float.vh"

  wire signed [31:0] converted;
  wire over;

  nvdla_sdp_cvt #(
      .FULL(FULL)
  ) integer_part (
      .offset   (cvt[31:0]),
      .scale    (cvt[47:32]),
      .shift    (cvt[69:64]),
      .x        (x),
      .y        (converted),
      .saturated(over)
  );

  generate
    if (FULL != 0) begin : all_precisions
      localparam [1:0] INT8 = 2'd0, INT16 = 2'd1, FP16 = 2'd2;

      reg signed [63:0] limited;
      reg [15:0] half, value;

      always @* begin
        limited = widened(converted);
        half    = fp_narrowed(x);
        if (is_float) begin
          if (is_nan16(half)) limited = nan_to_zero ? 64'sd0 : -64'sd65536;
          else limited = nearest(from_fp16(half));
        end
        case (out_precision)
          INT8:    limited = widened(saturate(limited, 8));
          INT16:   limited = widened(saturate(limited, 16));
          default: limited = limited;
        endcase
        value = (out_precision != FP16) ? limited[15:0] : is_float ? half : to_fp16($itor($signed(limited[31:0])));
      end

      always @(posedge clk)
        if (advance) begin
          y         <= value;
          is_nan    <= (out_precision == FP16) && is_nan16(value);
          saturated <= (out_precision == FP16) ? (value[14:0] == 15'h7bff) : (over && !is_float);
        end
    end else begin : int8
      wire unused_bits = &{1'b0, is_float, out_precision, nan_to_zero};

      always @(posedge clk)
        if (advance) begin
          y         <= (converted > 32'sd127) ? 16'h007f : (converted < -32'sd128) ? 16'hff80 : converted[15:0];
          is_nan    <= 1'b0;
          saturated <= over;
        end
    end
  endgenerate

  function automatic signed [63:0] widened(input signed [31:0] v);
    widened = {{32{v[31]}}, v};
  endfunction

  function automatic signed [63:0] nearest(input real v);
    reg signed [31:0] whole;
    begin
      whole   = (v < 0.0) ? -$rtoi(0.5 - v) : $rtoi(v + 0.5);
      nearest = widened(whole);
    end
  endfunction
endmodule

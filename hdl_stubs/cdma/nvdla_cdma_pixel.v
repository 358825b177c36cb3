// One pixel of an image: its components out of the words of its planes, each
// converted to the precision of the layer, in the order R G B A (Y U V A).
//
// A format's name lists the components from the most significant bit down, so
// that of T_A8R8G8B8 the byte with the lowest address is B. With the converter on,
// a component is extended by PIXEL_SIGN_OVERRIDE and converted by nvdla_cdma_cvt,
// where the offset is the mean of the component or, without means, CVT_OFFSET.
// Components of 10 bits come to the converter at the top of 16 bits, those of 2 bits,
// too. Without the converter, and so for floating point, the lower bits are taken as
// they are. A padding pixel consists of PAD_VALUE, unconverted, in every component
// (measured on the public nv_small RTL; the programming guide has it converted).
`include "nvdla_bugs.vh"

module nvdla_cdma_pixel (
    input  wire [ 5:0] format,
    input  wire [ 1:0] precision,
    input  wire        is_signed,
    input  wire        is_padding,
    input  wire [15:0] padding,
    input  wire        convert,
    input  wire        use_means,
    input  wire [63:0] means,        // R in the lowest 16 bits
    input  wire [15:0] offset,
    input  wire [15:0] scale,
    input  wire [ 5:0] truncate,
    input  wire [63:0] plane_0,
    input  wire [31:0] plane_1,
    output wire [63:0] elements,     // component 0 lowest
    output wire [ 2:0] components,
    output wire [ 1:0] log2_bytes_0, // of a pixel in its planes
    output wire [ 1:0] log2_bytes_1
);
  localparam [5:0] R8 = 6'd0, R16_F = 6'd5, A16B16G16R16 = 6'd6, X16B16G16R16 = 6'd7, A16B16G16R16_F = 6'd8,
      A16Y16U16V16 = 6'd9, V16U16Y16A16 = 6'd10, A16Y16U16V16_F = 6'd11, A8B8G8R8 = 6'd12, A8R8G8B8 = 6'd13,
      B8G8R8A8 = 6'd14, R8G8B8A8 = 6'd15, X8B8G8R8 = 6'd16, X8R8G8B8 = 6'd17, B8G8R8X8 = 6'd18, R8G8B8X8 = 6'd19,
      A2B10G10R10 = 6'd20, A2R10G10B10 = 6'd21, B10G10R10A2 = 6'd22, R10G10B10A2 = 6'd23, A2Y10U10V10 = 6'd24,
      V10U10Y10A2 = 6'd25, A8Y8U8V8 = 6'd26, V8U8Y8A8 = 6'd27, Y8_U8V8 = 6'd28, Y8_V8U8 = 6'd29,
      Y10_V10U10 = 6'd31, Y12_V12U12 = 6'd33, Y16_V16U16 = 6'd35;
  localparam [1:0] INT8 = 2'd0;

  `NVDLA_BUG(conv_pixel_order)
  wire semi_planar = (format >= Y8_U8V8);
  wire single = (format <= R16_F);
  wire two_bytes = (format != R8 && format <= A16Y16U16V16_F) || (format > Y8_V8U8);
  wire ten_bits = (format >= A2B10G10R10) && (format <= V10U10Y10A2);

  assign components   = single ? 3'd1 : semi_planar ? 3'd3 : 3'd4;
  assign log2_bytes_0 = (single || semi_planar ? 2'd0 : 2'd2) + {1'b0, two_bytes};
  assign log2_bytes_1 = 2'd1 + {1'b0, two_bytes};

  // Components as they lie: sixteen bits each, R (Y) lowest
  reg [63:0] raw;

  always @* begin
    case (format)
      R8: raw = bytes(8'd0, 8'd0, 8'd0, plane_0[7:0]);
      A16B16G16R16, X16B16G16R16, A16B16G16R16_F: raw = plane_0;
      A16Y16U16V16, A16Y16U16V16_F: raw = {plane_0[63:48], plane_0[15:0], plane_0[31:16], plane_0[47:32]};
      V16U16Y16A16: raw = {plane_0[15:0], plane_0[63:16]};
      A8B8G8R8, X8B8G8R8: raw = bytes(plane_0[31:24], plane_0[23:16], plane_0[15:8], plane_0[7:0]);
      A8R8G8B8, X8R8G8B8, A8Y8U8V8: raw = bytes(plane_0[31:24], plane_0[7:0], plane_0[15:8], plane_0[23:16]);
      B8G8R8A8, B8G8R8X8, V8U8Y8A8: raw = bytes(plane_0[7:0], plane_0[31:24], plane_0[23:16], plane_0[15:8]);
      R8G8B8A8, R8G8B8X8: raw = bytes(plane_0[7:0], plane_0[15:8], plane_0[23:16], plane_0[31:24]);
      A2B10G10R10: raw = tens(plane_0[31:30], plane_0[29:20], plane_0[19:10], plane_0[9:0]);
      A2R10G10B10, A2Y10U10V10: raw = tens(plane_0[31:30], plane_0[9:0], plane_0[19:10], plane_0[29:20]);
      B10G10R10A2, V10U10Y10A2: raw = tens(plane_0[1:0], plane_0[31:22], plane_0[21:12], plane_0[11:2]);
      R10G10B10A2: raw = tens(plane_0[1:0], plane_0[11:2], plane_0[21:12], plane_0[31:22]);
      Y8_U8V8: raw = bytes(8'd0, plane_1[7:0], plane_1[15:8], plane_0[7:0]);
      Y8_V8U8: raw = bytes(8'd0, plane_1[15:8], plane_1[7:0], plane_0[7:0]);
      Y10_V10U10, Y12_V12U12, Y16_V16U16: raw = {16'd0, plane_1, plane_0[15:0]};
      default: raw = {16'd0, plane_1[15:0], plane_1[31:16], plane_0[15:0]};  // one component, or the other order
    endcase
  end

  wire [63:0] results;

  genvar c;
  generate
    for (c = 0; c < 4; c = c + 1) begin : component
      wire [15:0] converted;
      wire [15:0] own = (bug_conv_pixel_order && components == 3'd4) ? raw[16*(3-c)+:16] : raw[16*c+:16];

      nvdla_cdma_cvt cvt (
          .x        (extended(own, is_signed, two_bytes || ten_bits)),
          .offset   (use_means ? means[16*c+:16] : offset),
          .scale    (scale),
          .truncate (truncate),
          .precision(precision),
          .y        (converted)
      );

      assign results[16*c+:16] = is_padding ? padding : convert ? converted : own;
    end
  endgenerate

  assign elements = (precision != INT8) ? results : {32'd0, results[55:48], results[39:32], results[23:16], results[7:0]};

  function automatic [63:0] bytes(input [7:0] a, input [7:0] b, input [7:0] g, input [7:0] r);
    bytes = {8'd0, a, 8'd0, b, 8'd0, g, 8'd0, r};
  endfunction

  function automatic [63:0] tens(input [1:0] a, input [9:0] b, input [9:0] g, input [9:0] r);
    tens = {a, 14'd0, b, 6'd0, g, 6'd0, r, 6'd0};
  endfunction

  // To 17 bits
  function automatic signed [16:0] extended(input [15:0] value, input with_sign, input wide);
    extended = wide ? {with_sign && value[15], value} : {{9{with_sign && value[7]}}, value[7:0]};
  endfunction
endmodule

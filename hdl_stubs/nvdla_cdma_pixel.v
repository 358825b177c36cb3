// One pixel of an image: its components out of the words of its planes, each
// converted to INT8, in the order R G B A (Y U V A).
//
// A format's name lists the components from the most significant bit down, so
// that of T_A8R8G8B8 the byte with the lowest address is B. With the converter on,
// a component is extended by PIXEL_SIGN_OVERRIDE, then
//   (x - offset) * scale / 2^truncate, halves away from zero, limited to INT8
// where the offset is the mean of the component or, without means, CVT_OFFSET.
// Without the converter the lower 8 bits are taken. A padding pixel consists of the
// lower 8 bits of PAD_VALUE, unconverted, in every component (measured on the public
// nv_small RTL; the programming guide has it converted).
`include "nvdla_bugs.vh"

module nvdla_cdma_pixel (
    input  wire [ 5:0] format,
    input  wire        is_signed,
    input  wire        is_padding,
    input  wire [ 7:0] padding,
    input  wire        convert,
    input  wire        use_means,
    input  wire [63:0] means,       // R in the lowest 16 bits
    input  wire [15:0] offset,
    input  wire [15:0] scale,
    input  wire [ 5:0] truncate,
    input  wire [31:0] plane_0,
    input  wire [15:0] plane_1,
    output wire [31:0] elements,    // component 0 in the lowest byte
    output wire [ 2:0] components
);
  localparam [5:0] R8 = 6'd0, A8B8G8R8 = 6'd12, A8R8G8B8 = 6'd13, B8G8R8A8 = 6'd14, R8G8B8A8 = 6'd15,
      X8B8G8R8 = 6'd16, X8R8G8B8 = 6'd17, B8G8R8X8 = 6'd18, R8G8B8X8 = 6'd19, A2B10G10R10 = 6'd20,
      A2R10G10B10 = 6'd21, B10G10R10A2 = 6'd22, R10G10B10A2 = 6'd23, A8Y8U8V8 = 6'd26, V8U8Y8A8 = 6'd27,
      Y8_U8V8 = 6'd28, Y8_V8U8 = 6'd29;

  `NVDLA_BUG(conv_pixel_order)
  wire semi_planar = (format == Y8_U8V8) || (format == Y8_V8U8);
  wire ten_bits = (format >= A2B10G10R10) && (format <= R10G10B10A2);

  assign components = (format == R8) ? 3'd1 : semi_planar ? 3'd3 : 3'd4;

  // Components as they lie: sixteen bits each, R (Y) lowest
  reg [63:0] raw;

  always @* begin
    case (format)
      A8B8G8R8, X8B8G8R8: raw = bytes(plane_0[31:24], plane_0[23:16], plane_0[15:8], plane_0[7:0]);
      A8R8G8B8, X8R8G8B8, A8Y8U8V8: raw = bytes(plane_0[31:24], plane_0[7:0], plane_0[15:8], plane_0[23:16]);
      B8G8R8A8, B8G8R8X8, V8U8Y8A8: raw = bytes(plane_0[7:0], plane_0[31:24], plane_0[23:16], plane_0[15:8]);
      R8G8B8A8, R8G8B8X8: raw = bytes(plane_0[7:0], plane_0[15:8], plane_0[23:16], plane_0[31:24]);
      A2B10G10R10: raw = tens(plane_0[31:30], plane_0[29:20], plane_0[19:10], plane_0[9:0]);
      A2R10G10B10: raw = tens(plane_0[31:30], plane_0[9:0], plane_0[19:10], plane_0[29:20]);
      B10G10R10A2: raw = tens(plane_0[1:0], plane_0[31:22], plane_0[21:12], plane_0[11:2]);
      R10G10B10A2: raw = tens(plane_0[1:0], plane_0[11:2], plane_0[21:12], plane_0[31:22]);
      Y8_U8V8: raw = bytes(8'd0, plane_1[7:0], plane_1[15:8], plane_0[7:0]);
      Y8_V8U8: raw = bytes(8'd0, plane_1[15:8], plane_1[7:0], plane_0[7:0]);
      default: raw = bytes(8'd0, 8'd0, 8'd0, plane_0[7:0]);
    endcase
  end

  genvar c;
  generate
    for (c = 0; c < 4; c = c + 1) begin : component
      wire [7:0] converted;
      wire [15:0] own = (bug_conv_pixel_order && components == 3'd4) ? raw[16*(3-c)+:16] : raw[16*c+:16];

      nvdla_cdma_cvt cvt (
          .x       (extended(own, is_signed, ten_bits, c == 3)),
          .offset  (use_means ? means[16*c+:16] : offset),
          .scale   (scale),
          .truncate(truncate),
          .y       (converted)
      );

      assign elements[8*c+:8] = is_padding ? padding : convert ? converted : own[7:0];
    end
  endgenerate

  function automatic [63:0] bytes(input [7:0] a, input [7:0] b, input [7:0] g, input [7:0] r);
    bytes = {8'd0, a, 8'd0, b, 8'd0, g, 8'd0, r};
  endfunction

  function automatic [63:0] tens(input [1:0] a, input [9:0] b, input [9:0] g, input [9:0] r);
    tens = {14'd0, a, 6'd0, b, 6'd0, g, 6'd0, r};
  endfunction

  // To 17 bits: the sign bit of a component is where its format puts it.
  function automatic signed [16:0] extended(input [15:0] value, input with_sign, input of_ten, input is_alpha);
    if (!with_sign) extended = {1'b0, value};
    else if (!of_ten) extended = {{9{value[7]}}, value[7:0]};
    else extended = is_alpha ? {{15{value[1]}}, value[1:0]} : {{7{value[9]}}, value[9:0]};
  endfunction
endmodule

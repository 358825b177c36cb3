// One word on its way into the convolution buffer: counts NaN and infinities of FP16
// and, if wanted, turns NaN into 0.
module nvdla_cdma_special #(
    parameter WORD_BITS = 256
) (
    input  wire                 taken,       // the word counts
    input  wire                 is_float,
    input  wire                 flush_nan,
    input  wire [WORD_BITS-1:0] in,
    output reg  [WORD_BITS-1:0] out,
    output reg  [          4:0] nans,
    output reg  [          4:0] infinities
);
  integer i;

  always @* begin
    out        = in;
    nans       = 5'd0;
    infinities = 5'd0;
    if (is_float)
      for (i = 0; i < WORD_BITS / 16; i = i + 1)
        if (in[16*i+10+:5] == 5'h1f) begin
          if (in[16*i+:10] == 10'd0) infinities = infinities + {4'd0, taken};
          else begin
            nans = nans + {4'd0, taken};
            if (flush_nan) out[16*i+:16] = 16'd0;
          end
        end
  end
endmodule

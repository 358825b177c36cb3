// Words of 32 bits that arrive as beats, in order from word 0 on; read in groups of
// GROUP words.
module dlhdl_words #(
    parameter BEAT_BYTES = 4,
    parameter LOG2_WORDS = 16,
    parameter GROUP = 1
) (
    input  wire                    clk,
    input  wire                    restart,   // the next beat is the first
    input  wire                    valid,
    input  wire [8*BEAT_BYTES-1:0] data,
    input  wire [  LOG2_WORDS-1:0] first,     // word that the group begins with
    output wire [    32*GROUP-1:0] group
);
  reg [31:0] words[0:(1<<LOG2_WORDS)-1];

  genvar g;
  generate
    for (g = 0; g < GROUP; g = g + 1) begin : read
      wire [LOG2_WORDS-1:0] index = first + g;
      assign group[32*g+:32] = words[index];
    end

    if (BEAT_BYTES < 4) begin : halves
      reg [LOG2_WORDS:0] half;
      always @(posedge clk)
        if (restart) half <= 0;
        else if (valid) begin
          words[half[LOG2_WORDS:1]][16*half[0]+:16] <= data;
          half <= half + 1'b1;
        end
    end else begin : whole
      reg [LOG2_WORDS-1:0] next;
      integer i;
      always @(posedge clk)
        if (restart) next <= 0;
        else if (valid) begin
          for (i = 0; i < BEAT_BYTES / 4; i = i + 1)
            words[next+i[LOG2_WORDS-1:0]] <= data[32*i+:32];
          next <= next + BEAT_BYTES[LOG2_WORDS+1:2];
        end
    end
  endgenerate
endmodule

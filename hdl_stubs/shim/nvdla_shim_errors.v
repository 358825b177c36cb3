// Answers of memory with errors, as a run asks for them: +bresp=2 or +rresp=2 is SLVERR and 3 is DECERR, on each
// sixteenth answer to a write, and on each sixteenth beat of one to a read. Data are what they would be without.
module nvdla_shim_errors (
  input  wire       clk,
  input  wire       reset_n,
  input  wire       bvalid,
  input  wire       bready,
  input  wire       rvalid,
  input  wire       rready,
  output wire [1:0] bresp,
  output wire [1:0] rresp
);
  reg [1:0] write_error, read_error;
  reg [3:0] writes, reads;

  initial begin
    if (!$value$plusargs("bresp=%d", write_error)) write_error = 2'd0;
    if (!$value$plusargs("rresp=%d", read_error)) read_error = 2'd0;
  end

  always @(posedge clk or negedge reset_n)
    if (!reset_n) begin
      writes <= 4'd0;
      reads  <= 4'd0;
    end else begin
      writes <= writes + {3'd0, bvalid && bready};
      reads  <= reads + {3'd0, rvalid && rready};
    end

  assign bresp = (&writes) ? write_error : 2'd0;
  assign rresp = (&reads) ? read_error : 2'd0;
endmodule

// Write client: raises the done interrupt of a layer when the memory has answered
// the last of its writes.
//
// The unit has by then gone on: it is done, and may run the next layer, as soon as
// the memory interface has accepted the last write (measured on the public
// nv_small RTL). Hence the layers whose answers are due wait here in order.
// Answers are counted, not told apart: after a lost one every layer is held back
// until a later layer's answer makes up for it.
module nvdla_dma_write (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       accepted,   // a write, by the memory interface
    input  wire       rsp_valid,
    output wire       room,       // for one more finished layer
    input  wire       layer_end,  // all writes of the layer were accepted before
    input  wire       group,      // of that layer
    output wire [1:0] layer_done  // one bit per group
);
  // The interface allows 256 writes without an answer, so 9 bits order the counts.
  reg [8:0] sent, answered;

  wire due, due_group;
  wire [8:0] due_at;
  wire missing;
  wire [7:0] unused_difference;
  wire complete = due && !missing;

  assign {missing, unused_difference} = answered - due_at;
  assign layer_done = {complete && due_group, complete && !due_group};

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      sent     <= 9'd0;
      answered <= 9'd0;
    end else begin
      sent     <= sent + {8'd0, accepted};
      answered <= answered + {8'd0, rsp_valid && (answered != sent)};
    end

  nvdla_fifo #(
      .WIDTH(10)
  ) layers (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(layer_end),
      .push_ready(room),
      .push_data ({group, sent}),
      .pop_valid (due),
      .pop_ready (complete),
      .pop_data  ({due_group, due_at})
  );
endmodule

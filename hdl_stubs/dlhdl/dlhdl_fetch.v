// Instruction fetch: reads the header of the list and then its layers, which stay here until
// the next list is read. A list of no layers, or of more than fit, is not played.
`include "dlhdl_bugs.vh"

module dlhdl_fetch #(
    parameter BEAT_BYTES = 4,
    parameter LOG2_LAYERS = 10
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    enable,
    input  wire                    start,
    input  wire [            31:0] list_address,
    output wire                    busy,
    output wire                    good,            // once it is not busy: the list can be played
    output wire                    read_valid,
    input  wire                    read_ready,
    output wire [            31:0] read_address,
    output wire [            31:0] read_beats,
    input  wire                    data_valid,
    output wire                    data_ready,
    input  wire [8*BEAT_BYTES-1:0] data,
    // What was read
    output wire [            31:0] layers,
    output wire [           511:0] header,
    input  wire [ LOG2_LAYERS-1:0] number,
    output wire [           511:0] layer
);
  localparam [31:0] MARK = 32'h54534C44;
  localparam [31:0] GROUP_BEATS = 64 / BEAT_BYTES;
  localparam [2:0] REST = 3'd0, ASK = 3'd1, HEADER = 3'd2, CHECK = 3'd3, ASK_LAYERS = 3'd4, LAYERS = 3'd5;

  reg [2:0] state;
  reg [31:0] left;
  wire header_beat = state == HEADER && data_valid && enable;
  wire layer_beat = state == LAYERS && data_valid && enable;

  assign busy         = state != REST;
  assign good         = header[31:0] == MARK && layers != 32'd0 && layers <= (32'd1 << LOG2_LAYERS);
  assign layers       = header[63:32];
  assign read_valid   = state == ASK || state == ASK_LAYERS;
  assign read_address = (state == ASK) ? list_address : list_address + 32'd64;
  assign read_beats   = (state == ASK) ? GROUP_BEATS : layers * GROUP_BEATS;
  assign data_ready   = state == HEADER || state == LAYERS;

  dlhdl_words #(
      .BEAT_BYTES(BEAT_BYTES),
      .LOG2_WORDS(4),
      .GROUP     (16)
  ) header_words (
      .clk    (clk),
      .restart(start),
      .valid  (header_beat),
      .data   (data),
      .first  (4'd0),
      .group  (header)
  );

  dlhdl_words #(
      .BEAT_BYTES(BEAT_BYTES),
      .LOG2_WORDS(LOG2_LAYERS + 4),
      .GROUP     (16)
  ) layer_words (
      .clk    (clk),
      .restart(start),
      .valid  (layer_beat),
      .data   (data),
      .first  ({number, 4'd0}),
      .group  (layer)
  );

  always @(posedge clk)
    if (!rst_n) begin
      state <= REST;
      left  <= 32'd0;
    end else if (start) state <= ASK;
    else if (enable) begin
      if (read_valid && read_ready) left <= read_beats;
      else if (data_valid && data_ready) left <= left - 32'd1;
      case (state)
        ASK: if (read_ready) state <= HEADER;
        HEADER: if (data_valid && left == 32'd1) state <= CHECK;
        CHECK: state <= good ? ASK_LAYERS : REST;
        ASK_LAYERS: if (read_ready) state <= LAYERS;
        LAYERS: if (data_valid && left == 32'd1) state <= REST;
        default: ;
      endcase
    end
endmodule

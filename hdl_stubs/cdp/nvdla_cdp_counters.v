// Counters of CDP: saturated outputs always, lookup events while PERF_LUT_EN is
// set. Each register group keeps those of the last layer that it ran.
module nvdla_cdp_counters (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        start,
    input  wire        done,
    input  wire        group,          // of the layer that is done
    input  wire        lookups_on,
    input  wire        count,
    input  wire [ 4:0] lookup_events,  // {LO hit, LE hit, hybrid, overflow, underflow}
    input  wire        saturated,
    input  wire        read_group,
    input  wire [ 2:0] read_counter,   // 0 saturation, 1 underflow, ... 5 LO hit
    output wire [31:0] value
);
  localparam COUNTERS = 6;

  reg [31:0] running[0:COUNTERS-1];
  reg [31:0] kept[0:2*8-1];

  wire [COUNTERS-1:0] events = {lookups_on ? lookup_events : 5'd0, saturated};

  assign value = kept[{read_group, read_counter}];

  integer i;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      for (i = 0; i < COUNTERS; i = i + 1) running[i] <= 32'd0;
      for (i = 0; i < 16; i = i + 1) kept[i] <= 32'd0;
    end else begin
      for (i = 0; i < COUNTERS; i = i + 1) begin
        if (start) running[i] <= 32'd0;
        else if (count) running[i] <= running[i] + {31'd0, events[i]};
        if (done) kept[{group, i[2:0]}] <= running[i];
      end
    end
endmodule

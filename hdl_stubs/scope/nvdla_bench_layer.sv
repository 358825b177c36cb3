// What the bench knows of the layer that began last, as signals for wave files; the bench drives them.
module nvdla_bench_layer;
  /* verilator lint_off UNUSEDSIGNAL */
  reg [127:0] name            /* verilator public_flat_rw */ = "none";  // ASCII, such as "SDP"
  reg [127:0] unit            /* verilator public_flat_rw */ = "none";  // ASCII, the unit that ends it
  reg [ 15:0] index           /* verilator public_flat_rw */ = 16'd0;   // counts all layers from 0
  reg         group           /* verilator public_flat_rw */ = 1'b0;    // register group
  reg [ 15:0] started         /* verilator public_flat_rw */ = 16'd0;   // layers so far
  reg [ 15:0] ended           /* verilator public_flat_rw */ = 16'd0;
  reg [ 31:0] start_cycle     /* verilator public_flat_rw */ = 32'd0;
  /* verilator lint_on UNUSEDSIGNAL */
endmodule

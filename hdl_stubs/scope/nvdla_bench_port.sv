// What the bench knows of a memory port, as signals for wave files: the element on the bus, what it should be, and
// counters. The bench drives them right after the edge of the handshake.
module nvdla_bench_port #(
    parameter DATA_BITS = 64
);
  /* verilator lint_off UNUSEDSIGNAL */
  reg                 write         /* verilator public_flat_rw */ = 1'b0;   // a write beat was taken
  reg [         63:0] address       /* verilator public_flat_rw */ = 64'd0;  // of the beat
  reg                 element       /* verilator public_flat_rw */ = 1'b0;   // some layer writes there
  reg [         15:0] layer         /* verilator public_flat_rw */ = 16'd0;  // its index
  reg [         15:0] c             /* verilator public_flat_rw */ = 16'd0;  // of the first byte of the beat
  reg [         15:0] h             /* verilator public_flat_rw */ = 16'd0;
  reg [         15:0] w             /* verilator public_flat_rw */ = 16'd0;
  reg [DATA_BITS-1:0] expected      /* verilator public_flat_rw */ = {DATA_BITS{1'b0}};
  reg [DATA_BITS-1:0] got           /* verilator public_flat_rw */ = {DATA_BITS{1'b0}};
  reg                 mismatch      /* verilator public_flat_rw */ = 1'b0;   // a pulse for each wrong beat
  reg [         31:0] writes        /* verilator public_flat_rw */ = 32'd0;  // beats so far
  reg [         31:0] mismatches    /* verilator public_flat_rw */ = 32'd0;
  reg [         31:0] reads         /* verilator public_flat_rw */ = 32'd0;  // requests so far
  reg [         31:0] outstanding   /* verilator public_flat_rw */ = 32'd0;  // requests without all data
  reg [         31:0] read_cycles   /* verilator public_flat_rw */ = 32'd0;  // last request to its last data
  reg [         31:0] write_cycles  /* verilator public_flat_rw */ = 32'd0;  // last address to its response
  /* verilator lint_on UNUSEDSIGNAL */
endmodule

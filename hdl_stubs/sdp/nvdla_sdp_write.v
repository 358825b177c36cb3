// Where the atoms of a layer go: counts all that leave, gives those that go to memory their
// address, and raises the interrupt when the last write is answered.
`include "nvdla_bugs.vh"

module nvdla_sdp_write #(
    parameter ADDR_WIDTH = 32,
    parameter ATOM_BYTES = 8
) (
    input  wire                  clk,
    input  wire                  rst_n,
    input  wire                  start,
    input  wire                  done,            // of the layer, with the group that it is of
    input  wire                  group,
    input  wire [          12:0] width,           // sizes minus one
    input  wire [          12:0] height,
    input  wire [          12:0] groups,          // of channels
    input  wire [           4:0] cubes,
    input  wire                  winograd,
    input  wire                  two_parts,       // a group of channels leaves as two atoms
    input  wire [ADDR_WIDTH-1:0] base,
    input  wire [          31:0] line_stride,
    input  wire [          31:0] surface_stride,
    input  wire [          31:0] batch_stride,
    input  wire                  to_memory,
    input  wire                  other_ready,     // of what takes an atom that does not go to memory
    input  wire                  valid,
    output wire                  ready,
    output wire                  walking,
    output wire                  room,            // for another layer's interrupt
    output wire [           1:0] layer_done,      // one bit per group
    output wire                  wr_req_valid,
    input  wire                  wr_req_ready,
    output wire [ADDR_WIDTH-1:0] wr_req_addr,
    input  wire                  wr_rsp_valid
);
  localparam [31:0] ATOM = ATOM_BYTES;

  `NVDLA_BUG(sdp_dst_line_stride)
  `NVDLA_BUG(sdp_dst_surface_stride)
  `NVDLA_BUG(sdp_dst_base)
  `NVDLA_BUG(sdp_dst_batch_stride)
  `NVDLA_BUG(sdp_dst_surfaces_reversed)
  `NVDLA_BUG(sdp_ends_one_surface_early)
  `NVDLA_BUG(sdp_write_repeated)
  `NVDLA_BUG(sdp_interrupt_at_start)

  wire taken = to_memory ? wr_req_ready : other_ready;
  wire [1:0] answered;

  assign ready        = walking && taken;
  assign wr_req_valid = valid && walking && to_memory;
  assign layer_done   = bug_sdp_interrupt_at_start ? {start && group, start && !group} : answered;

  // The seeded bug sdp_write_repeated leaves the address of one write of a layer to the next one.
  reg repeated;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) repeated <= 1'b0;
    else if (start) repeated <= 1'b0;
    else if (wr_req_valid && taken) repeated <= 1'b1;

  wire [31:0] line = line_stride + (bug_sdp_dst_line_stride ? ATOM : 32'd0);
  wire [31:0] surface = (width == 13'd0 && height == 13'd0) ? ATOM :
                        surface_stride + (bug_sdp_dst_surface_stride ? line : 32'd0);
  wire [31:0] cube = bug_sdp_dst_batch_stride ? 32'd0 : batch_stride;
  wire [31:0] last_surface = {19'd0, groups} * surface;
  reg [ADDR_WIDTH-1:0] moved;  // by a seeded bug

  always @* begin
    moved       = 0;
    moved[31:0] = (bug_sdp_dst_base ? ATOM : 32'd0) + (bug_sdp_dst_surfaces_reversed ? last_surface : 32'd0);
  end

  nvdla_walker #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .LOOPS     (7)
  ) walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (start),
      .base   (base + moved),
      .last   ({
        groups - {12'd0, bug_sdp_ends_one_surface_early && groups != 0},
        8'd0, cubes,
        winograd ? {height >> 1, width >> 1, 13'd1, 13'd1} : {height, width, 26'd0},
        12'd0, two_parts
      }),
      .strides({
        two_parts ? surface << 1 : bug_sdp_dst_surfaces_reversed ? -surface : surface,
        cube,
        winograd ? {line << 1, ATOM << 1, line, ATOM} : {line, ATOM, 64'd0},
        surface
      }),
      .valid  (walking),
      .ready  (valid && taken && !(bug_sdp_write_repeated && wr_req_valid && !repeated)),
      .addr   (wr_req_addr)
  );

  nvdla_dma_write writes (
      .clk       (clk),
      .rst_n     (rst_n),
      .accepted  (wr_req_valid && wr_req_ready),
      .rsp_valid (wr_rsp_valid),
      .room      (room),
      .layer_end (done),
      .group     (group),
      .layer_done(answered)
  );
endmodule

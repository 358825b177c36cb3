// BDMA: copies lines between DBB and CVSRAM, or within one of them.
//
// CFG_OP queues a copy with the registers of that moment. CFG_LAUNCH0 or 1 lets
// everything queued so far run as one group, whose interrupt comes when its last
// write was answered. A copy is CFG_SURF_REPEAT surfaces of CFG_LINE_REPEAT lines of
// CFG_LINE units of 32 bytes. CFG_OP and both CFG_LAUNCH read back what was written
// last. The stall counters read 0.
// Source: unit description, Bridge DMA; register description; reads of the public traces of nv_full.
module nvdla_bdma #(
    parameter [5:0] SLOT = 6'd4,
    parameter ADDR_WIDTH = 64,
    parameter ATOM_BYTES = 32
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire                    req_valid,
    input  wire                    req_write,
    input  wire [            15:0] req_addr,
    input  wire [            31:0] req_wdata,
    output reg  [            31:0] rdata,
    output wire [             1:0] group_done,
    output wire                    rd_req_valid,
    input  wire                    rd_req_ready,
    output wire                    rd_req_mc,     // DBB, else CVSRAM
    output wire [  ADDR_WIDTH-1:0] rd_req_addr,
    input  wire                    rd_rsp_valid,
    input  wire [8*ATOM_BYTES-1:0] rd_rsp_data,
    output wire                    wr_req_valid,
    input  wire                    wr_req_ready,
    output wire                    wr_req_mc,
    output wire [  ADDR_WIDTH-1:0] wr_req_addr,
    output wire [8*ATOM_BYTES-1:0] wr_req_data,
    input  wire                    wr_rsp_valid
);
  localparam CFG_WORDS = 12;  // CFG_SRC_ADDR_LOW to CFG_DST_SURF
  localparam [9:0] CFG_OP = 10'd12, CFG_LAUNCH0 = 10'd13, CFG_LAUNCH1 = 10'd14, CFG_STATUS = 10'd15, STATUS = 10'd16;
  localparam [4:0] SLOTS = 5'd20;
  localparam [31:0] ATOM = ATOM_BYTES;
  localparam COUNT = 24;

  reg [32*CFG_WORDS-1:0] cfg;
  reg stall_count_on;
  reg [2:0] written;  // CFG_OP, CFG_LAUNCH0 and CFG_LAUNCH1
  reg [4:0] queued;
  reg [1:0] busy;
  reg [5:0] launches;  // groups that may run and have not ended

  wire [9:0] word = req_addr[9:0];
  wire hit = req_valid && (req_addr[15:10] == SLOT);
  wire write = hit && req_write;
  wire add = write && (word == CFG_OP) && req_wdata[0] && (queued != SLOTS);
  wire launch = write && (word == CFG_LAUNCH0 || word == CFG_LAUNCH1) && req_wdata[0];
  wire [31:0] writable = mask(word);
  wire idle = (queued == 5'd0) && (busy == 2'b00);

  // Engine: takes a copy, or the end of a group, when its group was launched.
  localparam [1:0] FREE = 2'd0, BEGIN = 2'd1, COPY = 2'd2;
  reg [1:0] state;
  /* verilator lint_off UNUSEDSIGNAL */
  reg [32*CFG_WORDS-1:0] job;  // of line and command a part
  /* verilator lint_on UNUSEDSIGNAL */
  wire [32*CFG_WORDS-1:0] next_job;
  wire entry, ends_group, group, unused_room, interrupt_room, reading, reads_idle, writing;
  wire take = entry && (launches != 6'd0) && (state == FREE) && (!ends_group || interrupt_room);
  wire group_ends = take && ends_group;
  wire copy_ends = (state == COPY) && !reading && reads_idle && !writing;

  nvdla_fifo #(
      .WIDTH     (2 + 32 * CFG_WORDS),
      .LOG2_DEPTH(6)
  ) queue (
      .clk       (clk),
      .rst_n     (rst_n),
      .push_valid(add || launch),
      .push_ready(unused_room),
      .push_data ({launch, word == CFG_LAUNCH1, cfg}),
      .pop_valid (entry),
      .pop_ready (take),
      .pop_data  ({ends_group, group, next_job})
  );

  always @(posedge clk or negedge rst_n)
    if (!rst_n) state <= FREE;
    else
      case (state)
        FREE:    if (take && !ends_group) state <= BEGIN;
        BEGIN:   state <= COPY;
        default: if (copy_ends) state <= FREE;
      endcase

  always @(posedge clk) if (take && !ends_group) job <= next_job;

  integer i;

  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      cfg            <= 0;
      stall_count_on <= 1'b0;
      written        <= 3'b000;
      queued         <= 5'd0;
      busy           <= 2'b00;
      launches       <= 6'd0;
    end else begin
      for (i = 0; i < CFG_WORDS; i = i + 1) if (write && word == i[9:0]) cfg[32*i+:32] <= req_wdata & writable;
      if (write && word == CFG_STATUS) stall_count_on <= req_wdata[0];
      if (write && word == CFG_OP) written[0] <= req_wdata[0];
      if (write && word == CFG_LAUNCH0) written[1] <= req_wdata[0];
      if (write && word == CFG_LAUNCH1) written[2] <= req_wdata[0];
      queued   <= queued + {4'd0, add} - {4'd0, copy_ends};
      busy     <= (busy | {launch && word == CFG_LAUNCH1, launch && word == CFG_LAUNCH0}) & ~group_done;
      launches <= launches + {5'd0, launch} - {5'd0, group_ends};
    end

  always @(posedge clk or negedge rst_n)
    if (!rst_n) rdata <= 32'd0;
    else begin
      rdata <= 32'd0;
      if (hit && !req_write) begin
        for (i = 0; i < CFG_WORDS; i = i + 1) if (word == i[9:0]) rdata <= cfg[32*i+:32];
        if (word == CFG_OP) rdata <= {31'd0, written[0]};
        if (word == CFG_LAUNCH0) rdata <= {31'd0, written[1]};
        if (word == CFG_LAUNCH1) rdata <= {31'd0, written[2]};
        if (word == CFG_STATUS) rdata <= {31'd0, stall_count_on};
        if (word == STATUS) rdata <= {21'd0, busy, idle, 3'd0, SLOTS - queued};
      end
    end

  assign rd_req_mc = job[160];
  assign wr_req_mc = job[161];

  wire [3*COUNT-1:0] last = {job[288+:COUNT], job[192+:COUNT], {11'd0, job[128+:13]}};
  wire read_step, data_valid;
  wire [ADDR_WIDTH-1:0] read_addr;

  nvdla_walker #(
      .ADDR_WIDTH (ADDR_WIDTH),
      .COUNT_WIDTH(COUNT),
      .LOOPS      (3)
  ) read_walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (state == BEGIN),
      .base   (job[0+:ADDR_WIDTH]),
      .last   (last),
      .strides({job[320+:32], job[224+:32], ATOM}),
      .valid  (reading),
      .ready  (read_step),
      .addr   (read_addr)
  );

  nvdla_dma_read #(
      .ADDR_WIDTH(ADDR_WIDTH),
      .DATA_WIDTH(8 * ATOM_BYTES)
  ) reads (
      .clk       (clk),
      .rst_n     (rst_n),
      .addr_valid(reading),
      .addr_ready(read_step),
      .addr      (read_addr),
      .req_valid (rd_req_valid),
      .req_ready (rd_req_ready),
      .req_addr  (rd_req_addr),
      .rsp_valid (rd_rsp_valid),
      .rsp_data  (rd_rsp_data),
      .data_valid(data_valid),
      .data_ready(writing && wr_req_ready),
      .data      (wr_req_data),
      .idle      (reads_idle)
  );

  assign wr_req_valid = data_valid && writing;

  nvdla_walker #(
      .ADDR_WIDTH (ADDR_WIDTH),
      .COUNT_WIDTH(COUNT),
      .LOOPS      (3)
  ) write_walker (
      .clk    (clk),
      .rst_n  (rst_n),
      .start  (state == BEGIN),
      .base   (job[64+:ADDR_WIDTH]),
      .last   (last),
      .strides({job[352+:32], job[256+:32], ATOM}),
      .valid  (writing),
      .ready  (data_valid && wr_req_ready),
      .addr   (wr_req_addr)
  );

  nvdla_dma_write writes (
      .clk       (clk),
      .rst_n     (rst_n),
      .accepted  (wr_req_valid && wr_req_ready),
      .rsp_valid (wr_rsp_valid),
      .room      (interrupt_room),
      .layer_end (group_ends),
      .group     (group),
      .layer_done(group_done)
  );

  // Writable bits of the CFG words
  function automatic [31:0] mask(input [9:0] index);
    case (index)
      10'd0, 10'd2, 10'd7, 10'd8, 10'd10, 10'd11: mask = 32'hffff_ffe0;
      10'd1, 10'd3: mask = 32'hffff_ffff;
      10'd4: mask = 32'h0000_1fff;
      10'd5: mask = 32'h0000_0003;
      default: mask = 32'h00ff_ffff;
    endcase
  endfunction
endmodule

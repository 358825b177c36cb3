// The memory side of a configuration with two ports of a data bus twice as wide as an
// atom: DBB and CVSRAM, and the registers of their interfaces, MCIF and CVIF. A request
// goes to the port that its client's RAM type register names; both ports answer into
// the same wires, CVSRAM when DBB has nothing to say.
module nvdla_two_ports #(
    parameter [5:0] SLOT_MCIF = 6'd2,
    parameter [5:0] SLOT_CVIF = 6'd3,
    parameter ADDR_WIDTH = 64,
    parameter ATOM_BYTES = 32,
    parameter READ_CLIENTS = 2,
    parameter [8*READ_CLIENTS-1:0] READ_IDS = 0,
    parameter WRITE_CLIENTS = 2,
    parameter [8*WRITE_CLIENTS-1:0] WRITE_IDS = 0
) (
    input  wire                                  clk,
    input  wire                                  rst_n,
    input  wire                                  req_valid,
    input  wire                                  req_write,
    input  wire [                          15:0] req_addr,
    input  wire [                          31:0] req_wdata,
    output wire [                          31:0] rdata,
    // Clients; _mc: DBB, else CVSRAM
    input  wire [              READ_CLIENTS-1:0] rd_req_valid,
    output wire [              READ_CLIENTS-1:0] rd_req_ready,
    input  wire [              READ_CLIENTS-1:0] rd_req_mc,
    input  wire [   READ_CLIENTS*ADDR_WIDTH-1:0] rd_req_addr,
    output wire [              READ_CLIENTS-1:0] rd_rsp_valid,
    output wire [              8*ATOM_BYTES-1:0] rd_rsp_data,
    input  wire [             WRITE_CLIENTS-1:0] wr_req_valid,
    output wire [             WRITE_CLIENTS-1:0] wr_req_ready,
    input  wire [             WRITE_CLIENTS-1:0] wr_req_mc,
    input  wire [  WRITE_CLIENTS*ADDR_WIDTH-1:0] wr_req_addr,
    input  wire [WRITE_CLIENTS*8*ATOM_BYTES-1:0] wr_req_data,
    output wire [             WRITE_CLIENTS-1:0] wr_rsp_valid,
    // DBB
    output wire                                  mc_awvalid,
    input  wire                                  mc_awready,
    output wire [                           7:0] mc_awid,
    output wire [                           3:0] mc_awlen,
    output wire [                ADDR_WIDTH-1:0] mc_awaddr,
    output wire                                  mc_wvalid,
    input  wire                                  mc_wready,
    output wire [             16*ATOM_BYTES-1:0] mc_wdata,
    output wire [              2*ATOM_BYTES-1:0] mc_wstrb,
    output wire                                  mc_wlast,
    input  wire                                  mc_bvalid,
    output wire                                  mc_bready,
    input  wire [                           2:0] mc_bid,
    output wire                                  mc_arvalid,
    input  wire                                  mc_arready,
    output wire [                           7:0] mc_arid,
    output wire [                           3:0] mc_arlen,
    output wire [                ADDR_WIDTH-1:0] mc_araddr,
    input  wire                                  mc_rvalid,
    output wire                                  mc_rready,
    input  wire [                           7:0] mc_rid,
    input  wire [             16*ATOM_BYTES-1:0] mc_rdata,
    // CVSRAM
    output wire                                  cv_awvalid,
    input  wire                                  cv_awready,
    output wire [                           7:0] cv_awid,
    output wire [                           3:0] cv_awlen,
    output wire [                ADDR_WIDTH-1:0] cv_awaddr,
    output wire                                  cv_wvalid,
    input  wire                                  cv_wready,
    output wire [             16*ATOM_BYTES-1:0] cv_wdata,
    output wire [              2*ATOM_BYTES-1:0] cv_wstrb,
    output wire                                  cv_wlast,
    input  wire                                  cv_bvalid,
    output wire                                  cv_bready,
    input  wire [                           2:0] cv_bid,
    output wire                                  cv_arvalid,
    input  wire                                  cv_arready,
    output wire [                           7:0] cv_arid,
    output wire [                           3:0] cv_arlen,
    output wire [                ADDR_WIDTH-1:0] cv_araddr,
    input  wire                                  cv_rvalid,
    output wire                                  cv_rready,
    input  wire [                           7:0] cv_rid,
    input  wire [             16*ATOM_BYTES-1:0] cv_rdata
);
  wire [READ_CLIENTS-1:0] mc_rd_ready, mc_rd_rsp, cv_rd_ready, cv_rd_rsp;
  wire [WRITE_CLIENTS-1:0] mc_wr_ready, mc_wr_rsp, cv_wr_ready, cv_wr_rsp;
  wire [8*ATOM_BYTES-1:0] mc_rd_data, cv_rd_data;
  wire [7:0] mc_max_reads, mc_max_writes, cv_max_reads, cv_max_writes;
  wire [31:0] mcif_rdata, cvif_rdata;
  wire mc_idle, cv_idle;
  wire [95:0] mc_read_weights, cv_read_weights;
  wire [63:0] mc_write_weights, cv_write_weights;

  assign rdata        = mcif_rdata | cvif_rdata;
  assign rd_req_ready = mc_rd_ready | cv_rd_ready;
  assign rd_rsp_valid = mc_rd_rsp | cv_rd_rsp;
  assign rd_rsp_data  = mc_rvalid ? mc_rd_data : cv_rd_data;
  assign wr_req_ready = mc_wr_ready | cv_wr_ready;
  assign wr_rsp_valid = mc_wr_rsp | cv_wr_rsp;

  nvdla_mcif #(
      .SLOT(SLOT_MCIF)
  ) mcif (
      .clk       (clk),
      .rst_n     (rst_n),
      .req_valid (req_valid),
      .req_write (req_write),
      .req_addr  (req_addr),
      .req_wdata (req_wdata),
      .rdata     (mcif_rdata),
      .max_reads (mc_max_reads),
      .max_writes(mc_max_writes),
      .read_weights (mc_read_weights),
      .write_weights(mc_write_weights),
      .idle      (mc_idle)
  );

  nvdla_mcif #(
      .SLOT(SLOT_CVIF)
  ) cvif (
      .clk       (clk),
      .rst_n     (rst_n),
      .req_valid (req_valid),
      .req_write (req_write),
      .req_addr  (req_addr),
      .req_wdata (req_wdata),
      .rdata     (cvif_rdata),
      .max_reads (cv_max_reads),
      .max_writes(cv_max_writes),
      .read_weights (cv_read_weights),
      .write_weights(cv_write_weights),
      .idle      (cv_idle)
  );

  nvdla_wide_port #(
      .ADDR_WIDTH   (ADDR_WIDTH),
      .ATOM_BYTES   (ATOM_BYTES),
      .READ_CLIENTS (READ_CLIENTS),
      .READ_IDS     (READ_IDS),
      .WRITE_CLIENTS(WRITE_CLIENTS),
      .WRITE_IDS    (WRITE_IDS)
  ) dbb (
      .clk         (clk),
      .rst_n       (rst_n),
      .rd_req_valid(rd_req_valid & rd_req_mc),
      .rd_req_ready(mc_rd_ready),
      .rd_req_addr (rd_req_addr),
      .rd_rsp_valid(mc_rd_rsp),
      .rd_rsp_data (mc_rd_data),
      .wr_req_valid(wr_req_valid & wr_req_mc),
      .wr_req_ready(mc_wr_ready),
      .wr_req_addr (wr_req_addr),
      .wr_req_data (wr_req_data),
      .wr_rsp_valid(mc_wr_rsp),
      .hold_reads  (1'b0),
      .hold_writes (1'b0),
      .max_reads   (mc_max_reads),
      .max_writes  (mc_max_writes),
      .read_weights (mc_read_weights),
      .write_weights(mc_write_weights),
      .idle        (mc_idle),
      .awvalid     (mc_awvalid),
      .awready     (mc_awready),
      .awid        (mc_awid),
      .awlen       (mc_awlen),
      .awaddr      (mc_awaddr),
      .wvalid      (mc_wvalid),
      .wready      (mc_wready),
      .wdata       (mc_wdata),
      .wstrb       (mc_wstrb),
      .wlast       (mc_wlast),
      .bvalid      (mc_bvalid),
      .bready      (mc_bready),
      .bid         (mc_bid),
      .arvalid     (mc_arvalid),
      .arready     (mc_arready),
      .arid        (mc_arid),
      .arlen       (mc_arlen),
      .araddr      (mc_araddr),
      .rvalid      (mc_rvalid),
      .rready      (mc_rready),
      .rid         (mc_rid),
      .rdata       (mc_rdata)
  );

  nvdla_wide_port #(
      .ADDR_WIDTH   (ADDR_WIDTH),
      .ATOM_BYTES   (ATOM_BYTES),
      .READ_CLIENTS (READ_CLIENTS),
      .READ_IDS     (READ_IDS),
      .WRITE_CLIENTS(WRITE_CLIENTS),
      .WRITE_IDS    (WRITE_IDS)
  ) cvsram (
      .clk         (clk),
      .rst_n       (rst_n),
      .rd_req_valid(rd_req_valid & ~rd_req_mc),
      .rd_req_ready(cv_rd_ready),
      .rd_req_addr (rd_req_addr),
      .rd_rsp_valid(cv_rd_rsp),
      .rd_rsp_data (cv_rd_data),
      .wr_req_valid(wr_req_valid & ~wr_req_mc),
      .wr_req_ready(cv_wr_ready),
      .wr_req_addr (wr_req_addr),
      .wr_req_data (wr_req_data),
      .wr_rsp_valid(cv_wr_rsp),
      .hold_reads  (mc_rvalid),
      .hold_writes (mc_bvalid),
      .max_reads   (cv_max_reads),
      .max_writes  (cv_max_writes),
      .read_weights (cv_read_weights),
      .write_weights(cv_write_weights),
      .idle        (cv_idle),
      .awvalid     (cv_awvalid),
      .awready     (cv_awready),
      .awid        (cv_awid),
      .awlen       (cv_awlen),
      .awaddr      (cv_awaddr),
      .wvalid      (cv_wvalid),
      .wready      (cv_wready),
      .wdata       (cv_wdata),
      .wstrb       (cv_wstrb),
      .wlast       (cv_wlast),
      .bvalid      (cv_bvalid),
      .bready      (cv_bready),
      .bid         (cv_bid),
      .arvalid     (cv_arvalid),
      .arready     (cv_arready),
      .arid        (cv_arid),
      .arlen       (cv_arlen),
      .araddr      (cv_araddr),
      .rvalid      (cv_rvalid),
      .rready      (cv_rready),
      .rid         (cv_rid),
      .rdata       (cv_rdata)
  );
endmodule

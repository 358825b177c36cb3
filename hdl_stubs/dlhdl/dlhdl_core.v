// Stand-in of a generated Deep Learning HDL core: its ports, registers and handshake, and the
// documented memory format. The instructions, the order of the weights and the rounding are our
// own: docs/dlhdl.md. Both clock pins carry one clock, and the core uses IPCORE_CLK.
// A reset at either reset pin resets all.
module dlhdl_core #(
    parameter CONV_THREAD_NUMBER = 4,  // 4, 9, 16 or 64
    parameter DATA_TYPE = 0,           // 0 int8, 1 single
    // Of the parameters above
    parameter C = (CONV_THREAD_NUMBER == 64) ? 8 : (CONV_THREAD_NUMBER == 16) ? 4 : (CONV_THREAD_NUMBER == 9) ? 3 : 2,
    parameter N = (CONV_THREAD_NUMBER == 64) ? 8 : (CONV_THREAD_NUMBER == 4) ? 2 : 4,
    parameter BEAT_BYTES = (DATA_TYPE == 1) ? 4 * N : N,
    parameter DATA_WIDTH = (BEAT_BYTES < 4) ? 32 : 8 * BEAT_BYTES
) (
    /* verilator lint_off UNUSEDSIGNAL */
    input  wire                  IPCORE_CLK,
    input  wire                  IPCORE_RESETN,
    input  wire                  AXI4_ACLK,
    input  wire                  AXI4_ARESETN,
    // Registers
    input  wire [          11:0] AXI4_AWID,
    input  wire [          15:0] AXI4_AWADDR,
    input  wire [           7:0] AXI4_AWLEN,
    input  wire [           2:0] AXI4_AWSIZE,
    input  wire [           1:0] AXI4_AWBURST,
    input  wire                  AXI4_AWLOCK,
    input  wire [           3:0] AXI4_AWCACHE,
    input  wire [           2:0] AXI4_AWPROT,
    input  wire                  AXI4_AWVALID,
    output wire                  AXI4_AWREADY,
    input  wire [          31:0] AXI4_WDATA,
    input  wire [           3:0] AXI4_WSTRB,
    input  wire                  AXI4_WLAST,
    input  wire                  AXI4_WVALID,
    output wire                  AXI4_WREADY,
    output wire [          11:0] AXI4_BID,
    output wire [           1:0] AXI4_BRESP,
    output wire                  AXI4_BVALID,
    input  wire                  AXI4_BREADY,
    input  wire [          11:0] AXI4_ARID,
    input  wire [          15:0] AXI4_ARADDR,
    input  wire [           7:0] AXI4_ARLEN,
    input  wire [           2:0] AXI4_ARSIZE,
    input  wire [           1:0] AXI4_ARBURST,
    input  wire                  AXI4_ARLOCK,
    input  wire [           3:0] AXI4_ARCACHE,
    input  wire [           2:0] AXI4_ARPROT,
    input  wire                  AXI4_ARVALID,
    output wire                  AXI4_ARREADY,
    output wire [          11:0] AXI4_RID,
    output wire [          31:0] AXI4_RDATA,
    output wire [           1:0] AXI4_RRESP,
    output wire                  AXI4_RLAST,
    output wire                  AXI4_RVALID,
    input  wire                  AXI4_RREADY,
    // Activations
    output wire [           7:0] AXI4_Master_Activation_Data_Rd_ARID,
    output wire [          31:0] AXI4_Master_Activation_Data_Rd_ARADDR,
    output wire [           7:0] AXI4_Master_Activation_Data_Rd_ARLEN,
    output wire [           2:0] AXI4_Master_Activation_Data_Rd_ARSIZE,
    output wire [           1:0] AXI4_Master_Activation_Data_Rd_ARBURST,
    output wire                  AXI4_Master_Activation_Data_Rd_ARLOCK,
    output wire [           3:0] AXI4_Master_Activation_Data_Rd_ARCACHE,
    output wire [           2:0] AXI4_Master_Activation_Data_Rd_ARPROT,
    output wire                  AXI4_Master_Activation_Data_Rd_ARVALID,
    input  wire                  AXI4_Master_Activation_Data_Rd_ARREADY,
    input  wire [           7:0] AXI4_Master_Activation_Data_Rd_RID,
    input  wire [DATA_WIDTH-1:0] AXI4_Master_Activation_Data_Rd_RDATA,
    input  wire [           1:0] AXI4_Master_Activation_Data_Rd_RRESP,
    input  wire                  AXI4_Master_Activation_Data_Rd_RLAST,
    input  wire                  AXI4_Master_Activation_Data_Rd_RVALID,
    output wire                  AXI4_Master_Activation_Data_Rd_RREADY,
    output wire [           7:0] AXI4_Master_Activation_Data_Wr_AWID,
    output wire [          31:0] AXI4_Master_Activation_Data_Wr_AWADDR,
    output wire [           7:0] AXI4_Master_Activation_Data_Wr_AWLEN,
    output wire [           2:0] AXI4_Master_Activation_Data_Wr_AWSIZE,
    output wire [           1:0] AXI4_Master_Activation_Data_Wr_AWBURST,
    output wire                  AXI4_Master_Activation_Data_Wr_AWLOCK,
    output wire [           3:0] AXI4_Master_Activation_Data_Wr_AWCACHE,
    output wire [           2:0] AXI4_Master_Activation_Data_Wr_AWPROT,
    output wire                  AXI4_Master_Activation_Data_Wr_AWVALID,
    input  wire                  AXI4_Master_Activation_Data_Wr_AWREADY,
    output wire [DATA_WIDTH-1:0] AXI4_Master_Activation_Data_Wr_WDATA,
    output wire [BEAT_BYTES-1:0] AXI4_Master_Activation_Data_Wr_WSTRB,
    output wire                  AXI4_Master_Activation_Data_Wr_WLAST,
    output wire                  AXI4_Master_Activation_Data_Wr_WVALID,
    input  wire                  AXI4_Master_Activation_Data_Wr_WREADY,
    input  wire [           7:0] AXI4_Master_Activation_Data_Wr_BID,
    input  wire [           1:0] AXI4_Master_Activation_Data_Wr_BRESP,
    input  wire                  AXI4_Master_Activation_Data_Wr_BVALID,
    output wire                  AXI4_Master_Activation_Data_Wr_BREADY,
    // Weights, biases and instructions; nothing is written
    output wire                  AXI4_Master_Weight_Data_Rd_ARID,
    output wire [          31:0] AXI4_Master_Weight_Data_Rd_ARADDR,
    output wire [           7:0] AXI4_Master_Weight_Data_Rd_ARLEN,
    output wire [           2:0] AXI4_Master_Weight_Data_Rd_ARSIZE,
    output wire [           1:0] AXI4_Master_Weight_Data_Rd_ARBURST,
    output wire                  AXI4_Master_Weight_Data_Rd_ARLOCK,
    output wire [           3:0] AXI4_Master_Weight_Data_Rd_ARCACHE,
    output wire [           2:0] AXI4_Master_Weight_Data_Rd_ARPROT,
    output wire                  AXI4_Master_Weight_Data_Rd_ARVALID,
    input  wire                  AXI4_Master_Weight_Data_Rd_ARREADY,
    input  wire                  AXI4_Master_Weight_Data_Rd_RID,
    input  wire [DATA_WIDTH-1:0] AXI4_Master_Weight_Data_Rd_RDATA,
    input  wire [           1:0] AXI4_Master_Weight_Data_Rd_RRESP,
    input  wire                  AXI4_Master_Weight_Data_Rd_RLAST,
    input  wire                  AXI4_Master_Weight_Data_Rd_RVALID,
    output wire                  AXI4_Master_Weight_Data_Rd_RREADY,
    output wire                  AXI4_Master_Weight_Data_Wr_AWID,
    output wire [          31:0] AXI4_Master_Weight_Data_Wr_AWADDR,
    output wire [           7:0] AXI4_Master_Weight_Data_Wr_AWLEN,
    output wire [           2:0] AXI4_Master_Weight_Data_Wr_AWSIZE,
    output wire [           1:0] AXI4_Master_Weight_Data_Wr_AWBURST,
    output wire                  AXI4_Master_Weight_Data_Wr_AWLOCK,
    output wire [           3:0] AXI4_Master_Weight_Data_Wr_AWCACHE,
    output wire [           2:0] AXI4_Master_Weight_Data_Wr_AWPROT,
    output wire                  AXI4_Master_Weight_Data_Wr_AWVALID,
    input  wire                  AXI4_Master_Weight_Data_Wr_AWREADY,
    output wire [DATA_WIDTH-1:0] AXI4_Master_Weight_Data_Wr_WDATA,
    output wire [BEAT_BYTES-1:0] AXI4_Master_Weight_Data_Wr_WSTRB,
    output wire                  AXI4_Master_Weight_Data_Wr_WLAST,
    output wire                  AXI4_Master_Weight_Data_Wr_WVALID,
    input  wire                  AXI4_Master_Weight_Data_Wr_WREADY,
    input  wire                  AXI4_Master_Weight_Data_Wr_BID,
    input  wire [           1:0] AXI4_Master_Weight_Data_Wr_BRESP,
    input  wire                  AXI4_Master_Weight_Data_Wr_BVALID,
    output wire                  AXI4_Master_Weight_Data_Wr_BREADY,
    // Debug: never moves
    output wire                  AXI4_Master_Debug_Rd_ARID,
    output wire [          31:0] AXI4_Master_Debug_Rd_ARADDR,
    output wire [           7:0] AXI4_Master_Debug_Rd_ARLEN,
    output wire [           2:0] AXI4_Master_Debug_Rd_ARSIZE,
    output wire [           1:0] AXI4_Master_Debug_Rd_ARBURST,
    output wire                  AXI4_Master_Debug_Rd_ARLOCK,
    output wire [           3:0] AXI4_Master_Debug_Rd_ARCACHE,
    output wire [           2:0] AXI4_Master_Debug_Rd_ARPROT,
    output wire                  AXI4_Master_Debug_Rd_ARVALID,
    input  wire                  AXI4_Master_Debug_Rd_ARREADY,
    input  wire                  AXI4_Master_Debug_Rd_RID,
    input  wire [          31:0] AXI4_Master_Debug_Rd_RDATA,
    input  wire [           1:0] AXI4_Master_Debug_Rd_RRESP,
    input  wire                  AXI4_Master_Debug_Rd_RLAST,
    input  wire                  AXI4_Master_Debug_Rd_RVALID,
    output wire                  AXI4_Master_Debug_Rd_RREADY,
    output wire                  AXI4_Master_Debug_Wr_AWID,
    output wire [          31:0] AXI4_Master_Debug_Wr_AWADDR,
    output wire [           7:0] AXI4_Master_Debug_Wr_AWLEN,
    output wire [           2:0] AXI4_Master_Debug_Wr_AWSIZE,
    output wire [           1:0] AXI4_Master_Debug_Wr_AWBURST,
    output wire                  AXI4_Master_Debug_Wr_AWLOCK,
    output wire [           3:0] AXI4_Master_Debug_Wr_AWCACHE,
    output wire [           2:0] AXI4_Master_Debug_Wr_AWPROT,
    output wire                  AXI4_Master_Debug_Wr_AWVALID,
    input  wire                  AXI4_Master_Debug_Wr_AWREADY,
    output wire [          31:0] AXI4_Master_Debug_Wr_WDATA,
    output wire [           3:0] AXI4_Master_Debug_Wr_WSTRB,
    output wire                  AXI4_Master_Debug_Wr_WLAST,
    output wire                  AXI4_Master_Debug_Wr_WVALID,
    input  wire                  AXI4_Master_Debug_Wr_WREADY,
    input  wire                  AXI4_Master_Debug_Wr_BID,
    input  wire [           1:0] AXI4_Master_Debug_Wr_BRESP,
    input  wire                  AXI4_Master_Debug_Wr_BVALID,
    output wire                  AXI4_Master_Debug_Wr_BREADY
    /* verilator lint_on UNUSEDSIGNAL */
);
  localparam W = (DATA_TYPE == 1) ? 32 : 8;
  localparam LOG2_LAYERS = 10;
  localparam [31:0] LOG2_BYTES = $clog2(BEAT_BYTES);
  // AxSIZE, AxBURST (INCR) and AxCACHE
  localparam [8:0] FIXED = {LOG2_BYTES[2:0], 2'd1, 4'd3};
  localparam [8:0] FIXED_DEBUG = {3'd2, 2'd1, 4'd3};

  wire clk = IPCORE_CLK;
  wire reset_n = IPCORE_RESETN && AXI4_ARESETN;

  // Registers
  wire write, soft_reset, enable;
  wire [15:0] write_address, read_address;
  wire [31:0] write_data, read_data;
  wire [3:0] write_strobe;
  wire [31:0] activation_read_base, activation_write_base, weight_read_base;
  wire [31:0] list_address, conv_weights, fc_weights, frame_count, input_base, output_base;
  wire streaming_mode, custom_base, input_start, input_next, output_next, input_stop;
  wire done, input_valid, output_valid, streaming_done;
  wire [31:0] input_address, offered_size, output_address, result_size;
  // What the soft reset resets beside the registers
  wire core_n = reset_n && !soft_reset;

  // Masters
  wire source_valid, source_ready, source_data_valid, source_data_ready;
  wire weight_valid, weight_ready, weight_data_valid, weight_data_ready;
  wire result_command, result_command_ready, result_valid, result_ready, result_idle;
  wire [31:0] source_address, source_beats, weight_address, weight_beats, result_start, result_beats;
  wire [8*BEAT_BYTES-1:0] source_data, weight_data, result;

  dlhdl_register_port register_port (
      .clk          (clk),
      .rst_n        (reset_n),
      .awid         (AXI4_AWID),
      .awaddr       (AXI4_AWADDR),
      .awlen        (AXI4_AWLEN),
      .awvalid      (AXI4_AWVALID),
      .awready      (AXI4_AWREADY),
      .wdata        (AXI4_WDATA),
      .wstrb        (AXI4_WSTRB),
      .wlast        (AXI4_WLAST),
      .wvalid       (AXI4_WVALID),
      .wready       (AXI4_WREADY),
      .bid          (AXI4_BID),
      .bresp        (AXI4_BRESP),
      .bvalid       (AXI4_BVALID),
      .bready       (AXI4_BREADY),
      .arid         (AXI4_ARID),
      .araddr       (AXI4_ARADDR),
      .arlen        (AXI4_ARLEN),
      .arvalid      (AXI4_ARVALID),
      .arready      (AXI4_ARREADY),
      .rid          (AXI4_RID),
      .rdata        (AXI4_RDATA),
      .rresp        (AXI4_RRESP),
      .rlast        (AXI4_RLAST),
      .rvalid       (AXI4_RVALID),
      .rready       (AXI4_RREADY),
      .write        (write),
      .write_address(write_address),
      .write_data   (write_data),
      .write_strobe (write_strobe),
      .read_address (read_address),
      .read_data    (read_data)
  );

  dlhdl_registers registers (
      .clk                  (clk),
      .rst_n                (reset_n),
      .write                (write),
      .write_address        (write_address),
      .write_data           (write_data),
      .write_strobe         (write_strobe),
      .read_address         (read_address),
      .read_data            (read_data),
      .soft_reset           (soft_reset),
      .enable               (enable),
      .activation_read_base (activation_read_base),
      .activation_write_base(activation_write_base),
      .weight_read_base     (weight_read_base),
      .list_address         (list_address),
      .conv_weights         (conv_weights),
      .fc_weights           (fc_weights),
      .frame_count          (frame_count),
      .streaming_mode       (streaming_mode),
      .custom_base          (custom_base),
      .input_base           (input_base),
      .output_base          (output_base),
      .input_start          (input_start),
      .input_next           (input_next),
      .output_next          (output_next),
      .input_stop           (input_stop),
      .done                 (done),
      .input_valid          (input_valid),
      .input_address        (input_address),
      .input_size           (offered_size),
      .output_valid         (output_valid),
      .output_address       (output_address),
      .output_size          (result_size),
      .streaming_done       (streaming_done)
  );

  dlhdl_processor #(
      .C          (C),
      .N          (N),
      .W          (W),
      .DATA_TYPE  (DATA_TYPE),
      .LOG2_LAYERS(LOG2_LAYERS)
  ) processor (
      .clk                 (clk),
      .rst_n               (core_n),
      .enable              (enable),
      .list_address        (list_address),
      .conv_weights        (conv_weights),
      .fc_weights          (fc_weights),
      .frame_count         (frame_count),
      .streaming_mode      (streaming_mode),
      .custom_base         (custom_base),
      .input_base          (input_base),
      .output_base         (output_base),
      .input_start         (input_start),
      .input_next          (input_next),
      .output_next         (output_next),
      .input_stop          (input_stop),
      .done                (done),
      .input_valid         (input_valid),
      .input_address       (input_address),
      .offered_size        (offered_size),
      .output_valid        (output_valid),
      .output_address      (output_address),
      .result_size         (result_size),
      .streaming_done      (streaming_done),
      .source_valid        (source_valid),
      .source_ready        (source_ready),
      .source_address      (source_address),
      .source_beats        (source_beats),
      .source_data_valid   (source_data_valid),
      .source_data_ready   (source_data_ready),
      .source_data         (source_data),
      .weight_valid        (weight_valid),
      .weight_ready        (weight_ready),
      .weight_address      (weight_address),
      .weight_beats        (weight_beats),
      .weight_data_valid   (weight_data_valid),
      .weight_data_ready   (weight_data_ready),
      .weight_data         (weight_data),
      .result_command      (result_command),
      .result_command_ready(result_command_ready),
      .result_address      (result_start),
      .result_beats        (result_beats),
      .result_valid        (result_valid),
      .result_ready        (result_ready),
      .result              (result),
      .result_idle         (result_idle)
  );

  dlhdl_read #(
      .BEAT_BYTES(BEAT_BYTES),
      .DATA_WIDTH(DATA_WIDTH)
  ) activation_read (
      .clk            (clk),
      .rst_n          (reset_n),
      .abort          (soft_reset),
      .enable         (enable),
      .base           (activation_read_base),
      .command_valid  (source_valid),
      .command_ready  (source_ready),
      .command_address(source_address),
      .command_beats  (source_beats),
      .data_valid     (source_data_valid),
      .data_ready     (source_data_ready),
      .data           (source_data),
      .arvalid        (AXI4_Master_Activation_Data_Rd_ARVALID),
      .arready        (AXI4_Master_Activation_Data_Rd_ARREADY),
      .araddr         (AXI4_Master_Activation_Data_Rd_ARADDR),
      .arlen          (AXI4_Master_Activation_Data_Rd_ARLEN),
      .rvalid         (AXI4_Master_Activation_Data_Rd_RVALID),
      .rready         (AXI4_Master_Activation_Data_Rd_RREADY),
      .rdata          (AXI4_Master_Activation_Data_Rd_RDATA)
  );

  dlhdl_read #(
      .BEAT_BYTES(BEAT_BYTES),
      .DATA_WIDTH(DATA_WIDTH)
  ) weight_read (
      .clk            (clk),
      .rst_n          (reset_n),
      .abort          (soft_reset),
      .enable         (enable),
      .base           (weight_read_base),
      .command_valid  (weight_valid),
      .command_ready  (weight_ready),
      .command_address(weight_address),
      .command_beats  (weight_beats),
      .data_valid     (weight_data_valid),
      .data_ready     (weight_data_ready),
      .data           (weight_data),
      .arvalid        (AXI4_Master_Weight_Data_Rd_ARVALID),
      .arready        (AXI4_Master_Weight_Data_Rd_ARREADY),
      .araddr         (AXI4_Master_Weight_Data_Rd_ARADDR),
      .arlen          (AXI4_Master_Weight_Data_Rd_ARLEN),
      .rvalid         (AXI4_Master_Weight_Data_Rd_RVALID),
      .rready         (AXI4_Master_Weight_Data_Rd_RREADY),
      .rdata          (AXI4_Master_Weight_Data_Rd_RDATA)
  );

  dlhdl_write #(
      .BEAT_BYTES(BEAT_BYTES),
      .DATA_WIDTH(DATA_WIDTH)
  ) activation_write (
      .clk            (clk),
      .rst_n          (reset_n),
      .abort          (soft_reset),
      .enable         (enable),
      .base           (activation_write_base),
      .command_valid  (result_command),
      .command_ready  (result_command_ready),
      .command_address(result_start),
      .command_beats  (result_beats),
      .data_valid     (result_valid),
      .data_ready     (result_ready),
      .data           (result),
      .idle           (result_idle),
      .awvalid        (AXI4_Master_Activation_Data_Wr_AWVALID),
      .awready        (AXI4_Master_Activation_Data_Wr_AWREADY),
      .awaddr         (AXI4_Master_Activation_Data_Wr_AWADDR),
      .awlen          (AXI4_Master_Activation_Data_Wr_AWLEN),
      .wvalid         (AXI4_Master_Activation_Data_Wr_WVALID),
      .wready         (AXI4_Master_Activation_Data_Wr_WREADY),
      .wdata          (AXI4_Master_Activation_Data_Wr_WDATA),
      .wstrb          (AXI4_Master_Activation_Data_Wr_WSTRB),
      .wlast          (AXI4_Master_Activation_Data_Wr_WLAST),
      .bvalid         (AXI4_Master_Activation_Data_Wr_BVALID)
  );

  // What never changes: ids, burst type and the like of all masters, and the masters that rest
  assign {AXI4_Master_Activation_Data_Rd_ARID, AXI4_Master_Activation_Data_Rd_ARLOCK, AXI4_Master_Activation_Data_Rd_ARPROT} = 0;
  assign {AXI4_Master_Activation_Data_Rd_ARSIZE, AXI4_Master_Activation_Data_Rd_ARBURST, AXI4_Master_Activation_Data_Rd_ARCACHE} = FIXED;
  assign {AXI4_Master_Activation_Data_Wr_AWID, AXI4_Master_Activation_Data_Wr_AWLOCK, AXI4_Master_Activation_Data_Wr_AWPROT} = 0;
  assign {AXI4_Master_Activation_Data_Wr_AWSIZE, AXI4_Master_Activation_Data_Wr_AWBURST, AXI4_Master_Activation_Data_Wr_AWCACHE} = FIXED;
  assign AXI4_Master_Activation_Data_Wr_BREADY = 1'b1;
  assign {AXI4_Master_Weight_Data_Rd_ARID, AXI4_Master_Weight_Data_Rd_ARLOCK, AXI4_Master_Weight_Data_Rd_ARPROT} = 0;
  assign {AXI4_Master_Weight_Data_Rd_ARSIZE, AXI4_Master_Weight_Data_Rd_ARBURST, AXI4_Master_Weight_Data_Rd_ARCACHE} = FIXED;
  assign {AXI4_Master_Weight_Data_Wr_AWID, AXI4_Master_Weight_Data_Wr_AWLOCK, AXI4_Master_Weight_Data_Wr_AWPROT} = 0;
  assign {AXI4_Master_Weight_Data_Wr_AWSIZE, AXI4_Master_Weight_Data_Wr_AWBURST, AXI4_Master_Weight_Data_Wr_AWCACHE} = FIXED;
  assign AXI4_Master_Weight_Data_Wr_BREADY = 1'b1;
  assign {AXI4_Master_Weight_Data_Wr_AWADDR, AXI4_Master_Weight_Data_Wr_AWLEN, AXI4_Master_Weight_Data_Wr_AWVALID, AXI4_Master_Weight_Data_Wr_WLAST, AXI4_Master_Weight_Data_Wr_WVALID} = 0;
  assign AXI4_Master_Weight_Data_Wr_WDATA = 0;
  assign AXI4_Master_Weight_Data_Wr_WSTRB = {BEAT_BYTES{1'b1}};
  assign {AXI4_Master_Debug_Rd_ARID, AXI4_Master_Debug_Rd_ARLOCK, AXI4_Master_Debug_Rd_ARPROT} = 0;
  assign {AXI4_Master_Debug_Rd_ARSIZE, AXI4_Master_Debug_Rd_ARBURST, AXI4_Master_Debug_Rd_ARCACHE} = FIXED_DEBUG;
  assign {AXI4_Master_Debug_Wr_AWID, AXI4_Master_Debug_Wr_AWLOCK, AXI4_Master_Debug_Wr_AWPROT} = 0;
  assign {AXI4_Master_Debug_Wr_AWSIZE, AXI4_Master_Debug_Wr_AWBURST, AXI4_Master_Debug_Wr_AWCACHE} = FIXED_DEBUG;
  assign AXI4_Master_Debug_Wr_BREADY = 1'b1;
  assign {AXI4_Master_Debug_Rd_ARADDR, AXI4_Master_Debug_Rd_ARLEN, AXI4_Master_Debug_Rd_ARVALID} = 0;
  assign AXI4_Master_Debug_Rd_RREADY = 1'b1;
  assign {AXI4_Master_Debug_Wr_AWADDR, AXI4_Master_Debug_Wr_AWLEN, AXI4_Master_Debug_Wr_AWVALID, AXI4_Master_Debug_Wr_WLAST, AXI4_Master_Debug_Wr_WVALID} = 0;
  assign AXI4_Master_Debug_Wr_WDATA = 0;
  assign AXI4_Master_Debug_Wr_WSTRB = 4'hF;

  dlhdl_bug_names bug_names ();
endmodule

// The names of all seeded bugs of dlhdl_core; a simulation that is started with another one ends at once.
module dlhdl_bug_names;
  reg [8*48-1:0] chosen;
  reg known, listing;

  task name(input [8*48-1:0] candidate);
    begin
      if (chosen == candidate) known = 1'b1;
      if (listing) $display("  %0s", candidate);
    end
  endtask

  task all;
    begin
      name("activation_read_base_ignored");
      name("activation_write_base_ignored");
      name("addition_exponents_ignored");
      name("addition_second_twice");
      name("arvalid_falls");
      name("average_divisor");
      name("average_exponent_ignored");
      name("average_truncates");
      name("awvalid_falls");
      name("bias_lost");
      name("bias_of_block");
      name("bias_stale");
      name("custom_base_ignored");
      name("done_early");
      name("enable_ignored");
      name("exponent_destination_ignored");
      name("exponent_weights_ignored");
      name("exponents_stale");
      name("fc_padding_counts");
      name("fc_tail_not_padded");
      name("frame_before_input_next");
      name("frame_count_ignored");
      name("frame_input_not_advanced");
      name("frame_output_not_advanced");
      name("input_addr_not_advanced");
      name("input_addr_unstable");
      name("input_stop_ignored");
      name("input_valid_stays");
      name("kernel_rows_columns_swapped");
      name("max_padding_zero");
      name("n_c_swapped");
      name("output_addr_not_advanced");
      name("output_valid_early");
      name("output_valid_stays");
      name("padding_lane_not_zero");
      name("read_split_256");
      name("read_split_4k");
      name("relu_always");
      name("relu_lost");
      name("requantise_truncates");
      name("requantise_wraps");
      name("reset_keeps_registers");
      name("second_block_late");
      name("second_source_offset_ignored");
      name("single_product_short");
      name("single_sum_unsigned");
      name("slot_reused_early");
      name("source_unsigned");
      name("streaming_done_early");
      name("strides_swapped");
      name("wdata_unstable");
      name("weight_read_base_ignored");
      name("weights_stale");
      name("weights_unsigned");
      name("wlast_early");
      name("write_split_256");
      name("write_split_4k");
      name("write_strobe");
      name("x_y_swapped");
    end
  endtask

  initial
    if ($value$plusargs("bug=%s", chosen)) begin
      known   = 1'b0;
      listing = 1'b0;
      all;
      if (!known) begin
        $display("bug must be one of those below, not %0s", chosen);
        listing = 1'b1;
        all;
        $fatal(1, "unknown bug");
      end
    end
endmodule

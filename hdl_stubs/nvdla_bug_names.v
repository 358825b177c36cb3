// The names of all seeded bugs; a simulation that is started with another one ends at once.
module nvdla_bug_names;
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
      name("axi_arvalid_dropped");
      name("axi_awlen");
      name("axi_awvalid_dropped");
      name("axi_read_address_unstable");
      name("axi_read_answer_refused");
      name("axi_read_id");
      name("axi_strobe");
      name("axi_wlast");
      name("axi_write_address_unstable");
      name("axi_write_answer_refused");
      name("axi_write_data_unstable");
      name("axi_write_id");
      name("axi_write_lost");
      name("axi_wvalid_dropped");
      name("cdp_converter_floors");
      name("cdp_converter_wraps");
      name("cdp_dst_base");
      name("cdp_dst_line_stride");
      name("cdp_dst_surface_stride");
      name("cdp_input_offset_ignored");
      name("cdp_local_size");
      name("cdp_lookup_index");
      name("cdp_lookup_linear");
      name("cdp_lookup_priority");
      name("cdp_lookup_slope");
      name("cdp_multiplier_missing");
      name("cdp_padding_channels_count");
      name("cdp_src_base");
      name("cdp_src_line_stride");
      name("cdp_src_surface_stride");
      name("conv_converter_offset_ignored");
      name("conv_converter_truncate");
      name("conv_data_unsigned");
      name("conv_dilation_ignored");
      name("conv_image_line_stride");
      name("conv_kernel_columns_reversed");
      name("conv_last_cube_repeated");
      name("conv_mean_ignored");
      name("conv_pad_left_ignored");
      name("conv_pad_top_ignored");
      name("conv_pad_value_ignored");
      name("conv_pixel_order");
      name("conv_pixel_sign");
      name("conv_src_base");
      name("conv_src_batch_stride");
      name("conv_src_line_stride");
      name("conv_src_surface_stride");
      name("conv_strides_swapped");
      name("conv_truncate");
      name("conv_truncation_floors");
      name("conv_weight_base");
      name("conv_weights_stale");
      name("conv_window_one_line_down");
      name("conv_x_offset_ignored");
      name("csb_answer_stale");
      name("csb_posted_answered");
      name("csb_read_answered_twice");
      name("csb_unmapped_answers");
      name("csb_write_answered_as_read");
      name("csb_write_lost");
      name("interrupt_clears_neighbour");
      name("interrupt_line_ignores_last");
      name("interrupt_line_late");
      name("interrupt_mask_ignored");
      name("interrupt_missing");
      name("interrupt_set_lost");
      name("interrupt_stuck");
      name("interrupt_wrong_group");
      name("interrupt_wrong_unit");
      name("lut_last_write_lost");
      name("mcif_reads_unlimited");
      name("mcif_writes_unlimited");
      name("pdp_average_floors");
      name("pdp_band_overlaps");
      name("pdp_dst_base");
      name("pdp_dst_line_stride");
      name("pdp_dst_surface_stride");
      name("pdp_kernel_width");
      name("pdp_maximum_is_minimum");
      name("pdp_pad_left_ignored");
      name("pdp_pad_top_ignored");
      name("pdp_pad_value_ignored");
      name("pdp_reciprocal");
      name("pdp_src_base");
      name("pdp_src_line_stride");
      name("pdp_src_surface_stride");
      name("pdp_strides_swapped");
      name("regs_alias");
      name("regs_bits_joined");
      name("regs_consumer_stuck");
      name("regs_enable_clears");
      name("regs_op_enable_stays");
      name("regs_read_only_kept");
      name("regs_read_other_group");
      name("regs_reset_value");
      name("regs_stale_group");
      name("regs_status_idle");
      name("regs_write_while_enabled");
      name("sdp_alu_shift_missing");
      name("sdp_converter_floors");
      name("sdp_converter_offset_added");
      name("sdp_converter_offset_ignored");
      name("sdp_converter_rounds_half_up");
      name("sdp_converter_scale_unsigned");
      name("sdp_converter_shift");
      name("sdp_converter_wraps");
      name("sdp_dst_base");
      name("sdp_dst_batch_stride");
      name("sdp_dst_halves_swapped");
      name("sdp_dst_line_stride");
      name("sdp_dst_surface_stride");
      name("sdp_dst_surfaces_reversed");
      name("sdp_ends_one_surface_early");
      name("sdp_input_unsigned");
      name("sdp_interrupt_at_start");
      name("sdp_maximum_is_minimum");
      name("sdp_multiplier_missing");
      name("sdp_operand_base");
      name("sdp_operand_halves_swapped");
      name("sdp_operand_line_stride");
      name("sdp_operand_pair_swapped");
      name("sdp_operand_per_channel");
      name("sdp_operand_per_cube");
      name("sdp_operand_surface_stride");
      name("sdp_operand_unsigned");
      name("sdp_prelu_multiplies_all");
      name("sdp_relu_first");
      name("sdp_relu_missing");
      name("sdp_src_base");
      name("sdp_src_line_stride");
      name("sdp_src_surface_stride");
      name("sdp_truncation_floors");
      name("sdp_truncation_shift");
      name("sdp_write_repeated");
      name("sdp_x2_bypassed");
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

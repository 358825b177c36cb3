// Elements that lie beside one another, each made ELEMENT_BITS wide.
module nvdla_csc_widen #(
    parameter COUNT = 8,
    parameter ELEMENT_BITS = 8
) (
    input  wire                          is_byte,
    input  wire [COUNT*ELEMENT_BITS-1:0] packed_elements,
    output wire [COUNT*ELEMENT_BITS-1:0] elements
);
  genvar g;
  generate
    if (ELEMENT_BITS == 8) begin : int8
      wire unused_bits = &{1'b0, is_byte};

      assign elements = packed_elements;
    end else begin : all_precisions
      for (g = 0; g < COUNT; g = g + 1) begin : element
        wire [7:0] own_byte = packed_elements[8*g+:8];

        assign elements[16*g+:16] = is_byte ? {{8{own_byte[7]}}, own_byte} : packed_elements[16*g+:16];
      end
    end
  endgenerate
endmodule

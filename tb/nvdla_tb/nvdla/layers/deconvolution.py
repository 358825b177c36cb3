"""Deconvolution as hardware runs it: a convolution for each set of kernels, then RUBIK."""

from __future__ import annotations

from nvdla_models.cbuf import fewest_data_banks, fewest_weight_banks
from nvdla_models.conv import ConvParams
from nvdla_models.errors import InputError
from nvdla_models.layout import DeconvolutionWeightLayout, FeatureLayout, contracted_shape
from nvdla_models.sdp import SdpParams
from nvdla_tb.nvdla.layers.conv import ConvLayer, slice_entries
from nvdla_tb.nvdla.layers.rubik import RubikLayer, RubikMode
from nvdla_tb.nvdla.surfaces import CbufUse, Surface, WeightSurface


def deconvolve(
    layout: DeconvolutionWeightLayout,
    weights_address: int,
    src: Surface,
    between_address: int,
    dst_address: int,
    processing: SdpParams,
) -> tuple[ConvLayer | RubikLayer, ...]:
    """Return the layers that compute a deconvolution, in their order.

    Args:
        layout: Layout of the kernels; their number must fill whole atoms.
        weights_address: Where ``layout.pack`` lies.
        src: The input.
        between_address: Room for what the convolutions leave: their channels one after the other.
        dst_address: Where RUBIK puts the rows and columns into their places.
        processing: Processing of SDP after each convolution.

    Raises:
        InputError: when the kernels do not fill whole atoms, or for what a convolution or RUBIK refuses.

    Source: unit description, "Deconvolution" and "RUBIK".
    """
    config, precision = layout.config, processing.output_precision
    kernels = layout.shape[0]
    atom = config.atom_elements(precision)
    if kernels % atom:
        raise InputError(f"kernels must be a multiple of the {atom} elements of an atom, not {kernels}")
    # Of stride 1, with as much zero padding as lets every tap meet every element.
    _, _, rows, columns = layout.set_layout.shape
    params = ConvParams(
        stride_x=1,
        stride_y=1,
        dilation_x=1,
        dilation_y=1,
        pad_left=columns - 1,
        pad_right=columns - 1,
        pad_top=rows - 1,
        pad_bottom=rows - 1,
        pad_value=0,
        truncate=0,
        precision=layout.precision,
    )
    height = src.layout.shape[1]
    out = params.output_shape(src.layout.shape, layout.set_layout.shape)
    whole = FeatureLayout.packed(config, precision, (layout.sets * kernels, *out[1:]))
    part = FeatureLayout.packed(config, precision, out)
    cbuf = CbufUse(
        data_banks=fewest_data_banks(config, height * slice_entries(src.layout, params)),
        weight_banks=fewest_weight_banks(config, layout.set_layout.nbytes),
        release_slices=height,
    )
    convolutions = [
        ConvLayer(
            src,
            WeightSurface(layout.set_layout, weights_address + number * layout.set_stride_bytes),
            Surface(part, between_address + number * part.nbytes),
            params,
            processing,
            cbuf,
        )
        for number in range(layout.sets)
    ]
    between = Surface(whole, between_address)
    contracted = FeatureLayout.packed(config, precision, contracted_shape(whole, layout.stride))
    return (*convolutions, RubikLayer(RubikMode.CONTRACT, between, Surface(contracted, dst_address), *layout.stride))

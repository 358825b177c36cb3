"""How data lies in memory: one layout class per format, each with pack, unpack, offset, nbytes and describe."""

from typing import TYPE_CHECKING

from models.late import late_names

if TYPE_CHECKING:
    from models.layout.alignment import Alignment, DataFormat, alignment_of
    from models.layout.compression import CompressedWeightLayout, CompressedWeights
    from models.layout.deconvolution import DeconvolutionWeightLayout
    from models.layout.dlhdl import (
        ConvolutionDataLayout,
        DlhdlType,
        FullyConnectedDataLayout,
        custom_layer_layout,
        parallel_transfer_number,
        thread_number,
    )
    from models.layout.feature import Element, FeatureLayout
    from models.layout.kernel import KernelLayout, Weight
    from models.layout.lines import BDMA_UNIT_BYTES, LinesLayout
    from models.layout.operand import COMPONENTS, USE_CASES, Operand, OperandLayout
    from models.layout.pixel import PixelLayout
    from models.layout.pixel_convert import PixelConversion
    from models.layout.pixel_formats import (
        PACKED_NAMES,
        SEMI_PLANAR_NAMES,
        PixelFormat,
        pixel_format,
        supported_formats,
    )
    from models.layout.rubik import PlanarLayout, contract, contracted_shape, merge, split
    from models.layout.weight import ImageWeightLayout, WeightLayout
    from models.layout.winograd import WinogradWeightLayout
else:
    __getattr__ = late_names(
        __name__,
        {
            "models.layout.alignment": "Alignment DataFormat alignment_of",
            "models.layout.compression": "CompressedWeightLayout CompressedWeights",
            "models.layout.deconvolution": "DeconvolutionWeightLayout",
            "models.layout.dlhdl": (
                "ConvolutionDataLayout DlhdlType FullyConnectedDataLayout custom_layer_layout "
                "parallel_transfer_number thread_number"
            ),
            "models.layout.feature": "Element FeatureLayout",
            "models.layout.kernel": "KernelLayout Weight",
            "models.layout.lines": "BDMA_UNIT_BYTES LinesLayout",
            "models.layout.operand": "COMPONENTS USE_CASES Operand OperandLayout",
            "models.layout.pixel": "PixelLayout",
            "models.layout.pixel_convert": "PixelConversion",
            "models.layout.pixel_formats": "PACKED_NAMES SEMI_PLANAR_NAMES PixelFormat pixel_format supported_formats",
            "models.layout.rubik": "PlanarLayout contract contracted_shape merge split",
            "models.layout.weight": "ImageWeightLayout WeightLayout",
            "models.layout.winograd": "WinogradWeightLayout",
        },
    )

__all__ = [
    "BDMA_UNIT_BYTES",
    "COMPONENTS",
    "PACKED_NAMES",
    "SEMI_PLANAR_NAMES",
    "USE_CASES",
    "Alignment",
    "CompressedWeightLayout",
    "CompressedWeights",
    "ConvolutionDataLayout",
    "DataFormat",
    "DeconvolutionWeightLayout",
    "DlhdlType",
    "Element",
    "FeatureLayout",
    "FullyConnectedDataLayout",
    "ImageWeightLayout",
    "KernelLayout",
    "LinesLayout",
    "Operand",
    "OperandLayout",
    "PixelConversion",
    "PixelFormat",
    "PixelLayout",
    "PlanarLayout",
    "Weight",
    "WeightLayout",
    "WinogradWeightLayout",
    "alignment_of",
    "contract",
    "contracted_shape",
    "custom_layer_layout",
    "merge",
    "parallel_transfer_number",
    "pixel_format",
    "split",
    "supported_formats",
    "thread_number",
]

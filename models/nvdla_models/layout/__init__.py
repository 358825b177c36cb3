"""How data lies in memory: one layout class per format, each with pack, unpack, offset, nbytes and describe."""

from nvdla_models.layout.alignment import Alignment, DataFormat, alignment_of
from nvdla_models.layout.atom_cube import AtomGrid, Element
from nvdla_models.layout.compression import CompressedWeightLayout, CompressedWeights
from nvdla_models.layout.deconvolution import DeconvolutionWeightLayout
from nvdla_models.layout.feature import FeatureLayout
from nvdla_models.layout.kernel import KernelLayout, Weight
from nvdla_models.layout.lines import BDMA_UNIT_BYTES, LinesLayout
from nvdla_models.layout.operand import COMPONENTS, Operand, OperandLayout
from nvdla_models.layout.pixel import PixelLayout
from nvdla_models.layout.pixel_convert import PixelConversion
from nvdla_models.layout.pixel_formats import (
    PACKED_NAMES,
    SEMI_PLANAR_NAMES,
    PixelFormat,
    pixel_format,
    supported_formats,
)
from nvdla_models.layout.rubik import PlanarLayout, contract, contracted_shape, merge, split
from nvdla_models.layout.weight import ImageWeightLayout, WeightLayout
from nvdla_models.layout.winograd import WinogradWeightLayout

"""How data lies in memory: one layout class per format, each with pack, unpack, offset, nbytes and describe."""

from models.layout.alignment import Alignment, DataFormat, alignment_of
from models.layout.atom_cube import Element
from models.layout.compression import CompressedWeightLayout, CompressedWeights
from models.layout.deconvolution import DeconvolutionWeightLayout
from models.layout.dlhdl import (
    ConvolutionDataLayout,
    DlhdlType,
    FullyConnectedDataLayout,
    parallel_transfer_number,
    thread_number,
)
from models.layout.feature import FeatureLayout
from models.layout.kernel import KernelLayout, Weight
from models.layout.lines import BDMA_UNIT_BYTES, LinesLayout
from models.layout.operand import COMPONENTS, Operand, OperandLayout
from models.layout.pixel import PixelLayout
from models.layout.pixel_convert import PixelConversion
from models.layout.pixel_formats import PACKED_NAMES, SEMI_PLANAR_NAMES, PixelFormat, pixel_format, supported_formats
from models.layout.rubik import PlanarLayout, contract, contracted_shape, merge, split
from models.layout.weight import ImageWeightLayout, WeightLayout
from models.layout.winograd import WinogradWeightLayout

"""How data lies in memory: one layout class per format, each with pack, unpack, offset, nbytes and describe."""

from models.layout.feature import Element, FeatureLayout
from models.layout.operand import OperandLayout

__all__ = ["Element", "FeatureLayout", "OperandLayout"]

"""The converters, truncations and shifters of the pipelines: who owns them and where they exist."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from models.errors import InputError
from models.precision import Precision


class Owner(Enum):
    """The owner of the conversion."""

    HARDWARE = "HW"
    SOFTWARE = "SW"


@dataclass(frozen=True)
class ConverterRow:
    """One row of the document's converter tables.

    Attributes:
        name: as printed.
        unit: where it lies.
        owner: hardware converters have registers, software ones are arithmetic before the data is stored.
        integer_only: whether it exists for INT8 and INT16 only.
        offset_allowed: whether it may have an offset.
        converts_precision: whether it may change the precision of a layer's data.
    """

    name: str
    unit: str
    owner: Owner
    integer_only: bool
    offset_allowed: bool
    converts_precision: bool


_HW, _SW = Owner.HARDWARE, Owner.SOFTWARE

CONVERTERS = (
    ConverterRow("cc_cvt", "CDMA", _HW, True, True, True),
    ConverterRow("wt_cvt", "CDMA", _SW, False, False, True),
    ConverterRow("pra_trunc", "CSC", _HW, True, False, False),
    ConverterRow("cc_out_trunc", "CACC", _HW, True, False, False),
    ConverterRow("bs_cvt", "SDP", _SW, False, True, True),
    ConverterRow("bs_shifter", "SDP", _HW, True, False, False),
    ConverterRow("bn_m_cvt", "SDP", _SW, False, True, True),
    ConverterRow("bn_m_shifter", "SDP", _HW, True, False, False),
    ConverterRow("bn_v_cvt", "SDP", _SW, False, False, True),
    ConverterRow("ew_cvt", "SDP", _HW, True, True, True),
    ConverterRow("ew_inv_cvt", "SDP", _HW, True, True, False),
    ConverterRow("cdp_in_cvt", "CDP", _HW, True, True, False),
    ConverterRow("cdp_lut_cvt", "CDP", _SW, False, False, True),
    ConverterRow("cdp_out_cvt", "CDP", _HW, True, True, False),
)
"""Every row, in the printed order.

CDP converts no precision (Table 31), so its converters only scale. ``cc_cvt`` is listed for integers
although the document adds "For FP16, subtract mean data only": Table 29 allows FP16 images to stay FP16 only,
and the published C model of the hardware passes them unchanged.

Source: precision document, "Convolution converters", "Batch normalization", "Element wise", "CDP
    converters", "Precision conversion".
"""

SCENARIOS: dict[str, tuple[str, ...]] = {
    "Bias addition": ("X", "Y"),
    "Batch Normalization": ("X", "Y"),
    "Element-wise": ("X", "Y"),
    "Activation(ReLU/PReLU)": ("X", "Y"),
    "Activation(Sigmoid/Tanh, etc)": ("Y",),
    "Precision conversion": ("X", "Y"),
}
"""Abilities of the sub-modules of SDP; X stands for X1 and X2.

Source: precision document, "SDP converters".
"""


def check_use(name: str, precision: Precision, offset: int) -> ConverterRow:
    """Return a converter's row, or refuse a use that the hardware or the document does not allow.

    Args:
        name: as printed.
        precision: precision of the pipeline.
        offset: that is to be subtracted; 0 for none.

    Raises:
        InputError: for an unknown name, for FP16 where it does not exist, for an offset where none is allowed.

    Source: precision document, converter tables, "Limitation".
    """
    for row in CONVERTERS:
        if row.name == name:
            break
    else:
        known = ", ".join(row.name for row in CONVERTERS)
        raise InputError(f"converter must be one of {known}, not {name}")
    if row.integer_only and precision is Precision.FP16:
        raise InputError(f"precision must be INT8 or INT16 for {name}, not FP16: it does not exist there")
    if offset and not row.offset_allowed:
        raise InputError(f"offset must be 0 for {name}, not {offset}")
    return row

"""Every row of the converter tables, and what its limitation refuses."""

from __future__ import annotations

import numpy as np
import pytest

from models.converter_table import CONVERTERS, SCENARIOS, check_use
from models.errors import InputError
from models.precision import Precision
from tests.unit.models.precision.conftest import Measured

# name, owner, limitation: "int" for INT8 and INT16 only, "no offset", or none.
PRINTED = [
    ("cc_cvt", "HW", "int"),
    ("wt_cvt", "SW", "no offset"),
    ("pra_trunc", "HW", "int, no offset"),
    ("cc_out_trunc", "HW", "int, no offset"),
    ("bs_cvt", "SW", ""),
    ("bs_shifter", "HW", "int, no offset"),
    ("bn_m_cvt", "SW", ""),
    ("bn_m_shifter", "HW", "int, no offset"),
    ("bn_v_cvt", "SW", "no offset"),
    ("ew_cvt", "HW", "int"),
    ("ew_inv_cvt", "HW", "int"),
    ("cdp_in_cvt", "HW", "int"),
    ("cdp_lut_cvt", "SW", "no offset"),
    ("cdp_out_cvt", "HW", "int"),
]


@pytest.mark.parametrize(("name", "owner", "limitation"), PRINTED)
def test_each_row_has_its_owner_and_enforces_its_limitation(name: str, owner: str, limitation: str) -> None:
    assert check_use(name, Precision.INT16, 0).owner.value == owner
    assert check_use(name, Precision.INT8, 0).name == name
    if "int" in limitation:
        with pytest.raises(
            InputError, match=rf"^precision must be INT8 or INT16 for {name}, not FP16: it does not exist there$"
        ):
            check_use(name, Precision.FP16, 0)
    else:
        assert check_use(name, Precision.FP16, 0).name == name
    if "no offset" in limitation:
        with pytest.raises(InputError, match=rf"^offset must be 0 for {name}, not 5$"):
            check_use(name, Precision.INT8, 5)
    else:
        assert check_use(name, Precision.INT8, 5).name == name


def test_no_row_is_missing() -> None:
    assert [row.name for row in CONVERTERS] == [name for name, _, _ in PRINTED]


def test_an_unknown_converter_is_refused() -> None:
    with pytest.raises(InputError, match=r"^converter must be one of cc_cvt, .*, cdp_out_cvt, not pdp_cvt$"):
        check_use("pdp_cvt", Precision.INT8, 0)


def test_every_sdp_converter_but_ew_inv_cvt_may_convert_the_precision() -> None:
    sdp = [row for row in CONVERTERS if row.unit == "SDP" and row.name.endswith("_cvt")]
    assert [row.name for row in sdp if not row.converts_precision] == ["ew_inv_cvt"]


def test_only_the_table_lookup_needs_y() -> None:
    assert {name for name, modules in SCENARIOS.items() if modules == ("Y",)} == {"Activation(Sigmoid/Tanh, etc)"}
    assert all(modules in (("X", "Y"), ("Y",)) for modules in SCENARIOS.values())
    assert len(SCENARIOS) == 6


def test_pdp_has_no_converter() -> None:
    assert not [row for row in CONVERTERS if row.unit == "PDP"]


def test_the_hardware_ignores_every_converter_register_in_fp16(measured: Measured) -> None:
    (layer,) = measured("sdp_fp16_cvtregs_ignored")
    programmed = [layer.registers[name] for name in ("SDP.D_CVT_OFFSET", "SDP.D_CVT_SCALE", "SDP.D_CVT_SHIFT")]
    assert programmed != [0, 1, 0]
    # tests/unit/models/precision/test_float_measured.py reproduces this layer without reading those registers.
    assert np.count_nonzero(layer.arrays["output"]) > 0

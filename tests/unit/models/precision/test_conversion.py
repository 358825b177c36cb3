"""The conversions of SDP, and what they refuse."""

from __future__ import annotations

import pytest

from models.errors import InputError
from models.precision import Precision
from models.sdp import check_conversion

# Table 30: input, and the outputs of its valid rows.
PRINTED = {"INT8": "INT8 or INT16", "INT16": "INT8 or INT16 or FP16", "FP16": "INT16 or FP16"}


@pytest.mark.parametrize("source", list(Precision))
@pytest.mark.parametrize("target", list(Precision))
def test_conversion_accepts_exactly_the_valid_rows(source: Precision, target: Precision) -> None:
    allowed = PRINTED[source.name]
    if target.name in allowed.split(" or "):
        check_conversion(source, target)
        return
    with pytest.raises(InputError) as caught:
        check_conversion(source, target)
    layer = f"a SDP layer (offline mode) with {source.value} feature data"
    assert str(caught.value) == f"target must be {allowed} for {layer}, not {target.name} (Table 30)"

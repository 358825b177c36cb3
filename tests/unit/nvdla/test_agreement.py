"""What stands in several registers must agree, and what must hold one value must: read off the field tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from enum import Enum

import pytest

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.program.table import Fixed, Flat, Row, decode_rows, value_of
from nvdla_tb.nvdla.registers import RegisterMap
from tests.unit.nvdla.conv_samples import biased_conv, image_conv, small_conv
from tests.unit.nvdla.registers_helper import check_refused, config_of, words_of
from tests.unit.nvdla.samples import FULL, bias_sdp, small_cdp, small_pdp, small_sdp
from tests.unit.nvdla.test_pdp_program import SPLIT
from tests.unit.nvdla.test_sdp_program import pair_sdp

LAYERS = {
    "convolution": small_conv(),
    "convolution of nv_full": small_conv(FULL),
    "convolution with bias": biased_conv(),
    "image": image_conv(),
    "SDP": small_sdp(),
    "SDP with bias": bias_sdp(),
    "SDP with pairs": pair_sdp(),
    "PDP": small_pdp(),
    "PDP in parts": small_pdp(split=SPLIT),
    "CDP": small_cdp(),
}


def holds(entry: Row | Fixed, flat: Flat) -> bool:
    """Return whether an entry of a table counts for a layer with these attributes."""
    terms = entry.when.split(" & ") if entry.when else []
    return all(bool(flat.get(term.removeprefix("!"))) != term.startswith("!") for term in terms)


def shown(value: object) -> str:
    return value.name if isinstance(value, Enum) else str(value)


def broken(layer: Layer) -> Iterator[tuple[str, int, str]]:
    """Yield a field, another value of it, and the message that its table makes of that."""
    table, words, registers = chain_of(layer).coding.table, words_of(layer), RegisterMap.of(config_of(layer))
    flat = decode_rows(table, words, registers)
    first: dict[str, Row] = {}
    for entry in table:
        if not isinstance(entry, Row | Fixed) or not holds(entry, flat):
            continue
        if isinstance(entry, Fixed):
            yield entry.field, entry.value ^ 1, f" must be {entry.value}, not {entry.value ^ 1}: {entry.reason}"
        elif entry.significant and len(entry.fields) == 1 and first.setdefault(entry.attribute, entry) is not entry:
            (field,), other = entry.fields, first[entry.attribute].fields[0]
            register, part = registers.field(field)
            right, had = value_of(field, words.__getitem__, registers), shown(flat[entry.attribute])
            for changed in (right ^ 1 << bit for bit in range(part.width) if register.bits >> part.lsb + bit & 1):
                with suppress(InputError):
                    new = shown(entry.codec.decode(changed, part.width))
                    yield field, changed, f" must agree with {other} ({had}), not {new}"
                    break


@pytest.mark.parametrize(
    ("layer", "field", "value", "message"),
    [
        pytest.param(layer, field, value, field + message, id=f"{name}-{field}")
        for name, layer in LAYERS.items()
        for field, value, message in broken(layer)
    ],
)
def test_a_field_that_must_agree_or_hold_one_value_is_refused(
    layer: Layer, field: str, value: int, message: str
) -> None:
    check_refused(layer, {field: value}, message)

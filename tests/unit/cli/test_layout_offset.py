"""``offset`` and ``describe``: elements to addresses and back, in every format."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from nvdla_models.layout import CompressedWeightLayout, WeightLayout
from tests.unit.cli.layouts import FULL, INT8, SAMPLES
from tests.unit.conftest import Run

FEATURE = "--format feature --precision int8 --shape 11,2,3"


def elements(name: str) -> list[tuple[int, ...]]:
    """Return coordinates of the sample's tensor, about eight; all of them are those of the layouts' own tests."""
    every = list(itertools.product(*map(range, SAMPLES[name].shape)))
    return [*every[:: max(1, len(every) // 7)], every[-1]]


def spoken(name: str, index: tuple[int, ...]) -> str:
    """Return an index of the sample's tensor as --element takes it."""
    if name == "operand":
        return ",".join(["alu", *map(str, index)])
    if name == "operand pair":
        return ",".join([("alu", "mul")[index[0]], *map(str, index[1:])])
    return ",".join(map(str, index))


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_the_bytes_of_an_element_lie_at_its_offset_and_are_named_by_its_address(tb: Run, name: str) -> None:
    sample = SAMPLES[name]
    words = sample.of_memory
    tensor = sample.tensor()
    memory = sample.pack(tensor).tobytes()
    base = 0x1000
    for index in elements(name):
        said = tb("offset", words, f"--element {spoken(name, index)} --base {base:#x}").out
        found = re.fullmatch(r"(.*): offset (0x[0-9a-f]+), address (0x[0-9a-f]+)\n", said)
        assert found, said
        offset = int(found[2], 16)
        assert int(found[3], 16) == base + offset
        assert memory[offset : offset + tensor.itemsize] == tensor[index].tobytes(), said
        for byte in range(tensor.itemsize):
            back = tb("offset", words, f"--address {base + offset + byte:#x} --base {base:#x}").out
            suffix = f", its byte {byte}" if byte and "pixel" not in name else ""
            where = f"offset {offset + byte:#x}, address {base + offset + byte:#x}"
            assert back == f"{where}: {found[1]}{suffix}\n"


TEN_BITS = "--format pixel --config nv_full --pixel-format T_A2R10G10B10 --shape 4,1,2"
RUBIK = "--format rubik --config nv_full --precision int8 --shape 128,2,3 --mode contract --stride 2,2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{FEATURE} --element 9,1,2 --base 0x80000000", "c=9 h=1 w=2: offset 0x59, address 0x80000059"),
        (f"{FEATURE} --element 11,0,0", "c=11 h=0 w=0 (padding channel): offset 0x33, address 0x33"),
        (f"{FEATURE} --address 51", "offset 0x33, address 0x33: c=11 h=0 w=0 (padding channel)"),
        (
            f"{SAMPLES['operand'].words} --element alu,11,0,0",
            "component=alu c=11 h=0 w=0 (padding channel): offset 0x16, address 0x16",
        ),
        # Gaps.
        (f"{FEATURE} --line-stride 32 --address 0x18", "offset 0x18, address 0x18: no element"),
        (f"{SAMPLES['weight'].words} --address 0x27f", "offset 0x27f, address 0x27f: no element"),
        (f"{SAMPLES['dlhdl fully connected'].words} --address 11", "offset 0xb, address 0xb: no element"),
        (f"{SAMPLES['pixel'].words} --address 3", "offset 0x3, address 0x3: no element"),
        # A byte of a word may have bits of several elements.
        (
            f"{TEN_BITS} --address 5",
            "offset 0x5, address 0x5: c=2 h=0 w=1 (bits 0 to 9 of the word at 0x4)\n"
            "offset 0x5, address 0x5: c=1 h=0 w=1 (bits 10 to 19 of the word at 0x4)",
        ),
        (f"{TEN_BITS} --element 1,0,1", "c=1 h=0 w=1 (bits 10 to 19 of the word at 0x4): offset 0x5, address 0x5"),
        (f"{RUBIK} --element 1,3,5", "c=1 h=3 w=5: offset 0x2e1, address 0x2e1"),
    ],
)
def test_elements_have_places_and_places_have_elements(tb: Run, words: str, said: str) -> None:
    assert tb("offset", words) == (0, f"{said}\n", "")


def test_compressed_weights_are_found_through_their_mask(tb: Run) -> None:
    layout = WeightLayout(FULL, INT8, (3, 2, 2, 2))
    weights = np.random.default_rng(12).integers(0, 3, layout.shape, dtype=np.int8)
    surfaces = CompressedWeightLayout(layout).pack(weights)
    Path("mask.bin").write_bytes(surfaces.wmb.tobytes())
    words = "--format compressed --weight-format weight --config nv_full --precision int8 --shape 3,2,2,2"
    words += " --wmb mask.bin"
    kept = 0
    for k, c, r, s in itertools.product(*map(range, layout.shape)):
        byte, bit = divmod(layout.offset(k, c, r, s), 8)
        name = f"k={k} c={c} r={r} s={s} (mask bit {bit} of WMB byte {byte:#x})"
        said = tb("offset", words, f"--element {k},{c},{r},{s}").out
        if not weights[k, c, r, s]:
            assert said == f"{name}: compressed away\n"
            continue
        kept += 1
        found = re.fullmatch(re.escape(name) + r": offset (0x[0-9a-f]+), address \1\n", said)
        assert found, said
        assert surfaces.weights[int(found[1], 16)] == weights[k, c, r, s]
        assert tb("offset", words, f"--address {found[1]}").out == f"offset {found[1]}, address {found[1]}: {name}\n"
    assert 0 < kept < weights.size
    assert tb("offset", words, f"--address {kept}").out == f"offset {kept:#x}, address {kept:#x}: no element\n"
    Path("mask.bin").write_bytes(bytes(2))
    assert tb("offset", words, "--element 0,0,0,0").err == "error: data must hold at least 3 bytes, not 2\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--element 11,2,0", "h must be 0 to 1, not 2"),
        ("--element=-1,0,0", "c must be 0 to 15, not -1"),
        ("--element 1,2", "--element must be c,h,w, not 1,2"),
        ("--element 1,2,x", "--element must be a decimal or 0x number, not x"),
        ("--address 0x60", "--address must be 0x0 to 0x5f, not 0x60"),
        ("--address 0x7 --base 0x8", "--address must be 0x8 to 0x67, not 0x7"),
        ("--address here", "--address must be a decimal or 0x number, not here"),
        ("--address 4 --base 4", "start_address must be a multiple of the 8-byte atom, not 4"),
        # Of image weights, the original coordinates are checked.
        (f"{SAMPLES['image-weight'].words} --element 0,1,0,0", "c must be 0 to 0, not 1"),
        (f"{SAMPLES['image-weight'].words} --element 0,0,0,3", "s must be 0 to 2, not 3"),
    ],
)
def test_what_does_not_exist_is_refused(tb: Run, words: str, message: str) -> None:
    layout = "" if "--format" in words else FEATURE
    assert tb("offset", layout, words) == (2, "", f"error: {message}\n")


def test_describe_says_what_the_layout_says(tb: Run) -> None:
    assert tb("describe", FEATURE).out == (
        "feature data, INT8, nv_small: C=11 H=2 W=3\n"
        "atom: 8 bytes, 8 channels\n"
        "surfaces: 2, padding channels: 5\n"
        "line stride: 24 bytes (packed)\n"
        "surface stride: 48 bytes (packed)\n"
        "bytes: 96\n"
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_describes_itself(tb: Run, name: str) -> None:
    ran = tb("describe", SAMPLES[name].of_memory)
    assert (ran.code, ran.err) == (0, "")
    assert f" {len(SAMPLES[name].pack(SAMPLES[name].tensor()))}" in ran.out


def test_a_mode_of_rubik_describes_what_it_writes(tb: Run) -> None:
    said = tb("describe", RUBIK).out.splitlines()
    assert said[0] == "written by RUBIK contract: feature data, INT8, nv_full: C=32 H=4 W=6"


def test_compressed_weights_describe_all_three_surfaces(tb: Run) -> None:
    words = "--format compressed --weight-format weight --config nv_full --precision int8 --shape 4,4,3,3"
    said = tb("describe", words).out.splitlines()
    assert said[-1] == "compressed: WMB 128 bytes, WGS 128 bytes, weights at most 256 bytes"

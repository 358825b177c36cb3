"""``pack`` and ``unpack``: every format through files, and what is wrong with files."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

from nvdla_models.layout import (
    CompressedWeightLayout,
    DeconvolutionWeightLayout,
    FeatureLayout,
    PlanarLayout,
    WeightLayout,
    WinogradWeightLayout,
    contract,
    merge,
    split,
)
from nvdla_tb.stimulus.trace.data import read_data
from tests.references import NO_TRACES, TRACES
from tests.unit.cli.layouts import FP16, FULL, INT8, SAMPLES, SMALL, check_damage
from tests.unit.conftest import Run

CUBE = "--format feature --precision int8 --shape 3,1,2"
HOLES = "--fill must only be given for .dat files, which can have holes"
PACKET = "{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30}"
LONG = "n" * 300 + ".bin"


@pytest.mark.parametrize("suffix", ["bin", "dat"])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_tensor_becomes_the_bytes_of_its_layout_and_comes_back(tb: Run, name: str, suffix: str) -> None:
    sample = SAMPLES[name]
    tensor = sample.tensor()
    expected = sample.pack(tensor)
    np.save("in.npy", tensor)
    ran = tb(f"pack in.npy memory.{suffix}", sample.words)
    crc = zlib.crc32(expected.tobytes())
    assert ran == (0, f"memory.{suffix}: {expected.size} bytes, CRC-32 {crc:#010x}\n", "")
    if suffix == "bin":
        assert Path("memory.bin").read_bytes() == expected.tobytes()
    else:
        assert read_data(Path("memory.dat")) == ((0, expected.tobytes()),)
    ran = tb(f"unpack memory.{suffix} out.npy", sample.of_memory)
    assert ran == (0, f"out.npy: {tensor.dtype.name} {tensor.shape}\n", "")
    back = np.load("out.npy")
    np.testing.assert_array_equal(back.view(np.uint8), tensor.view(np.uint8), strict=True)
    assert back.dtype == tensor.dtype


def test_two_int8_atoms_of_nv_small_pack_as_written_by_hand(tb: Run) -> None:
    np.save("in.npy", np.array([[[1, 2]], [[3, 4]], [[5, 6]]], dtype=np.int8))
    tb("pack in.npy out.bin", CUBE, "--padding -1")
    assert Path("out.bin").read_bytes().hex(" ") == "01 03 05 ff ff ff ff ff 02 04 06 ff ff ff ff ff"


def test_a_padding_with_a_fraction_is_a_value_of_fp16_only(tb: Run) -> None:
    np.save("in.npy", np.ones((1, 1, 1), dtype=np.float16))
    words = "--format feature --config nv_full --precision fp16 --shape 1,1,1 --padding"
    assert tb("pack in.npy out.bin", words, "0.5").code == 0
    assert Path("out.bin").read_bytes()[:4].hex() == "003c0038"
    assert tb("pack in.npy out.bin", words, "nan").err == "error: padding must not be NaN\n"
    assert tb("pack in.npy out.bin", words, "half").err == "error: --padding must be a number, not half\n"


def test_winograd_kernels_are_converted_with_the_scale(tb: Run) -> None:
    layout = WinogradWeightLayout(FULL, FP16, (2, 3, 3, 3))
    weights = np.random.default_rng(3).normal(size=layout.shape).astype(np.float16)
    np.save("in.npy", weights)
    words = "--format winograd --config nv_full --precision fp16 --shape 2,3,3,3"
    tb("pack in.npy out.bin", words, "--scale 0.5")
    converted = layout.convert(weights, 0.5)
    assert Path("out.bin").read_bytes() == layout.pack(converted).tobytes()
    tb("unpack out.bin back.npy", words)
    np.testing.assert_array_equal(np.load("back.npy"), converted, strict=True)
    assert tb("pack in.npy out.bin", words, "--scale 2 --converted").err == (
        "error: --scale must not be given with --converted, which converts nothing\n"
    )


@pytest.mark.parametrize("name", ["weight", "image-weight", "winograd"])
def test_compressed_weights_are_three_files_and_come_back(tb: Run, name: str) -> None:
    sample = SAMPLES[name]
    words = sample.words.replace(f"--format {name}", f"--format compressed --weight-format {name}")
    words = words if "--config" in words else f"{words} --config nv_full"
    tensor = sample.tensor()
    tensor[np.random.default_rng(5).random(tensor.shape) < 0.6] = 0
    np.save("in.npy", tensor)
    surfaces = "--wmb mask.dat --wgs sizes.bin"
    packed = tb("pack in.npy weights.bin", words, surfaces)
    assert packed.code == 0
    assert [line.partition(":")[0] for line in packed.out.splitlines()] == ["weights.bin", "mask.dat", "sizes.bin"]
    assert tb("unpack weights.bin out.npy", words.replace(" --converted", ""), surfaces).code == 0
    np.testing.assert_array_equal(np.load("out.npy"), tensor, strict=True)


def test_compressed_surfaces_are_those_of_the_layout(tb: Run) -> None:
    weights = np.random.default_rng(6).integers(-1, 2, (5, 7, 2, 2), dtype=np.int8)
    np.save("in.npy", weights)
    words = "--format compressed --weight-format weight --config nv_full --precision int8 --shape 5,7,2,2"
    tb("pack in.npy a.bin", words, "--wmb b.bin --wgs c.bin")
    expected = CompressedWeightLayout(WeightLayout(FULL, INT8, (5, 7, 2, 2))).pack(weights)
    assert [Path(name).read_bytes() for name in ("a.bin", "b.bin", "c.bin")] == [data.tobytes() for data in expected]


def test_one_set_of_a_deconvolution_is_compressed(tb: Run) -> None:
    weights = np.random.default_rng(7).integers(-1, 2, (3, 4, 3, 3), dtype=np.int8)
    np.save("in.npy", weights)
    words = "--format compressed --weight-format deconvolution --config nv_full --precision int8 --shape 3,4,3,3"
    files = "--stride 2,2 --wmb b.bin --wgs c.bin --set"
    assert tb("pack in.npy a.bin", words, files, "1").code == 0
    assert tb("unpack a.bin out.npy", words, files, "1").code == 0
    whole = DeconvolutionWeightLayout(FULL, INT8, (3, 4, 3, 3), (2, 2))
    np.testing.assert_array_equal(np.load("out.npy"), whole.split(weights)[1], strict=True)
    assert tb("pack in.npy a.bin", words, files, "4") == (2, "", "error: --set must be 0 to 3, not 4\n")


def test_rubik_writes_what_each_mode_moves(tb: Run) -> None:
    cube = np.random.default_rng(8).integers(-128, 128, (128, 2, 3), dtype=np.int8)
    np.save("in.npy", cube)
    words = "--format rubik --config nv_full --precision int8 --shape 128,2,3 --mode"
    feature, planes = FeatureLayout.packed(FULL, INT8, cube.shape), PlanarLayout.packed(FULL, INT8, cube.shape)
    contracted = FeatureLayout(FULL, INT8, (32, 4, 6), 256, 1024)
    tb("pack in.npy contract.bin", words, "contract --stride 2,2 --line-stride 256")
    tb("pack in.npy split.bin", words, "split")
    tb("pack in.npy merge.bin", words, "merge")
    written = {mode: Path(f"{mode}.bin").read_bytes() for mode in ("contract", "split", "merge")}
    assert written == {
        "contract": contract(feature, contracted, (2, 2), feature.pack(cube)).tobytes(),
        "split": split(feature, planes, feature.pack(cube)).tobytes(),
        "merge": merge(planes, feature, planes.pack(cube)).tobytes(),
    }
    tb("unpack contract.bin out.npy", words, "contract --stride 2,2 --line-stride 256")
    np.testing.assert_array_equal(np.load("out.npy")[5, 3, 4], cube[2 * 32 + 5, 1, 2])
    for mode in ("split", "merge"):
        tb(f"unpack {mode}.bin out.npy", words, mode)
        np.testing.assert_array_equal(np.load("out.npy"), cube, strict=True)


BYTES = " ".join(f"0x{value:02x}" for value in range(17))


@pytest.mark.parametrize(
    ("packets", "option", "content"),
    [
        (["0x0, size:2, payload:0x01 0x02", "0x8, size:1, payload:0x03"], "--fill 0xff", [1, 3, 2, -1, -1, -1]),
        # The end is missing.
        (["0x0, size:2, payload:0x01 0x02"], "--fill 7", [1, 7, 2, 7, 7, 7]),
        # Packets behind the layout are not read.
        ([f"0x0, size:17, payload:{BYTES}", "0xffffffffffff, size:1, payload:0x55"], "", [0, 8, 1, 9, 2, 10]),
        # The last packet of a byte counts, as in a trace.
        (["0, size:1, payload:0x01", "0, size:1, payload:0x09"], "--fill 0", [9, 0, 0, 0, 0, 0]),
    ],
)
def test_the_packets_of_a_dat_are_loaded_in_their_order_and_holes_filled(
    tb: Run, packets: list[str], option: str, content: list[int]
) -> None:
    Path("in.dat").write_text(",".join(f"{{offset:{packet}}}" for packet in packets))
    assert tb(f"unpack in.dat out.npy {option}", CUBE).code == 0
    assert np.load("out.npy").ravel().tolist() == content


def test_holes_and_a_missing_end_are_refused_unless_their_value_is_given(tb: Run) -> None:
    Path("in.dat").write_text("{offset:0x0, size:2, payload:0x01 0x02}, {offset:0x8, size:1, payload:0x03}")
    assert (
        tb("unpack in.dat out.npy", CUBE).refusal == "in.dat: no packet has bytes 0x2 to 0x7: give --fill for all such"
    )
    assert tb("unpack in.dat out.npy --fill 256", CUBE).refusal == "--fill must be 0 to 255, not 256"
    Path("in.dat").write_text("{offset:0x0, size:2, payload:0x01 0x02}")
    assert tb("unpack in.dat out.npy", CUBE).refusal == "data must hold at least 16 bytes, not 2"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("pack in.npy out.hex", "out.hex: the file must be .bin or .dat, not .hex"),
        ("pack in.bin out.bin", "in.bin: the file must be .npy, not .bin"),
        ("pack in.png out.bin", "in.png: the file must be .npy, not .png"),
        ("pack in out.bin", "in: the file must be .npy, not without suffix"),
        ("unpack in.bin out.png", "out.png: the file must be .npy, not .png"),
        ("unpack in.npy out.npy", "in.npy: the file must be .bin or .dat, not .npy"),
        ("pack none.npy out.bin", "none.npy: cannot be read: No such file or directory"),
        ("unpack none.bin out.npy", "none.bin: cannot be read: No such file or directory"),
        ("unpack none.dat out.npy", "none.dat: cannot be read: No such file or directory"),
        ("pack in.npy none/out.bin", "none/out.bin: cannot be written: No such file or directory"),
        (f"pack in.npy {LONG}", f"{LONG}: cannot be written: File name too long"),
        ("unpack in.bin none/out.npy", "none/out.npy: cannot be written: No such file or directory"),
        ("unpack short.bin out.npy", "data must hold at least 16 bytes, not 3"),
        ("unpack in.bin out.npy --fill 0", f"{HOLES}, not for in.bin"),
        ("explain in.bin none.bin", "none.bin: cannot be read: No such file or directory"),
        ("pack float.npy out.bin", "cube must have dtype int8, not float64"),
        ("pack wide.npy out.bin", "cube must have shape (3, 1, 2), not (3, 2, 2)"),
        ("pack objects.npy out.bin", "objects.npy: elements must be numbers or text, not object"),
        ("unpack bad.dat out.npy", f"bad.dat:1: a packet must be like {PACKET} on one line, not offset"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_one_line_and_exit_code_2(tb: Run, words: str, message: str) -> None:
    np.save("in.npy", np.zeros((3, 1, 2), dtype=np.int8))
    np.save("float.npy", np.zeros((3, 1, 2)))
    np.save("wide.npy", np.zeros((3, 2, 2), dtype=np.int8))
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    Path("in.bin").write_bytes(bytes(16))
    Path("short.bin").write_bytes(bytes(3))
    Path("bad.dat").write_text("offset\n")
    Path("in.png").write_bytes(b"")
    assert tb(words, CUBE) == (2, "", f"error: {message}\n")


LARGE = "--format feature --precision int8 --shape 8192,8192,8192 --config nv_full"


@pytest.mark.parametrize("words", ["unpack in.bin out.npy", "unpack in.dat out.npy --fill 0"])
def test_a_small_file_of_a_large_layout_is_refused_before_memory_is_taken(tb: Run, words: str) -> None:
    Path("in.bin").write_bytes(bytes(16))
    Path("in.dat").write_text("{offset:0x0, size:1, payload:0x00}\n", encoding="utf-8")
    message = "--format feature: a surface must have at most 1073741824 bytes, not 549755813888"
    assert tb(words, LARGE) == (2, "", f"error: {message}\n")


@pytest.mark.slow
def test_no_damage_to_a_npy_file_is_more_than_one_line(tb: Run) -> None:
    np.save("whole.npy", np.zeros((3, 1, 2), dtype=np.int8))
    check_damage(tb, Path("whole.npy").read_bytes(), f"in.npy out.bin {CUBE}", 80, 100)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("dt", "--format feature --precision int8 --shape 14,44,24"),
        ("wt", "--format weight --precision int8 --shape 41,14,3,5"),
    ],
)
def test_the_files_of_a_golden_trace_unpack_and_pack_to_the_same_bytes(tb: Run, file: str, words: str) -> None:
    name = "dc_24x44x14_5x3x14x41_int8_0"
    path = TRACES / "nv_small" / name / f"{name}_{file}.dat"
    if not path.is_file():
        pytest.skip(NO_TRACES)
    # The file leaves out words of zeros, because the trace clears the memory first.
    assert tb(f"unpack {path} tensor.npy --fill 0", words).code == 0
    assert tb("pack tensor.npy again.dat", words).code == 0
    ((start, again),) = read_data(Path("again.dat"))
    original = bytearray(len(again))
    for offset, data in read_data(path):
        original[offset : offset + len(data)] = data
    assert (start, again) == (0, bytes(original))
    assert np.count_nonzero(np.load("tensor.npy")) == np.count_nonzero(np.frombuffer(again, dtype=np.uint8)) > 7000


def test_a_cube_and_its_layout_must_fit_the_build(tb: Run) -> None:
    assert tb("pack in.npy out.bin --format feature --precision fp16 --shape 3,1,2").err == (
        f"error: precision must be one of INT8 for {SMALL.name}, not FP16\n"
    )

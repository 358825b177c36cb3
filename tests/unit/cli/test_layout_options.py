"""Options of layouts: what a format does not use is refused, what it needs must be there."""

from __future__ import annotations

import pytest

from nvdla_tb.cli.layout_formats import all_formats, all_options
from tests.unit.cli.layouts import SAMPLES
from tests.unit.conftest import Run

FORMATS = all_formats()
OPTIONS = all_options(FORMATS)

FEATURE = "--format feature --precision int8 --shape 3,2,2"
RUBIK = "--format rubik --config nv_full --precision int8 --shape 128,2,2"
COMPRESSED = "--format compressed --config nv_full --precision int8 --shape 4,4,3,3 --wmb a.bin --wgs b.bin"
KERNELS = "--format compressed --weight-format weight --config nv_full --precision int8 --shape 4,4,3,3"
WEIGHT_FORMATS = "weight, image-weight, winograd or deconvolution"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SAMPLES if " " not in name])
def test_every_option_that_a_format_does_not_use_is_refused(tb: Run, name: str) -> None:
    form = FORMATS[name]
    takes = form.required + form.optional
    words = SAMPLES[name].of_memory
    allowed = ", ".join(f"--{option}" for option in takes if "describe" in OPTIONS[option].commands)
    refused = 0
    for option, about in OPTIONS.items():
        if option not in takes and "describe" in about.commands:
            message = f"error: --{option} must not be given for {name}, which takes {allowed}\n"
            assert tb("describe", words, f"--{option} 1") == (2, "", message)
            refused += 1
    assert refused >= 9


@pytest.mark.parametrize("name", [name for name in SAMPLES if " " not in name])
def test_every_option_that_a_format_needs_must_be_given(tb: Run, name: str) -> None:
    words = SAMPLES[name].of_memory.split()
    for option in FORMATS[name].required:
        at = words.index(f"--{option}")
        message = f"error: --{option} must be given for {name}: {OPTIONS[option].about}\n"
        assert tb("describe", " ".join(words[:at] + words[at + 2 :])) == (2, "", message)


def test_every_option_belongs_to_a_format() -> None:
    used = {option for form in FORMATS.values() for option in form.required + form.optional}
    assert used == set(OPTIONS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--shape 3,2,2 --precision int8", f"--format must be one of {', '.join(FORMATS)}, not nothing"),
        ("--format cube", f"--format must be one of {', '.join(FORMATS)}, not cube"),
        (
            "--format feature --precision int4 --shape 1,1,1",
            "--precision must be one of int8, int16, fp16 for feature, not int4",
        ),
        ("--format feature --precision int8 --shape 3,2", "--shape must be C,H,W for feature, not 3,2"),
        ("--format weight --precision int8 --shape 3,2,2", "--shape must be K,C,R,S for weight, not 3,2,2"),
        ("--format feature --precision int8 --shape 3,2,x", "--shape must be a decimal or 0x number, not x"),
        (f"{FEATURE} --line-stride wide", "--line-stride must be a decimal or 0x number, not wide"),
        (f"{FEATURE} --line-stride 20", "line_stride_bytes must be a multiple of the 8-byte atom, not 20"),
        (f"{FEATURE} --surface-stride 0", "surface_stride_bytes must be at least the 32 bytes of a surface, not 0"),
        (
            f"{FEATURE} --config none",
            "configuration must be one of nv_full, nv_large, nv_large_rtl, nv_medium_1024_full, nv_medium_512, "
            "nv_small, nv_small_256, nv_small_256_full or an existing .toml file, not none",
        ),
        (
            "--format pixel --pixel-format T_R8 --shape 1,2,2 --line-stride 8,8",
            "--line-stride must be BYTES for pixel, not 8,8",
        ),
        (
            "--format pixel --pixel-format T_Y8___U8V8_N444 --shape 3,2,2 --line-stride 8",
            "--line-stride must be BYTES,BYTES for pixel, not 8",
        ),
        (
            "--format operand --precision int8 --shape 1,1,1 --components mul,alu --component-bytes 1",
            "--components must be one of alu, mul, alu,mul for operand, not mul,alu",
        ),
        (
            "--format operand --precision int8 --shape 1,1,1 --components alu --component-bytes 4",
            "component_bytes must be 1 or 2, not 4",
        ),
        (f"{RUBIK} --mode rotate", "--mode must be one of contract, split, merge for rubik, not rotate"),
        (f"{RUBIK} --mode contract", f"--stride must be given for rubik contract: {OPTIONS['stride'].about}"),
        (
            f"{RUBIK} --mode split --surface-stride 64",
            "--surface-stride must not be given for rubik split, which takes --mode, --precision, --shape, --config, "
            "--line-stride, --planar-stride",
        ),
        (f"{RUBIK} --mode contract --stride 0,2", "stride y must be 1 to 32, not 0"),
        (
            f"{RUBIK} --mode contract --stride 2,3",
            "channels must be a multiple of the 192 that contract needs with stride (2, 3), not 128",
        ),
        (
            "--format rubik --precision int8 --shape 128,2,2 --mode contract --stride 2,2",
            "RUBIK must not be used: nv_small has none; configurations with RUBIK: nv_full, nv_large",
        ),
        (
            "--format dlhdl --module sigmoid --precision int8 --shape 4 --conv-thread-number 4",
            "--module must be one of convolution, fully-connected for dlhdl, not sigmoid",
        ),
        (
            "--format dlhdl --module convolution --precision fp16 --shape 4,1,1 --conv-thread-number 4",
            "--precision must be one of single, int8 for dlhdl, not fp16",
        ),
        (
            "--format dlhdl --module convolution --precision int8 --shape 4,1,1 --conv-thread-number 8",
            "ConvThreadNumber must be the square of a positive integer, not 8",
        ),
    ],
)
def test_what_cannot_be_a_layout_is_one_line_and_exit_code_2(tb: Run, words: str, message: str) -> None:
    assert tb("describe", words) == (2, "", f"error: {message}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (COMPRESSED, f"--weight-format must be given for compressed: what is compressed: {WEIGHT_FORMATS}"),
        (
            f"{COMPRESSED} --weight-format bias",
            "--weight-format must be one of weight, image-weight, winograd, deconvolution for compressed, not bias",
        ),
        (
            f"{COMPRESSED} --weight-format weight --stride 1,1",
            "--stride must not be given for compressed weight, which takes --weight-format, --precision, --shape, "
            "--wmb, --wgs, --config",
        ),
        (
            f"{COMPRESSED} --weight-format deconvolution --stride 2,2",
            "--set must be given for compressed deconvolution: which kernel set of a deconvolution is compressed",
        ),
        (
            "--format compressed --weight-format weight --precision int8 --shape 4,4,3,3 --wmb a.bin --wgs b.bin",
            "weights must be uncompressed for nv_small, which cannot decompress",
        ),
    ],
)
def test_compression_takes_the_options_of_what_it_compresses(tb: Run, words: str, message: str) -> None:
    assert tb("pack in.npy out.bin", words) == (2, "", f"error: {message}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            f"unpack in.bin out.npy {KERNELS} --wmb a.bin",
            "--wgs must be given for compressed: the group sizes, .bin or .dat",
        ),
        (f"pack in.npy out.bin {KERNELS} --wmb a.npy --wgs b.bin", "a.npy: the file must be .bin or .dat, not .npy"),
        (  # an empty option is given all the same
            f"describe {FEATURE} --planar-stride=",
            "--planar-stride must not be given for feature, which takes --precision, --shape, --config, --line-stride, "
            "--surface-stride",
        ),
    ],
)
def test_a_file_that_is_not_named_and_an_option_too_many_are_refused(tb: Run, words: str, message: str) -> None:
    assert tb(words).refusal == message

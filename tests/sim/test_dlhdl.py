"""The embedded Deep Learning HDL stand-in passes what is right, and what is seeded is found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.handshake_rules import HandshakeRule
from dlhdl_tb.ports import TOP
from dlhdl_tb.scenario import DlhdlEntry, DlhdlScenario, load_plan, save
from nvdla_tb.judge.detail import HandshakeViolation, PortViolation
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.judge.wrapped_rules import MEMORY_RULES
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.jobs import Setup, run_job
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.result import Dut, Result
from tests.sim.conftest import SMALL_DEVICES, job_of, played, simulated
from tests.sim.dlhdl_examples import blocks

CORE = DlhdlConfig.load("dlhdl_int8_4")
SIMULATORS = [pytest.param(case.values[0][0], id=case.values[0][0], marks=case.marks) for case in SMALL_DEVICES]
ICARUS = SIMULATORS[1:]
CONV = {"kind": "conv", "features": "C+1", "kernel": [3, 2], "padding": [1, 1, 0, 0]}
TWO_LAYERS = {"input": ["C+1", 3, 4], "frames": 2, "layer": [CONV, {"kind": "fc", "features": 6}]}
STREAM = {**TWO_LAYERS, "mode": "stream", "frames": 4}
ROWS = {"input": ["C", 18, 17], "layer": [{"kind": "max_pool", "kernel": [1, 1]}]}


def play(simulator: str, folder: Path, data: dict[str, Any], bug: str | None = None) -> Result:
    """Return how a scenario ended on the embedded core."""
    built = build(build_spec(Dut(CORE.name, simulator, top=TOP), waves=False))
    plusargs = () if bug is None else (f"+bug={bug}",)
    return played(built, folder / "run", DlhdlEntry("it", "", data).build(CORE, 1), *plusargs)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_stream_of_two_layers_is_right_in_every_byte(simulator: str, tmp_path: Path) -> None:
    result = play(simulator, tmp_path, STREAM)
    assert complaints(result.verdict) == []
    program = DlhdlEntry("it", "", STREAM).build(CORE, 1).program
    assert result.verdict.judged_bytes == 4 * sum(tensor.layout.nbytes for tensor in program.network.tensors)
    assert result.verdict.layers == 8


@pytest.mark.parametrize("simulator", ICARUS)
@pytest.mark.parametrize(
    "bug", ["bias_lost", "padding_lane_not_zero", "exponent_destination_ignored", "frame_input_not_advanced"]
)
def test_a_seeded_bug_of_data_makes_wrong_bytes(simulator: str, bug: str, tmp_path: Path) -> None:
    result = play(simulator, tmp_path, TWO_LAYERS, bug)
    assert result.ending is Ending.MISMATCH
    assert any(finding.check is Check.VALUE for finding in result.verdict.findings)


@pytest.mark.parametrize("simulator", ICARUS)
@pytest.mark.parametrize(
    ("bug", "rule"),
    [
        ("input_addr_not_advanced", HandshakeRule.INPUT_ADDRESS),
        ("output_addr_not_advanced", HandshakeRule.OUTPUT_ADDRESS),
        ("output_valid_early", HandshakeRule.OUTPUT_EARLY),
    ],
)
def test_a_seeded_bug_of_the_handshake_breaks_its_rule(
    simulator: str, bug: str, rule: HandshakeRule, tmp_path: Path
) -> None:
    findings = play(simulator, tmp_path, STREAM, bug).verdict.findings
    assert rule in [found.detail.rule for found in findings if isinstance(found.detail, HandshakeViolation)]


@pytest.mark.parametrize("simulator", ICARUS)
def test_a_seeded_bug_of_a_master_breaks_a_rule_of_axi4(simulator: str, tmp_path: Path) -> None:
    findings = play(simulator, tmp_path, {**ROWS, "skew_bytes": 4064}, "read_split_4k").verdict.findings
    broken = [found.detail.rule for found in findings if isinstance(found.detail, PortViolation)]
    rules = [MEMORY_RULES[number] for number in broken]
    assert "araddr and arlen must not lead across a border of 4 KiB" in rules


def core_head() -> str:
    """Return the embedded core's text up to its last port."""
    text = (HDL / "dlhdl" / "dlhdl_core.v").read_text(encoding="utf-8")
    return text[text.index("module dlhdl_core") : text.index("\n);\n")]


def core_of(folder: Path, text: str, *below: str) -> tuple[str, str]:
    """Return configuration and filelist of a core of the user's: a top in Verilog, and what it consists of."""
    (folder / "top.v").write_text(text)
    (folder / "core.f").write_text("\n".join((*below, str(folder / "top.v"))))
    header = HDL / "dlhdl" / "dlhdl_addr.h"
    (folder / "mine.toml").write_text(
        f'system = "dlhdl"\nconv_thread_number = 4\ndata_type = "int8"\nregisters = "{header}"\n'
    )
    return str(folder / "mine.toml"), str(folder / "core.f")


@pytest.mark.parametrize("simulator", ICARUS)
def test_every_rule_of_the_masters_is_shown_to_fail(simulator: str, tmp_path: Path) -> None:
    head = core_head().replace("output wire", "output reg ").replace("dlhdl_core", "silent_core")
    core = core_of(tmp_path, f"{head}\n);\nendmodule\n")
    spec = build_spec(Dut(core[0], simulator, rtl=core[1], top="silent_core"), waves=False)
    built = build(spec, tmp_path / "builds")
    simulated(built, "tests.sim.dlhdl_masters", "every_rule_of_the_masters", tmp_path)


LITE_PINS = (
    *("AWADDR", "AWPROT", "AWVALID", "AWREADY", "WDATA", "WSTRB", "WVALID", "WREADY", "BRESP", "BVALID", "BREADY"),
    *("ARADDR", "ARPROT", "ARVALID", "ARREADY", "RDATA", "RRESP", "RVALID", "RREADY"),
)
TIED = {"AWSIZE": 2, "AWBURST": 1, "WLAST": 1, "ARSIZE": 2, "ARBURST": 1}


def lite_top() -> str:
    """Return a core whose register port is AXI4-Lite: the embedded one, with what only AXI4 has tied."""
    head = core_head()
    ports, pins = [], []
    for direction, width, name in re.findall(r"(input|output) +wire +(\[[^\]]*\])? *(\w+)", head):
        slave = name.removeprefix("AXI4_") if re.fullmatch("AXI4_(?!ARESETN)(AW|W|B|AR|R)[A-Z]+", name) else None
        if slave is None or slave in LITE_PINS:
            outside = name if slave is None else f"AXI4_Lite_{slave}"
            ports.append(f"  {direction} wire {width} {outside}")
            pins.append(f"    .{name}({outside})")
        elif direction == "input":
            pins.append(f"    .{name}({TIED.get(slave, 0)})")
        else:
            pins.append(f"    .{name}()")
    parameters = head[head.index("#(") : head.index(") (")]
    return (
        f"module core_lite {parameters}) (\n{','.join(ports)}\n);\n"
        f"  dlhdl_core #(.CONV_THREAD_NUMBER(CONV_THREAD_NUMBER), .DATA_TYPE(DATA_TYPE)) core (\n{','.join(pins)});\n"
        "endmodule\n"
    )


@pytest.mark.parametrize("simulator", ICARUS)
def test_registers_behind_axi4_lite_are_driven_as_those_behind_axi4(simulator: str, tmp_path: Path) -> None:
    config, filelist = core_of(tmp_path, lite_top(), f"-F {HDL / 'dlhdl.f'}")
    dut = Dut(config, simulator, rtl=filelist, top="core_lite")
    built = build(build_spec(dut, waves=False), tmp_path / "builds")
    job = job_of(DlhdlEntry("it", "", STREAM).build(DlhdlConfig.load(config), 1))
    result = run_job(job, Setup(built, dut, 240), tmp_path / "run")
    assert complaints(result.verdict) == []
    assert result.verdict.layers == 8
    late = run_job(replace(job, plusargs=("+bug=output_valid_early",)), Setup(built, dut, 240), tmp_path / "late")
    assert any(finding.check is Check.PROTOCOL for finding in late.verdict.findings)


def vector_3_3_5() -> list[int]:
    """Return the vector of the 3-by-3-by-5 example for C = 3, N = 4: three features and a zero, two and zeros."""
    first = [value for pixel in range(9) for value in (pixel, 9 + pixel, 18 + pixel, 0)]
    return first + [value for pixel in range(9) for value in (27 + pixel, 36 + pixel, 0, 0)]


EXAMPLES = {
    "3x3x4, C = N = 4": ("dlhdl_single_16", (4, 3, 3), 36, None),
    "3x3x4, C 3 and N 4": ("dlhdl_int8_9", (4, 3, 3), 72, None),
    "3x3x5, C 3 and N 4": ("dlhdl_int8_9", (5, 3, 3), 72, vector_3_3_5()),
    "3x3x5, C 3 and N 4, single": ("dlhdl_single_9", (5, 3, 3), 72, vector_3_3_5()),
    "3x3x5, ConvThreadNumber 64": ("dlhdl_int8_64", (5, 3, 3), 72, None),
    "10x10x5, ConvThreadNumber 9": ("dlhdl_single_9", (5, 10, 10), 800, None),
    "28x28x1, ConvThreadNumber 4": ("dlhdl_int8_4", (1, 28, 28), 1568, None),
    "6 values, N 8": ("dlhdl_int8_64", (6,), 8, [0, 1, 2, 3, 4, 5, 0, 0]),
}


def halves(scenario: DlhdlScenario) -> bool:
    """Return whether the layer is no addition, or one whose result has twice the exponent's step."""
    network = scenario.program.network
    return network.layers[0].second is None or network.tensors[0].exponent == network.exponent + 1


@pytest.mark.parametrize("simulator", ICARUS)
@pytest.mark.parametrize("example", EXAMPLES)
def test_a_worked_example_passes_through_the_whole_bench(simulator: str, example: str, tmp_path: Path) -> None:
    name, shape, count, listed = EXAMPLES[example]
    core = DlhdlConfig.load(name)
    values = np.arange(np.prod(shape)).reshape(shape).astype(core.data_type.dtype)
    vector = blocks(values, core.threads, core.parallel) if listed is None else listed
    assert len(vector) == count
    np.save(tmp_path / "values.npy", values[None])
    # A window of one pixel leaves values as they are, and so does half of twice a value.
    layers = '{ kind = "max_pool", kernel = [1, 1] }' if len(shape) == 3 else '{ kind = "add", second = -1 }'
    (tmp_path / "plan.toml").write_text(
        f'system = "dlhdl"\n[[scenario]]\nname = "it"\nabout = "it"\ninput = {list(shape)}\nlayer = [{layers}]\n'
        'input_file = "values.npy"\nexpected_file = "values.npy"\n'
    )
    (entry,) = load_plan(tmp_path / "plan.toml")
    scenario = next(one for seed in range(20) if halves(one := entry.build(core, seed)))
    folder = tmp_path / "run" / "scenario"
    save(scenario, folder)
    np.save(folder / "vector.npy", np.array(vector, dtype=core.data_type.dtype))
    built = build(build_spec(Dut(name, simulator, top=TOP), waves=False))
    test = "the_example_lies_in_memory_as_the_document_says"
    request = Request(name, scenario=str(folder))
    simulated(built, "tests.sim.dlhdl_examples", test, tmp_path / "run", request=request)

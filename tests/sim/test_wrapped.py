"""The embedded device behind APB, AXI4-Lite and AXI4 plays what it plays on bare ports, with the same verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.finding import BYTES
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.trace import read
from tests.references import TRACES, needs_traces
from tests.sim.conftest import needs_icarus, planned, played

CONFIG = HwConfig.load("nv_small")
WRAPPERS = {"native": ("verilator", "apb_axi4"), "coroutine": ("icarus", "axi_lite_axi4")}
"""By back end, the simulator and the wrapper; one of each, as builds take long."""

SCENARIOS = (
    *("interrupts_by_software", "clocks_csb_slow", "reset_while_sdp"),
    *("memory_interface_narrow", "memory_interface_read_turns"),
)
"""What looks at registers, clocks, resets and outstanding requests, which a wrapper may change."""

TRACE = "sdp_3x3x33_bn_int8_mem_0"


@pytest.fixture(scope="module", params=["native", pytest.param("coroutine", marks=needs_icarus)])
def wrapped(request: pytest.FixtureRequest) -> Built:
    """A wrapped device."""
    simulator, name = WRAPPERS[request.param]
    folder = HDL / "wrapped"
    spec = BuildSpec(
        CONFIG, simulator, f"nvdla_{name}", folder / f"{name}.f", folder / f"{name}.toml", backend=request.param
    )
    return build(spec)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_passes(wrapped: Built, tmp_path: Path, name: str) -> None:
    if not wrapped.spec.native:
        pytest.skip("native back end only: it takes long with coroutines")
    result = played(wrapped, tmp_path, planned(name, plan="nv_small_registers"))
    assert (result.ending, result.verdict.findings) == (Ending.PASSED, [])


@needs_traces
def test_a_golden_trace_passes(wrapped: Built, tmp_path: Path) -> None:
    result = played(wrapped, tmp_path, read(TRACES / "nv_small" / TRACE, CONFIG))
    assert (result.ending, result.verdict.findings) == (Ending.PASSED, [])


def test_a_wrong_byte_is_found_behind_the_wrapper(wrapped: Built, tmp_path: Path) -> None:
    result = played(wrapped, tmp_path, planned("sdp_x1_bias_per_channel"), "+bug=sdp_dst_surface_stride")
    assert result.ending is Ending.MISMATCH
    assert any(finding.check in BYTES for finding in result.verdict.findings)


RAISED = """  reg error;
  assign irq = done || error;
  always @(posedge aclk or negedge aresetn)
    if (!aresetn) error <= 1'b0;
    else if (m_axi_bvalid && m_axi_bresp != 2'd0 || m_axi_rvalid && m_axi_rresp != 2'd0) error <= 1'b1;
endmodule"""
"""The end of a wrapper whose interrupt errors of memory raise, too."""

LAYER = {"engine": "SDP", "shape": [32, 4, 4], "x1": {"alu": "sum", "alu_operand": "element"}}


def filelist(folder: Path, *, raises: bool) -> Path:
    """Return the filelist of a wrapper that ignores errors of memory, as NVDLA does, or that raises an interrupt."""
    text = (HDL / "wrapped" / "nvdla_apb_axi4.v").read_text(encoding="utf-8")
    if raises:
        text = text.replace("(irq)", "(done)").replace("  wire aw_valid,", "  wire done;\n  wire aw_valid,")
        text = text.replace("endmodule", RAISED)
    (folder / "top.v").write_text(text)
    below = [HDL / "wrapped" / name for name in ("nvdla_apb_bridge.v", "nvdla_axi4_port.v")]
    path = folder / "device.f"
    path.write_text("\n".join((f"-F {HDL / 'nv_small.f'}", *map(str, below), str(folder / "top.v"))))
    return path


@needs_icarus
@pytest.mark.parametrize("raises", [False, True])
def test_errors_of_memory_change_no_byte_and_what_a_wrapper_makes_of_them_is_told(tmp_path: Path, raises: bool) -> None:
    port_map = HDL / "wrapped" / "apb_axi4.toml"
    spec = BuildSpec(CONFIG, "icarus", "nvdla_apb_axi4", filelist(tmp_path, raises=raises), port_map)
    built = build(spec, tmp_path / "builds")
    scenario = PlanEntry("it", "", "nv_small", {"layer": [LAYER]}).build(CONFIG, 1)
    for plusarg in ("+unused", "+rresp=3", "+bresp=2") if raises else ("+rresp=2", "+bresp=2"):
        verdict = played(built, tmp_path / plusarg.strip("+"), scenario, plusarg).verdict
        assert verdict.judged_bytes == 32 * 4 * 4
        assert not any(finding.check in BYTES for finding in verdict.findings)
        assert verdict.ending.is_failure == (raises and plusarg != "+unused"), plusarg

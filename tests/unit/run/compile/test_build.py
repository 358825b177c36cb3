"""Ports are checked before anything is built, one content is built once, and refusals say why."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile import toolchain
from nvdla_tb.run.compile.build import build, step_of
from nvdla_tb.run.compile.ports import Port, expected_ports
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.errors import BuildError, LaunchError, PortError, ToolError
from nvdla_tb.run.simulate import simulate
from tests.unit.run.compile.conftest import needs_icarus
from tests.unit.run.compile.tiny import CONFIG, write_rtl

pytestmark = pytest.mark.slow


def run_tiny(
    built: Built, work_dir: Path, testcase: str = "a_word_comes_back_plus_three", env: Mapping[str, str] | None = None
) -> str:
    """Return why a test did not pass, nothing when it did."""
    module = "tests.unit.run.compile.launched"
    run = simulate(built, test_module=module, testcase=testcase, env=env or {}, work_dir=work_dir, timeout_seconds=60)
    return run.message


def with_blocks(filelist: Path) -> Path:
    """Return the filelist with a control file that makes a cell a block of its own."""
    (filelist.parent / "blocks.vlt").write_text('`verilator_config\nhier_block -module "tiny_increment"\n')
    filelist.write_text(f"{filelist.read_text()}blocks.vlt\n")
    return filelist


def refused(spec: BuildSpec, root: Path, message: str, error: type[LaunchError] = BuildError) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        build(spec, root)


def test_the_same_content_is_built_once(model_of_verilator: Built) -> None:
    again = build(model_of_verilator.spec, model_of_verilator.directory.parent)

    assert again.cached
    assert again.directory == model_of_verilator.directory


def test_a_moved_tree_finds_the_model(model_of_verilator: Built, tmp_path: Path) -> None:
    spec = replace(model_of_verilator.spec, filelist=write_rtl(tmp_path / "moved"))

    assert build(spec, model_of_verilator.directory.parent).cached


def test_a_module_that_a_control_file_names_is_compiled_as_a_block_of_its_own(rtl: Path, tmp_path: Path) -> None:
    built = build(BuildSpec(CONFIG, filelist=with_blocks(rtl)), tmp_path / "builds")

    assert (built.directory / "Vtiny_increment/libtiny_increment.a").is_file()
    assert run_tiny(built, tmp_path / "run") == ""
    names = " ".join(port.name for port in expected_ports(CONFIG))
    assert run_tiny(built, tmp_path / "handles", "every_handle_is_a_port", {"EXPECTED_HANDLES": names}) == ""


def test_all_signals_outside_of_blocks_are_visible_to_a_debugging_build(rtl: Path, tmp_path: Path) -> None:
    built = build(BuildSpec(CONFIG, filelist=with_blocks(rtl), debug=True), tmp_path / "builds")

    assert run_tiny(built, tmp_path / "run", "internals_are_visible") == ""


def test_a_control_file_without_blocks_leaves_the_model_in_one_piece(rtl: Path, tmp_path: Path) -> None:
    (rtl.parent / "lint.vlt").write_text("`verilator_config\nlint_off -rule UNUSED\n// no hier_block here\n")
    rtl.write_text(f"{rtl.read_text()}lint.vlt\n")

    built = build(BuildSpec(CONFIG, filelist=rtl), tmp_path / "builds")

    assert not (built.directory / "Vtop_hier.mk").exists()
    assert run_tiny(built, tmp_path / "run") == ""


@needs_icarus
def test_icarus_is_not_given_control_files(rtl: Path, tmp_path: Path) -> None:
    built = build(BuildSpec(CONFIG, "icarus", filelist=with_blocks(rtl)), tmp_path / "builds")

    assert run_tiny(built, tmp_path / "run") == ""


def test_a_folder_that_a_tool_removes_meanwhile_ends_no_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "removed").mkdir()
    (tmp_path / "top.o").touch()
    scandir, said = os.scandir, list[str]()

    def scanned(path: Any) -> Any:
        if Path(path).name == "removed":
            raise FileNotFoundError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scanned)
    teller: Any = SimpleNamespace(say=said.append, progress=said.append)
    step_of(["make", "-f", "Vtop_hier.mk"], tmp_path, teller)()
    assert said == ["compiling: 1 files, 0 s"]


@pytest.mark.parametrize("text", ["0", "-1", "many", ""])
def test_a_number_of_compilers_that_is_none_is_refused(
    rtl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("NVDLA_BUILD_JOBS", text)

    message = f"NVDLA_BUILD_JOBS must be a positive number of processes, not {text}"
    refused(BuildSpec(CONFIG, filelist=rtl), tmp_path / "builds", message, ToolError)


@needs_icarus
def test_a_changed_library_cell_is_built_anew(rtl: Path, tmp_path: Path) -> None:
    spec = BuildSpec(CONFIG, "icarus", filelist=rtl)
    first = build(spec, tmp_path / "builds")
    cell = rtl.parent / "library/tiny_increment.v"
    cell.write_text(cell.read_text().replace("a + 1", "a + 2"))

    second = build(spec, tmp_path / "builds")

    assert run_tiny(first, tmp_path / "first") == ""
    assert not second.cached
    assert run_tiny(second, tmp_path / "second", "a_word_comes_back_plus_four") == ""


@needs_icarus
def test_a_changed_macro_is_built_anew(rtl: Path, tmp_path: Path) -> None:
    spec = BuildSpec(CONFIG, "icarus", filelist=rtl)
    build(spec, tmp_path / "builds")
    rtl.write_text(rtl.read_text().replace("FILELIST_STEP=1", "FILELIST_STEP=2"))

    second = build(spec, tmp_path / "builds")

    assert not second.cached
    assert run_tiny(second, tmp_path / "run", "a_word_comes_back_plus_four") == ""


@needs_icarus
def test_what_an_interrupted_build_left_is_not_taken_for_a_model(rtl: Path, tmp_path: Path) -> None:
    spec = BuildSpec(CONFIG, "icarus", filelist=rtl)
    first = build(spec, tmp_path / "builds")
    (first.directory / "built.json").unlink()
    (first.directory / "sim.vvp").write_text("half a model")

    second = build(spec, tmp_path / "builds")

    assert not second.cached
    assert run_tiny(second, tmp_path / "run") == ""


def _build_icarus(arguments: tuple[Path, Path]) -> bool:
    filelist, root = arguments
    return build(BuildSpec(CONFIG, "icarus", filelist=filelist), root).cached


@needs_icarus
def test_processes_that_want_the_same_model_build_it_once(rtl: Path, tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        cached = list(pool.map(_build_icarus, [(rtl, tmp_path / "builds")] * 4))

    assert sorted(cached) == [False, True, True, True]


@needs_icarus
def test_a_port_map_gives_foreign_rtl_the_canonical_names(tmp_path: Path) -> None:
    renamed = {"dla_csb_clk": "clk", "nvdla2csb_data": "data_o"}
    ports = tuple(replace(p, name=renamed.get(p.name, p.name)) for p in expected_ports(CONFIG) if p.name != "test_mode")
    filelist = write_rtl(tmp_path / "rtl", (*ports, Port("scan_en", "input", 40), Port("debug_bus", "output", 8)))
    vlib = filelist.parent / "NV_nvdla.vlib"
    text = (
        vlib.read_text()
        .replace("posedge dla_csb_clk", "posedge clk")
        .replace("data_o = 0", "data_o = sum + scan_en[39]")
    )
    vlib.write_text(text.replace("NV_nvdla(", "my_top("))
    port_map = tmp_path / "ports.toml"
    port_map.write_text(
        'open = ["debug_bus"]\nabsent = ["test_mode"]\n[tie]\nscan_en = 0x8000000000\n'
        '[ports]\ndla_csb_clk = "clk"\nnvdla2csb_data = "data_o"\n'
    )

    built = build(BuildSpec(CONFIG, "icarus", "my_top", filelist, port_map), tmp_path / "builds")

    assert run_tiny(built, tmp_path / "run", "a_word_comes_back_plus_four") == ""


def test_wrong_ports_are_refused_before_anything_is_built(tmp_path: Path) -> None:
    ports = tuple(replace(p, width=32) if p.name == "csb2nvdla_addr" else p for p in expected_ports(CONFIG))
    filelist = write_rtl(tmp_path / "rtl", ports[1:])

    message = (
        "ports of NV_nvdla differ from nv_small in 2 places:\n"
        "  missing input dla_core_clk, 1 bit\n"
        "  csb2nvdla_addr must have 16 bits, not 32"
    )
    refused(BuildSpec(CONFIG, filelist=filelist), tmp_path / "builds", message, PortError)
    assert not [path for path in (tmp_path / "builds").iterdir() if path.is_dir()]


def test_port_widths_are_seen_through_parameters_and_packed_dimensions(tmp_path: Path) -> None:
    filelist = write_rtl(tmp_path / "rtl")
    vlib = filelist.parent / "NV_nvdla.vlib"
    text = vlib.read_text().replace("module NV_nvdla(", "module NV_nvdla #(parameter W = 4) (")
    text = text.replace("[15:0] csb2nvdla_addr", "[4*W-1:0] csb2nvdla_addr")
    vlib.write_text(text.replace("[31:0] csb2nvdla_wdat", "[3:0][0:W] csb2nvdla_wdat"))

    message = "ports of NV_nvdla differ from nv_small in 1 place:\n  csb2nvdla_wdat must have 32 bits, not 20"
    refused(BuildSpec(CONFIG, filelist=filelist), tmp_path / "builds", message, PortError)


def test_a_struct_port_is_refused_by_name(tmp_path: Path) -> None:
    filelist = write_rtl(tmp_path / "rtl")
    vlib = filelist.parent / "NV_nvdla.vlib"
    struct = "struct packed { logic [15:0] a; }"
    vlib.write_text(vlib.read_text().replace("[15:0] csb2nvdla_addr", f"{struct} csb2nvdla_addr"))

    message = "port csb2nvdla_addr of NV_nvdla must be a vector, not a struct or the like"
    refused(BuildSpec(CONFIG, filelist=filelist), tmp_path / "builds", message)


def test_a_syntax_error_is_shown_with_file_line_and_log(tmp_path: Path) -> None:
    filelist = write_rtl(tmp_path / "rtl", extra_code="  assign = 1;\n")
    line = (filelist.parent / "NV_nvdla.vlib").read_text().splitlines().index("  assign = 1;") + 1

    with pytest.raises(BuildError) as caught:
        build(BuildSpec(CONFIG, filelist=filelist), tmp_path / "builds")

    message = str(caught.value)
    assert message.startswith("Verilator cannot elaborate NV_nvdla:\n")
    assert f"{filelist.parent / 'NV_nvdla.vlib'}:{line}:" in message
    assert message.endswith(f"\nlog: {caught.value.log_path}")
    assert caught.value.log_path is not None
    assert caught.value.log_path.is_file()


@needs_icarus
def test_what_only_the_simulator_refuses_is_a_build_error_too(tmp_path: Path) -> None:
    filelist = write_rtl(tmp_path / "rtl", extra_code="`ifdef __ICARUS__\n  assign = 1;\n`endif\n")

    with pytest.raises(
        BuildError, match=r"^icarus cannot build NV_nvdla:\n[\s\S]*NV_nvdla\.vlib:\d+: [\s\S]*\nlog: .*build\.log$"
    ):
        build(BuildSpec(CONFIG, "icarus", filelist=filelist), tmp_path / "builds")


def test_a_top_that_is_not_there_is_named(rtl: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^Verilator cannot elaborate no_such_top:\n"):
        build(BuildSpec(CONFIG, top="no_such_top", filelist=rtl), tmp_path / "builds")


def test_a_header_that_only_a_macro_names_is_refused(rtl: Path, tmp_path: Path) -> None:
    odd = rtl.parent / "include/odd.def"
    odd.write_text("`define HEADER_STEP 1\n")
    (rtl.parent / "include/step.vh").write_text('`define NAME "odd.def"\n`include `NAME\n')

    message = (
        f"{odd} is included under a name that only a macro knows, so a change of it would go unnoticed: "
        "add it to the filelist's +incdir+ folders with a suffix such as .vh, or include it by its name"
    )
    refused(BuildSpec(CONFIG, filelist=rtl), tmp_path / "builds", message)


def test_an_unknown_simulator_is_refused() -> None:
    with pytest.raises(
        LaunchError, match=r"^simulator must be one of verilator, icarus, questa, vcs, xcelium, riviera, not modelsim$"
    ):
        BuildSpec(CONFIG, "modelsim")


def test_a_configuration_without_embedded_dut_asks_for_a_filelist(tmp_path: Path) -> None:
    message = "no embedded DUT for nv_large (embedded: nv_full, nv_small); give a filelist of your RTL"
    refused(BuildSpec(HwConfig.load("nv_large")), tmp_path / "builds", message)


def test_a_missing_icarus_says_how_to_install_it(rtl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    toolchain.tool_versions.cache_clear()

    message = (
        "iverilog is not installed; install it with: "
        "apt-get install iverilog (Debian, Ubuntu) or brew install icarus-verilog (macOS)"
    )
    refused(BuildSpec(CONFIG, "icarus", filelist=rtl), tmp_path / "builds", message, ToolError)

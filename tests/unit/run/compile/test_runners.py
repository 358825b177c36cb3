"""Commands that compile and run models, without running any."""

from __future__ import annotations

import sys
from pathlib import Path

import find_libpython
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.run.compile import runners
from nvdla_tb.run.compile.runners import (
    HARNESS_DIR,
    HIERARCHICAL,
    elaborate_command,
    make_command,
    simulation,
)
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.compile.toolchain import tool_versions
from nvdla_tb.run.errors import ToolError
from nvdla_tb.run.folders import made

FOLDER, WORK = Path("/builds/model"), Path("/work/run")


def prepared(simulator: str = "verilator", env: dict[str, str] | None = None) -> tuple[list[str], dict[str, str]]:
    built = Built(BuildSpec(HwConfig.load("nv_small"), simulator), FOLDER, None, 0.0, cached=True)
    return simulation(built, "tests.some", "test", env or {}, WORK / "results.xml", ["+depth=4"])


def test_a_simulation_is_told_the_variables_that_cocotb_documents() -> None:
    command, environment = prepared()
    assert command == ["/builds/model/tb_top", "+depth=4"]
    expected = {
        "COCOTB_TOPLEVEL": "tb_top",
        "COCOTB_TEST_MODULES": "tests.some",
        "COCOTB_TEST_FILTER": r"^tests\.some\.test$",
        "COCOTB_RESULTS_FILE": "/work/run/results.xml",
        "PYGPI_PYTHON_BIN": sys.executable,
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
    }
    assert {name: environment[name] for name in expected} == expected
    libpython, entry = environment["GPI_USERS"].split(";")
    assert libpython == find_libpython.find_libpython()
    assert entry.endswith(",initialize")


def test_a_model_takes_the_libraries_of_the_environment_that_plays_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/of/the/user")
    own, others = prepared()[1]["LD_LIBRARY_PATH"].split(":")
    assert (Path(own) / "libcocotbvpi_verilator.so").is_file()
    assert others == "/of/the/user"
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert prepared()[1]["LD_LIBRARY_PATH"] == own


def test_the_key_of_a_model_names_no_folder_of_the_environment() -> None:
    assert tool_versions("verilator").keys() == {"cocotb", "verilator", "compiler"}
    assert [version for version in tool_versions("verilator").values() if "/" in version] == []


def test_given_variables_win_over_those_of_this_process_and_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", "hello")
    monkeypatch.setenv("COCOTB_TRUST_INERTIAL_WRITES", "0")
    assert prepared()[1]["GREETING"] == "hello"
    assert prepared()[1]["COCOTB_TRUST_INERTIAL_WRITES"] == "0"
    environment = prepared(env={"GREETING": "bye", "COCOTB_TOPLEVEL": "other"})[1]
    assert (environment["GREETING"], environment["COCOTB_TOPLEVEL"]) == ("bye", "other")


def test_icarus_loads_cocotb_and_takes_its_arguments_behind_the_model() -> None:
    program, option, library, *rest = prepared("icarus")[0]
    assert (program, option, Path(library).name) == ("vvp", "-m", "libcocotbvpi_icarus.so")
    assert rest == ["/builds/model/sim.vvp", "+depth=4"]


def test_a_python_without_its_library_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_libpython, "find_libpython", lambda: None)
    runners._libpython.cache_clear()
    with pytest.raises(ToolError, match=r"^libpython is not installed; install a Python that is built with --enable"):
        prepared()
    runners._libpython.cache_clear()


def test_only_the_native_back_end_compiles_the_harness_in(tmp_path: Path) -> None:
    native, coroutine = (
        elaborate_command("verilator", name, made(tmp_path, name), [], []) for name in ("native", "coroutine")
    )
    harness = {f"harness/{path.name}" for path in HARNESS_DIR.glob("*.cpp")} | set(map(str, HARNESS_DIR.glob("*.sv")))
    assert len(harness) > 5
    assert harness <= set(native)
    assert not harness & set(coroutine)
    assert [Path(word).name for word in coroutine if word.endswith(".cpp")] == ["verilator.cpp"]
    assert all((tmp_path / "native" / path).is_file() for path in harness)


def test_blocks_are_compiled_by_verilators_launcher_and_its_own_makefile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NVDLA_BUILD_JOBS", "3")
    plain = elaborate_command("verilator", "native", made(tmp_path, "plain"), [], [])
    blocks = elaborate_command("verilator", "native", made(tmp_path, "blocks"), [], [HIERARCHICAL])
    assert [Path(command[0]).name for command in (plain, blocks)] == ["verilator_bin", "verilator"]
    assert "--build-jobs" not in plain
    assert blocks[blocks.index("--build-jobs") + 1] == "3"
    made_plain, made_blocks = (make_command(tmp_path, hierarchical=which) for which in (False, True))
    assert [words[words.index("-f") + 1] for words in (made_plain, made_blocks)] == ["Vtop.mk", "Vtop_hier.mk"]
    assert made_plain[:3] == ["make", "-j", "3"]

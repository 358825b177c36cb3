"""The front door: every public name is found in the package itself, and no other."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import nvdla_tb
from nvdla_tb import api
from tests.repository import ROOT


@pytest.mark.parametrize("name", api.__all__)
def test_a_public_name_is_that_of_the_package(name: str) -> None:
    assert getattr(nvdla_tb, name) is getattr(api, name)


@pytest.mark.parametrize("name", ["Konv", "import_module_of", "np"])
def test_another_name_is_none_of_the_package(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"^module 'nvdla_tb' has no attribute '{name}'$"):
        getattr(nvdla_tb, name)


def test_help_and_completion_show_every_public_name() -> None:
    assert {name for name in dir(nvdla_tb) if not name.startswith("__")} == set(api.__all__)
    for name in api.__all__:
        assert f"``{name}``" in (nvdla_tb.__doc__ or ""), name


def test_the_package_alone_imports_neither_arrays_nor_the_simulator() -> None:
    code = "import sys, nvdla_tb; print(sorted({'numpy', 'cocotb', 'nvdla_tb.api'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "[]\n"


def test_commands_do_not_load_the_public_names_with_the_simulator() -> None:
    code = "import sys, nvdla_tb.run.systems; print(sorted({'cocotb', 'nvdla_tb.api'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(("own", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_a_command_multiplies_in_one_thread_unless_the_user_wants_more(own: dict[str, str], threads: str) -> None:
    code = "import os, nvdla_tb.cli.main; print(os.environ['OPENBLAS_NUM_THREADS'])"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | own
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60, env=environment
    )
    assert ran.stdout == f"{threads}\n"


def test_examples_and_pages_import_public_names_alone() -> None:
    files = [*(ROOT / "examples").rglob("*.py"), *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    found = {
        name
        for path in files
        for names in re.findall(r"^from nvdla_tb import (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        for name in names.split(", ")
    }
    assert {"Bench", "Bdma", "Cdp", "Conv", "Pdp", "Rubik", "Sdp"} <= found
    assert found <= set(api.__all__)


def test_every_public_docstring_of_a_layer_shows_its_use() -> None:
    for name in ("Bdma", "Cdp", "Conv", "Pdp", "Rubik", "Sdp"):
        told = getattr(api, name).__doc__
        assert "::\n" in told, name
        assert f"{name}(" in told, name

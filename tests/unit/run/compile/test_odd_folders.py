"""A project, its tools and its results may lie in folders with blanks, umlauts, and what make or a shell reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.run.compile import elaborate, recipe, runners, toolchain
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.elaborate import _ESCAPED, _unescaped
from nvdla_tb.run.compile.spec import BuildSpec
from tests.unit.run.compile.conftest import needs_icarus
from tests.unit.run.compile.test_build import refused, run_tiny, with_blocks
from tests.unit.run.compile.tiny import CONFIG, write_rtl

pytestmark = pytest.mark.slow

ODD = "Ordner mit Ü, 'two' #3"


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An odd folder that Verilator and the harness lie in, too."""
    folder = tmp_path / ODD
    folder.mkdir()
    (folder / "verilator").symlink_to(toolchain.verilator_root())
    (folder / "harness").symlink_to(runners.HARNESS_DIR)
    monkeypatch.setattr(runners, "HARNESS_DIR", folder / "harness")
    for module in (elaborate, recipe, runners, toolchain):
        monkeypatch.setattr(module, "verilator_root", lambda: folder / "verilator")
    return folder


@pytest.mark.parametrize(
    ("simulator", "backend"),
    [
        ("verilator", "coroutine"),
        ("verilator", "native"),
        pytest.param("icarus", "coroutine", marks=needs_icarus),
    ],
)
def test_a_model_is_built_and_played_in_an_odd_folder(odd: Path, simulator: str, backend: str) -> None:
    spec = BuildSpec(CONFIG, simulator, filelist=write_rtl(odd / "rtl"), backend=backend)
    built = build(spec, odd / "builds")
    assert built.directory.parent == odd / "builds"
    if backend == "coroutine":
        assert run_tiny(built, odd / "run") == ""


def test_blocks_in_an_odd_folder_are_refused_in_one_line(odd: Path) -> None:
    message = (
        "a design with hier_block must lie in folders of letters, digits and any of /.,+@%=-_ alone, "
        f"as Verilator gives their names to make: not {odd}/verilator"
    )
    refused(BuildSpec(CONFIG, filelist=with_blocks(write_rtl(odd / "rtl"))), odd / "builds", message)


def test_a_path_with_a_dollar_is_refused_in_one_line(tmp_path: Path) -> None:
    filelist = write_rtl(tmp_path / "$HOME")
    message = f"a path must hold no $, which begins a variable for Verilator, not be {filelist.parent}/NV_nvdla.vlib"
    refused(BuildSpec(CONFIG, filelist=filelist), tmp_path / "builds", message)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"/a \303\234/b", "/a Ü/b"),
        (r"/\342\202\254", "/€"),
        (r"/a\\303/b", r"/a\\303/b"),
        (r"/a\"b", r"/a\"b"),
        (r"/\377", "/\udcff"),
    ],
)
def test_bytes_that_verilator_writes_as_octal_numbers_are_read(written: str, meant: str) -> None:
    assert _ESCAPED.sub(_unescaped, written) == meant

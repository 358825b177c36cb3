"""Pages say what was tested: RTL with its revision, configuration, simulator, date and version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from msgspec.structs import replace

from nvdla_tb.run.dut import about, revision_of
from tests.unit.run.regress.tasks import DUT


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_rtl_in_a_work_tree_has_the_revision_that_git_describes(tmp_path: Path) -> None:
    folder = tmp_path / "rtl"
    folder.mkdir()
    git(folder, "init")
    (folder / "my.f").write_text("top.v\n", encoding="utf-8")
    git(folder, "add", "my.f")
    git(folder, "commit", "-m", "one")
    git(folder, "tag", "v1.2")
    line = about(replace(DUT, rtl=str(folder / "my.f"), config="/else/where/mine.toml"))
    shape = (
        rf"{re.escape(str(folder))}/my\.f at revision v1\.2, NV_nvdla, mine, verilator; \d{{4}}(-\d\d){{2}} \d\d:\d\d; "
    )
    assert re.fullmatch(rf"{shape}testbench [\d.]+", line)
    (folder / "my.f").write_text("other.v\n", encoding="utf-8")
    revision_of.cache_clear()
    assert revision_of(folder) == "v1.2-dirty"


def test_rtl_elsewhere_has_none(tmp_path: Path) -> None:
    assert revision_of(tmp_path) is None
    assert revision_of(tmp_path / "gone") is None

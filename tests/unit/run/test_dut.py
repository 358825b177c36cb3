"""Pages say what was tested: RTL with its revision, configuration, simulator, date and version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_tb.run.dut import about, revision_of
from tests.unit.run.regress.tasks import DUT


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_rtl_in_a_work_tree_has_the_commit_that_is_checked_out(tmp_path: Path) -> None:
    folder = tmp_path / "rtl"
    folder.mkdir()
    git(folder, "init", "--initial-branch=main")
    (folder / "my.f").write_text("top.v\n", encoding="utf-8")
    git(folder, "add", "my.f")
    git(folder, "commit", "-m", "one")
    head = (folder / ".git" / "refs" / "heads" / "main").read_text(encoding="ascii")[:12]
    line = about(replace(DUT, rtl=str(folder / "my.f"), config="/else/where/mine.toml"))
    place = f"{re.escape(str(folder))}/my\\.f in a work tree of commit {head}"
    shape = rf"{place}, NV_nvdla, mine, verilator; \d{{4}}(-\d\d){{2}} \d\d:\d\d; "
    assert re.fullmatch(rf"{shape}testbench [\d.]+", line)


@pytest.mark.parametrize(
    ("key", "attributes"),
    [("core.fsmonitor", ""), ("filter.x.clean", "* filter=x\n"), ("diff.external", ""), ("core.pager", "")],
)
def test_no_program_that_a_repository_names_is_run(key: str, attributes: str, tmp_path: Path) -> None:
    folder = tmp_path / "rtl"
    folder.mkdir()
    git(folder, "init")
    (folder / "my.f").write_text("top.v\n", encoding="utf-8")
    git(folder, "add", "my.f")
    git(folder, "commit", "-m", "one")
    (folder / ".gitattributes").write_text(attributes, encoding="utf-8")
    ran = tmp_path / "ran"
    git(folder, "config", key, f"touch {ran}; cat")
    (folder / "my.f").write_text("other.v\n", encoding="utf-8")
    assert revision_of(folder)
    assert not ran.exists()


def test_rtl_elsewhere_has_none(tmp_path: Path) -> None:
    assert revision_of(tmp_path) is None
    assert revision_of(tmp_path / "gone") is None

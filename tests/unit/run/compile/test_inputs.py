"""What the build cache is keyed by: every content that a build can read, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nvdla_tb.run.compile.filelist import collect, parse


def facts(filelist: Path) -> list[tuple[str, str, str]]:
    return [(entry.role, entry.name, entry.sha256) for entry in collect(parse(filelist))]


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("NV_nvdla.vlib", "// changed\n", True),
        ("include/step.vh", "// changed\n", True),
        ("library/tiny_increment.v", "// changed\n", True),
        ("library/other.v", "module other; endmodule\n", True),
        ("blocks.vlt", 'hier_block -module "tiny_increment"\n', True),
        ("include/notes.txt", "no tool reads it", False),
    ],
)
def test_what_a_tool_may_read_counts_by_its_content(rtl: Path, name: str, text: str, counts: bool) -> None:
    path = rtl.parent / name
    (rtl.parent / "blocks.vlt").write_text("`verilator_config\n")
    rtl.write_text(f"{rtl.read_text()}blocks.vlt\n")
    before, content = facts(rtl), path.read_text() if path.exists() else None
    path.write_text((content or "") + text)
    assert (facts(rtl) != before) == counts
    if content is not None:
        path.write_text(content)
        assert facts(rtl) == before


def test_an_included_file_counts_whatever_its_suffix_and_depth(rtl: Path) -> None:
    (rtl.parent / "include/step.vh").write_text('`include "deep/one.def"\n`define HEADER_STEP 1\n')
    deep = rtl.parent / "include/deep"
    deep.mkdir()
    (deep / "one.def").write_text('`include "deep/two.def"\n')
    (deep / "two.def").write_text("// two\n")
    before = facts(rtl)

    (deep / "two.def").write_text("// three\n")

    assert [name for role, name, _ in before if role == "include"] == ["deep/one.def", "deep/two.def"]
    assert facts(rtl) != before


def test_files_that_include_each_other_are_read_once(rtl: Path) -> None:
    (rtl.parent / "include/step.vh").write_text('`include "a.def"\n')
    (rtl.parent / "include/a.def").write_text('`include "a.def"\n`include "step.vh"\n')

    assert [name for role, name, _ in facts(rtl) if role == "include"] == ["a.def"]


def test_a_moved_tree_keeps_its_key(rtl: Path, tmp_path: Path) -> None:
    shutil.copytree(rtl.parent, tmp_path / "elsewhere")

    assert facts(tmp_path / "elsewhere" / rtl.name) == facts(rtl)


@pytest.mark.parametrize("name", ["n" * 300, "a\0b", "../" * 2000 + "x"])
def test_an_included_name_that_no_file_has_does_not_count(rtl: Path, name: str) -> None:
    before = facts(rtl)
    source = rtl.parent / "include/step.vh"
    text = source.read_text()
    source.write_text(f'{text}`include "{name}"\n')
    assert [fact[:2] for fact in facts(rtl)] == [fact[:2] for fact in before]

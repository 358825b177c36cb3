"""What the build cache is keyed by: every content that a build can read, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tb.run.compile.filelist import collect, parse


def facts(filelist: Path) -> list[tuple[str, str, str]]:
    return [(entry.role, entry.name, entry.sha256) for entry in collect(parse(filelist))]


@pytest.mark.parametrize("name", ["NV_nvdla.vlib", "include/step.vh", "library/tiny_increment.v"])
def test_a_changed_file_changes_the_key_and_its_old_content_restores_it(rtl: Path, name: str) -> None:
    path = rtl.parent / name
    before, text = facts(rtl), path.read_text()

    path.write_text(text.replace("1", "2"))
    changed = facts(rtl)
    path.write_text(text)

    assert changed != before
    assert facts(rtl) == before


def test_a_changed_control_file_changes_the_key(rtl: Path) -> None:
    control = rtl.parent / "blocks.vlt"
    control.write_text("`verilator_config\n")
    rtl.write_text(f"{rtl.read_text()}blocks.vlt\n")
    before = facts(rtl)
    control.write_text('`verilator_config\nhier_block -module "tiny_increment"\n')

    assert facts(rtl) != before


def test_a_new_cell_in_a_library_folder_counts(rtl: Path) -> None:
    before = facts(rtl)
    (rtl.parent / "library/other.v").write_text("module other; endmodule\n")

    assert facts(rtl) != before


def test_a_file_that_no_tool_reads_does_not_count(rtl: Path) -> None:
    before = facts(rtl)
    (rtl.parent / "include/notes.txt").write_text("hello")

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

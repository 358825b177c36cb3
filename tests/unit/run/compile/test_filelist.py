"""Filelist syntax, the search for relative paths, and every refusal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_tb.paths import HDL
from nvdla_tb.run.compile import filelist
from nvdla_tb.run.compile.filelist import ALLOWED, FileList, parse
from nvdla_tb.run.errors import FileListError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an RTL tree, and an empty current directory beside it."""
    for name in ("rtl/a.v", "rtl/b.vlib", "rtl/lib/cell.v", "rtl/inc/defs.vh", "rtl/with space.v"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    return tmp_path / "rtl"


def write(folder: Path, text: str, name: str = "list.f") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refused(path: Path, message: str) -> None:
    with pytest.raises(FileListError, match=f"^{re.escape(message)}$"):
        parse(path)


def test_every_kind_of_entry_is_read_in_order(folder: Path) -> None:
    path = write(folder, "+libext+.v+.vlib\n+incdir+inc+lib a.v b.vlib\n+define+X+Y=8'h10\n-y lib -v lib/cell.v\n")

    assert parse(path) == FileList(
        sources=(folder / "a.v", folder / "b.vlib"),
        include_dirs=(folder / "inc", folder / "lib"),
        defines=(("X", "1"), ("Y", "8'h10")),
        library_dirs=(folder / "lib",),
        library_files=(folder / "lib/cell.v",),
        library_extensions=(".v", ".vlib"),
    )


def test_a_list_that_a_capital_f_names_is_that_of_the_folder_of_its_list(folder: Path) -> None:
    (folder / "sub").mkdir()
    for place, text in ((folder, "a.v"), (folder / "sub", "-F ../inner.f"), (folder.parent, "no_such_file.v")):
        write(place, text, "list.f" if place.name == "sub" else "inner.f")
    # Beside the current folder lies another one of that name.
    assert parse(folder / "sub" / "list.f").sources == (folder / "a.v",)
    write(folder.parent / "cwd", f"{folder}/b.vlib", "here.f")
    assert parse(write(folder, "-F here.f")).sources == (folder / "b.vlib",)


def test_lists_of_the_testbench_mean_the_same_among_files_that_look_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = sorted(HDL.rglob("*.f"))
    usual = {path: parse(path) for path in lists}
    here = tmp_path / "above" / "checkout"
    for path in sorted(HDL.rglob("*")):
        for root in (here, here.parent, here / path.parent.name, here / "hdl_stubs"):
            name = root / path.relative_to(HDL)
            if not path.is_dir():
                name.parent.mkdir(parents=True, exist_ok=True)
                name.write_text("wrong", encoding="utf-8")
    monkeypatch.chdir(here)
    assert {path: parse(path) for path in lists} == usual
    assert len(lists) >= 4


def test_control_files_are_told_from_sources_by_their_suffix(folder: Path) -> None:
    (folder / "blocks.vlt").write_text("")
    files = parse(write(folder, "blocks.vlt a.v blocks.vlt"))
    assert (files.sources, files.controls) == ((folder / "a.v",), (folder / "blocks.vlt",))
    path = write(folder, "blocks.vlt")
    refused(path, f"{path}: a filelist must name at least one source file")


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("// one.v\n# two.v\n/* three.v\nfour.v */ a.v // five.v\n", ["a.v"]),
        ("lib//cell.v", ["lib/cell.v"]),
        ('"with space.v"\nwith\\ space.v\n', ["with space.v"] * 2),
        *((form, ["a.v"]) for form in ("$ROOT/a.v", "${ROOT}/a.v", "$(ROOT)/a.v", '"$(ROOT)/a.v"')),
        ("top.v", ["../cwd/top.v"]),
        ("-f lib/nested.f", ["lib/cell.v"]),
        ("-f inner.f -f inner.f", ["a.v"] * 2),
    ],
)
def test_comments_quotes_variables_and_nested_lists_lead_to_their_sources(
    folder: Path, text: str, sources: list[str]
) -> None:
    (folder.parent / "cwd/top.v").write_text("")
    write(folder, "lib/cell.v", "lib/nested.f")
    write(folder, "a.v", "inner.f")
    found = parse(write(folder, text), {"ROOT": str(folder)}).sources
    assert found == tuple((folder / name).resolve() for name in sources)


def test_an_escaped_quote_belongs_to_the_macro(folder: Path) -> None:
    assert parse(write(folder, 'a.v +define+NAME=\\"x\\"')).defines == (("NAME", '"x"'),)


def test_dot_is_the_lists_own_folder(folder: Path) -> None:
    assert parse(write(folder, "a.v +incdir+.+..")).include_dirs == (folder, folder.parent)


def test_a_nested_capital_f_list_looks_in_its_own_folder_only(folder: Path) -> None:
    nested = write(folder, "cell.v\nlib/cell.v", "lib/nested.f")

    refused(write(folder, "-F lib/nested.f"), f"{nested}:2: no file lib/cell.v in {folder / 'lib'}")


def test_an_extension_is_v_unless_the_list_says_otherwise(folder: Path) -> None:
    assert parse(write(folder, "a.v -y lib")).library_extensions == (".v",)


def test_a_missing_filelist_is_named(folder: Path) -> None:
    refused(folder / "none.f", f"{folder / 'none.f'}: no such filelist")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.v\nnone.v\n", "2: no file none.v in {folder} or {cwd}"),
        ("/none/x.v", "1: no file /none/x.v"),
        ("lib", "1: no file lib in {folder} or {cwd}"),
        ("a.v +incdir+a.v", "1: no folder a.v in {folder} or {cwd}"),
        ("both.v", "1: both.v is ambiguous: {folder}/both.v and {cwd}/both.v"),
        ("a.v\n-sverilog", f"2: unknown option -sverilog; allowed: {ALLOWED}"),
        ("+v2k", f"1: unknown option +v2k; allowed: {ALLOWED}"),
        ("$NO_SUCH_ROOT/a.v", "1: environment variable NO_SUCH_ROOT is not set"),
        ("a.v +define+X=1\n+define+X=2", "2: +define+X is given twice, with 1 and 2"),
        ("a.v +define+1X", "1: +define+ needs a macro name, not 1X"),
        ("a.v +libext+v", "1: +libext+ needs extensions that begin with a dot, not v"),
        ("a.v +incdir+inc+", "1: +incdir+ needs a value, not +incdir+inc+"),
        ("a.v -y", "1: -y needs a path"),
        ("a.v -y +incdir+inc", "1: -y needs a path"),
        ("+incdir+inc", " a filelist must name at least one source file"),
        ('a.v\n"b', '2: " is not closed'),
        ("a.v\n/* b", "2: /* is not closed"),
        ("a.v\n\\", "2: \\ is not closed"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder: Path, text: str, message: str) -> None:
    cwd = folder.parent / "cwd"
    for place in (folder, cwd):
        (place / "both.v").write_text("")
    path = write(folder, text)
    refused(path, f"{path}:{message.format(folder=folder, cwd=cwd)}")


def test_a_list_that_includes_itself_shows_the_chain(folder: Path) -> None:
    inner = write(folder, "\n-f list.f", "inner.f")
    path = write(folder, "-f inner.f")
    refused(path, f"{inner}:2: filelist includes itself: {path} -> {inner} -> {path}")


def test_a_binary_file_is_no_filelist(folder: Path) -> None:
    path = folder / "list.f"
    path.write_bytes(b"a.v \xff")

    refused(path, f"{path}:1: text must be UTF-8, not byte 0xff")


def test_filelists_that_include_each_other_without_end_are_refused(folder: Path) -> None:
    for number in range(40):
        (folder / f"{number}.f").write_text(f"-f {number + 1}.f\n", encoding="utf-8")
    (folder / "40.f").write_text("a.v\n", encoding="utf-8")
    refused(folder / "0.f", f"{folder}/31.f:1: filelists must include each other at most 32 deep")


def test_filelists_that_double_at_every_level_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filelist, "LISTED_WORDS", 500)
    for number in range(30):
        (folder / f"{number}.f").write_text(f"-f {number + 1}.f\n-f {number + 1}.f\n", encoding="utf-8")
    (folder / "30.f").write_text("a.v\n", encoding="utf-8")
    with pytest.raises(FileListError, match=r": a filelist with all that it includes must have at most 500 words$"):
        parse(folder / "0.f")


@pytest.mark.parametrize("name", ["n" * 300, "a\0b"])
def test_a_name_that_no_file_has_is_refused(name: str, folder: Path) -> None:
    path = folder / "list.f"
    path.write_text(f"top.v {name}\n", encoding="utf-8")
    with pytest.raises(FileListError, match=r"list\.f:1: no file "):
        parse(path)

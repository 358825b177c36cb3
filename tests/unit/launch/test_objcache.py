"""Object files are made once for the same input, and again when anything that they depend on changes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tb.launch.objcache import compile_once, reused_objects

COMPILER = """\
import pathlib, sys
words = sys.argv[1:]
source = next(word for word in words if word.endswith(".cpp"))
target = words[words.index("-o") + 1] if "-o" in words else pathlib.Path(source).stem + ".o"
with open("calls", "a") as log:
    log.write("x")
if "-fail" in words:
    sys.exit(3)
pathlib.Path(target).write_text(pathlib.Path(source).read_text() + "".join(words))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    build = tmp_path / "build"
    build.mkdir()
    (tmp_path / "kept").mkdir()
    (build / "compiler.py").write_text(COMPILER)
    (build / "model.cpp").write_text("int f();")
    (build / "model.h").write_text("struct Model;")
    monkeypatch.chdir(build)
    return tmp_path


def compiled(folder: Path, *words: str) -> int:
    return compile_once([sys.executable, "compiler.py", *words], folder / "kept")


def calls() -> int:
    return len(Path("calls").read_text())


def test_the_same_input_is_compiled_once(folder: Path) -> None:
    assert compiled(folder, "-c", "-o", "model.o", "model.cpp") == 0
    first = Path("model.o").read_text()
    Path("model.o").unlink()
    assert compiled(folder, "-c", "-o", "model.o", "model.cpp") == 0
    assert Path("model.o").read_text() == first
    assert calls() == 1


def test_an_object_without_a_name_is_that_of_its_source(folder: Path) -> None:
    assert compiled(folder, "-c", "model.cpp") == 0
    Path("model.o").unlink()
    assert compiled(folder, "-c", "model.cpp") == 0
    assert Path("model.o").is_file()
    assert calls() == 1


@pytest.mark.parametrize("changed", ["model.cpp", "model.h"])
def test_a_changed_source_or_header_is_compiled_again(folder: Path, changed: str) -> None:
    compiled(folder, "-c", "-o", "model.o", "model.cpp")
    Path(changed).write_text("int g();")
    compiled(folder, "-c", "-o", "model.o", "model.cpp")
    assert calls() == 2


def test_a_changed_argument_is_compiled_again(folder: Path) -> None:
    compiled(folder, "-c", "-o", "model.o", "model.cpp")
    compiled(folder, "-c", "-O3", "-o", "model.o", "model.cpp")
    assert calls() == 2


def test_a_failure_is_passed_on_and_not_kept(folder: Path) -> None:
    for _ in range(2):
        assert compiled(folder, "-fail", "-c", "-o", "model.o", "model.cpp") == 3
    assert calls() == 2


def test_what_is_no_compilation_is_run_every_time(folder: Path) -> None:
    for _ in range(2):
        assert compiled(folder, "-o", "model", "model.cpp") == 0
    assert calls() == 2


def test_builds_inside_share_objects_and_those_behind_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OBJCACHE", raising=False)
    with reused_objects(tmp_path / "objects"):
        assert os.environ["OBJCACHE"] == f"{sys.executable} -m tb.launch.objcache"
        assert os.environ["NVDLA_OBJECTS"] == str(tmp_path / "objects")
    assert "OBJCACHE" not in os.environ
    assert "NVDLA_OBJECTS" not in os.environ

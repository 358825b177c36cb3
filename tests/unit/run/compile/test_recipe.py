"""Models that are used again: what was damaged meanwhile is found by its content, and built again."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from nvdla_tb.run import space
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.recipe import SEAL, is_sealed, read_checked, recipe_of, seal, write_checked
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.compile.wrapper import WRAPPER_TOP
from nvdla_tb.run.owners import TRUST, OwnerError
from nvdla_tb.run.space import check_space, write_whole
from tests.strangers import STRANGER, as_stranger, common_folder, needs_strangers
from tests.unit.run.compile.conftest import needs_icarus
from tests.unit.run.compile.tiny import CONFIG

pytestmark = pytest.mark.slow


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device without room."""
    monkeypatch.setattr(space.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))


@needs_icarus
def test_a_damaged_model_and_damaged_ports_are_built_again(rtl: Path, tmp_path: Path) -> None:
    spec = BuildSpec(CONFIG, "icarus", filelist=rtl)
    first = build(spec, tmp_path / "builds")
    model = first.directory / "sim.vvp"
    sound = model.read_bytes()
    assert build(spec, tmp_path / "builds").cached
    for damaged in (sound[: len(sound) // 2], b"", sound[:-2] + b"x\n"):
        model.write_bytes(damaged)
        for ports in (tmp_path / "builds").glob("rtl-*.json"):
            ports.write_bytes(ports.read_bytes()[:-9])
        assert not build(spec, tmp_path / "builds").cached
        # Names in it change from one compilation to the next, its length does not.
        assert model.read_bytes() != damaged
        assert model.stat().st_size == pytest.approx(len(sound), rel=0.01)
    assert build(spec, tmp_path / "builds").cached


@needs_strangers
def test_a_model_that_another_user_has_planted_in_a_shared_cache_is_not_played(
    rtl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with common_folder() as cache:
        recipe = recipe_of(BuildSpec(CONFIG, "icarus", filelist=rtl), cache)

        def plant() -> None:
            recipe.directory.mkdir()
            (recipe.directory / "sim.vvp").write_text("#! /bin/sh\ntouch ~/hit\n", encoding="utf-8")
            seal(recipe.directory, recipe.key)

        as_stranger(plant)
        with pytest.raises(OwnerError, match=rf"^{recipe.directory} must belong to you, root or a user in {TRUST}, "):
            build(recipe.spec, cache)
        monkeypatch.setenv(TRUST, str(STRANGER))
        assert build(recipe.spec, cache).cached


@needs_icarus
@pytest.mark.parametrize("name", [".", SEAL, "sim.vvp", "../rtl-*.json"])
def test_a_model_that_others_may_write_is_not_played(name: str, rtl: Path, tmp_path: Path) -> None:
    spec = BuildSpec(CONFIG, "icarus", filelist=rtl)
    directory = build(spec, tmp_path / "builds").directory
    (open_to_all,) = directory.glob(name) if "*" in name else [directory / name]
    open_to_all.chmod(0o777)
    if "*" in name:
        # It is only read when the model is missing.
        (directory / SEAL).unlink()
    with pytest.raises(OwnerError, match=r"must not be writable for all users: models in it are executed \(chmod"):
        build(spec, tmp_path / "builds")


@needs_icarus
def test_what_is_built_is_nobody_elses_to_write_whatever_the_umask_allows(rtl: Path, tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        directory = build(BuildSpec(CONFIG, "icarus", filelist=rtl), tmp_path / "builds").directory
    finally:
        os.umask(before)
    (ports,) = directory.parent.glob("rtl-*.json")
    played = (directory.parent, directory, directory / SEAL, directory / "sim.vvp", ports)
    assert {path.name: oct(path.stat().st_mode & 0o022) for path in played} == {path.name: "0o0" for path in played}
    assert build(BuildSpec(CONFIG, "icarus", filelist=rtl), tmp_path / "builds").cached


@pytest.mark.parametrize("name", [WRAPPER_TOP, "sim.vvp"])
def test_a_seal_breaks_when_a_model_changes_or_is_gone(name: str, tmp_path: Path) -> None:
    assert not is_sealed(tmp_path, "key")
    (tmp_path / name).write_bytes(b"model")
    seal(tmp_path, "key")
    assert is_sealed(tmp_path, "key")
    assert not is_sealed(tmp_path, "other")
    (tmp_path / name).write_bytes(b"modem")
    assert not is_sealed(tmp_path, "key")
    (tmp_path / name).unlink()
    assert not is_sealed(tmp_path, "key")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "[]", "null", '{"key": "key"}', '{"content": 1}', "\xff"])
def test_a_damaged_seal_is_no_seal(text: str, tmp_path: Path) -> None:
    (tmp_path / SEAL).write_text(text, encoding="latin-1")
    assert read_checked(tmp_path / SEAL) is None
    assert not is_sealed(tmp_path, "key")


def test_content_that_was_changed_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ports.json"
    write_checked(path, [{"name": "clock", "width": 1}])
    assert read_checked(path) == [{"name": "clock", "width": 1}]
    path.write_text(path.read_text().replace('"width": 1', '"width": 2'))
    json.loads(path.read_text())
    assert read_checked(path) is None


@needs_icarus
def test_a_build_that_fails_on_a_full_device_is_not_the_rtls_fault(rtl: Path, tmp_path: Path, full: None) -> None:
    (rtl.parent / "NV_nvdla.vlib").write_text("module NV_nvdla(\n")
    with pytest.raises(OSError, match="No space left on device") as caught:
        build(BuildSpec(CONFIG, "icarus", filelist=rtl), tmp_path / "builds")
    assert caught.value.errno == errno.ENOSPC


def test_room_is_looked_for_where_a_folder_was(tmp_path: Path) -> None:
    check_space(tmp_path / "gone" / "too")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: '/dev/full'$"):
        write_whole(Path("/dev/full"), "text")
    with pytest.raises(OSError, match=r"No such file or directory: '.*/nowhere/file'$"):
        write_whole(tmp_path / "nowhere" / "file", "text")


def test_a_file_that_cannot_be_written_again_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"
    write_whole(path, "before")
    monkeypatch.setattr(os, "replace", _no_room)
    monkeypatch.setattr(Path, "replace", _no_room)
    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: '.*results\.json'$"):
        write_whole(path, "after")
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.json"]
    assert path.read_text() == "before"


def _no_room(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_space_is_that_of_the_device(tmp_path: Path, full: None) -> None:
    assert space.shutil is shutil
    with pytest.raises(OSError, match="No space left on device"):
        check_space(tmp_path)

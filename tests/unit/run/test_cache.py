"""The cache of built models: where it is, what it holds, and what goes when it is full."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from nvdla_models.errors import InputError
from nvdla_tb.run import cache, folders

DAY = 24 * 3600.0
MEGABYTE = 1 << 20


def model(root: Path, name: str, days: float, complete: bool = True) -> Path:
    """Leave a model of a megabyte that was used so many days ago."""
    path = folders.made(root, name)
    (path / "program").write_bytes(os.urandom(MEGABYTE))
    mark = path / ("built.json" if complete else folders.MARKER)
    mark.write_text("{}", encoding="utf-8")
    os.utime(mark, (time.time() - days * DAY,) * 2)
    return path


def names(models: list[cache.Model]) -> list[str]:
    return [one.name for one in models]


def test_the_environment_wins_over_the_project_file_and_that_over_the_users_folder() -> None:
    own = Path("/scratch/own")
    assert cache.folder({"NVDLA_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, own) == Path("/c")
    assert cache.folder({"XDG_CACHE_HOME": "/x"}, own) == own
    assert cache.folder({"XDG_CACHE_HOME": "/x"}) == Path("/x/nvdla-tb")
    assert cache.folder({}) == Path.home() / ".cache" / "nvdla-tb"


def test_models_are_listed_with_what_was_used_last_first(tmp_path: Path) -> None:
    model(tmp_path, "old", 3)
    model(tmp_path, "new", 1)
    model(tmp_path, "broken", 2, complete=False)
    (tmp_path / "of_somebody_else").mkdir()
    found = cache.models(tmp_path)
    assert [(one.name, one.complete) for one in found] == [("new", True), ("broken", False), ("old", True)]
    assert all(MEGABYTE <= one.nbytes < 2 * MEGABYTE for one in found)
    assert cache.models(tmp_path / "nowhere") == []


def test_a_model_says_what_it_is_of_unless_somebody_else_wrote_it(tmp_path: Path) -> None:
    about = cache.About("nv_small", "/rtl/my.f", ("verilator", "waves"))
    cache.note_about(model(tmp_path, "mine", 3), about)
    (model(tmp_path, "foreign", 4) / "about.json").write_text('{"config": 7}', encoding="utf-8")
    model(tmp_path, "old", 5)
    assert [one.about for one in cache.models(tmp_path)] == [about, None, None]
    assert all(time.time() - one.begun < DAY for one in cache.models(tmp_path))


def test_a_use_is_noted(tmp_path: Path) -> None:
    path = model(tmp_path, "old", 3)
    model(tmp_path, "new", 1)
    cache.touch(path)
    assert names(cache.models(tmp_path)) == ["old", "new"]
    cache.touch(tmp_path / "nowhere")


def test_the_oldest_go_until_the_rest_fits_and_what_was_just_built_or_used_stays(tmp_path: Path) -> None:
    for name, days in (("built", 9.0), ("oldest", 8.0), ("older", 7.0), ("old", 6.0), ("today", 0.1)):
        model(tmp_path, name, days)
    gone = cache.make_room(tmp_path, 3.5 * MEGABYTE, "built")
    assert names(gone) == ["oldest", "older"]
    assert names(cache.models(tmp_path)) == ["today", "old", "built"]
    assert names(cache.make_room(tmp_path, 1.0, "built")) == ["old"]
    assert cache.make_room(tmp_path, 100.0 * MEGABYTE, "built") == []


def test_a_model_that_is_being_built_stays(tmp_path: Path) -> None:
    model(tmp_path, "busy", 9, complete=False)
    with (tmp_path / "busy.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (busy,) = cache.models(tmp_path)
        assert not cache.remove(tmp_path, busy)
        assert cache.make_room(tmp_path, 1.0, "other") == []
    assert cache.remove(tmp_path, busy)
    assert not (tmp_path / "busy").exists()


@pytest.mark.parametrize("text", ["0", "-1", "nan", "many"])
def test_a_limit_that_cannot_be_is_refused(text: str) -> None:
    assert cache.limit_bytes({"NVDLA_CACHE_GB": "0.5"}) == 5e8
    with pytest.raises(InputError, match=rf"^NVDLA_CACHE_GB must be a positive number of gigabytes, not {text}$"):
        cache.limit_bytes({"NVDLA_CACHE_GB": text})

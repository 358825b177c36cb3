"""The project file: found from every folder below, checked key by key, with paths relative to itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.errors import InputError
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run import folders
from nvdla_tb.run.project import NONE, Project, found


def test_it_is_found_from_any_folder_below(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert found(below) == NONE
    (tmp_path / "plans").mkdir()
    for name in ("two.toml", "one.toml"):
        (tmp_path / "plans" / name).touch()
    (tmp_path / PROJECT_FILE).write_text(
        'rtl = "rtl/my.f"\ntop = "mine"\nconfig = "my.toml"\nport_map = "/else/ports.toml"\nsim = "icarus"\n'
        'plans = ["nv_small", "plans/*.toml"]\ntests = []\nresults = "out"\n',
        encoding="utf-8",
    )
    assert found(below) == Project(
        tmp_path,
        rtl=tmp_path / "rtl" / "my.f",
        top="mine",
        config=f"{tmp_path}/my.toml",
        port_map=Path("/else/ports.toml"),
        sim="icarus",
        plans=(Path("nv_small"), tmp_path / "plans" / "one.toml", tmp_path / "plans" / "two.toml"),
        results=tmp_path / "out",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('rlt = "x"', r": rlt is unknown; allowed: rtl, top, config, port_map, sim, plans, tests, results, cache$"),
        ('top = ""', r": top must be a text, not ''$"),
        ("top = 3", r": top must be a text, not 3$"),
        ('plans = "x.toml"', r": plans must be a list, not 'x\.toml'$"),
        ('plans = ["x.toml"]', r": plans must be files that exist, not .*/x\.toml$"),
        (f'tests = ["{"x" * 300}.py"]', r": tests must be files that exist, not .*x+\.*.*$"),
        ("top = ", r"nvdla-tb\.toml: Invalid value"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / PROJECT_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        found(tmp_path)


def test_patterns_may_be_absolute_and_the_home_of_an_unknown_user_is_a_folder_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "one.toml").touch()
    text = f'plans = ["{tmp_path}/o*.toml", "[/*"]\nresults = "~nobody-of-that-name/x"'
    (tmp_path / PROJECT_FILE).write_text(text, encoding="utf-8")
    project = found(tmp_path)
    assert (project.plans, project.results) == ((tmp_path / "one.toml",), tmp_path / "~nobody-of-that-name" / "x")


def test_results_go_where_the_project_says_unless_the_environment_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert folders.results({}, tmp_path / "out") == Path("out")
    assert folders.results({}, Path("/else/out")) == Path("/else/out")
    assert folders.results({"NVDLA_RESULTS": "/r"}, tmp_path / "out") == Path("/r")

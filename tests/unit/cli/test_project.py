"""``init`` and what a project file does for commands; ``cache`` looks and cleans."""

from __future__ import annotations

import os
import re
import shlex
import time
from pathlib import Path

import pytest
import yaml

from nvdla_tb.cli import cache as command
from nvdla_tb.cli.init import WORKFLOWS
from nvdla_tb.cli.main import parser
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run import folders
from nvdla_tb.run.project import Project, found
from tests.unit.conftest import Run

PLAN = """config = "nv_small"
[[scenario]]
name = "{name}"
about = "mine"
[[scenario.layer]]
engine = "SDP"
shape = [8, 1, 1]
"""


def test_init_writes_a_file_that_says_nothing_but_what_was_given(tb: Run, tmp_path: Path) -> None:
    assert tb("init").code == 0
    assert found(tmp_path) == Project(tmp_path, results=tmp_path / "sim_build")
    assert tb("init").refusal == f"{PROJECT_FILE} is there already: edit it, or remove it and repeat the command"


def test_init_takes_what_it_is_given_and_comments_can_be_uncommented(tb: Run, tmp_path: Path) -> None:
    (tmp_path / "my list.f").touch()
    assert tb("init", "--config nv_full --top my_top").code == 0
    path = tmp_path / PROJECT_FILE
    text = path.read_text(encoding="utf-8").replace('# rtl = "my_filelist.f"', 'rtl = "my list.f"')
    path.write_text(text.replace("# plans =", "plans =").replace("# port_map", "port_map"), encoding="utf-8")
    assert '\nplans = ["nv_small", "plans/*.toml"]\n' in path.read_text(encoding="utf-8")
    (tmp_path / "other").mkdir()
    os.rename(path, tmp_path / "other" / PROJECT_FILE)
    project = found(tmp_path / "other")
    assert (project.config, project.top, project.rtl) == ("nv_full", "my_top", tmp_path / "other" / "my list.f")
    assert project.port_map == tmp_path / "other" / "ports.toml"


@pytest.mark.parametrize("words", ["--rtl nowhere.f", "--config nowhere"])
def test_init_refuses_what_is_not_there(tb: Run, tmp_path: Path, words: str) -> None:
    assert tb(f"init {words}").code == 2
    assert not (tmp_path / PROJECT_FILE).exists()


def test_options_win_over_the_project_and_that_over_what_is_built_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / PROJECT_FILE).write_text('rtl = "my.f"\nsim = "icarus"\nconfig = "nv_full"\n', encoding="utf-8")
    args = parser().parse_args(["run", "--config", "nv_small"])
    assert (args.rtl, args.sim, args.config, args.top) == (tmp_path / "my.f", "icarus", "nv_small", "NV_nvdla")


def test_the_plans_of_the_project_are_played_together(tb: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(PLAN.format(name=f"sdp_{name}"), encoding="utf-8")
    (tmp_path / PROJECT_FILE).write_text('plans = ["one.toml", "two.toml"]\n', encoding="utf-8")
    listed = tb("run --list").out
    assert [line.split()[0] for line in listed.splitlines()] == ["sdp_one", "sdp_two"]
    (tmp_path / "three.toml").write_text(PLAN.format(name="sdp_one"), encoding="utf-8")
    (tmp_path / PROJECT_FILE).write_text('plans = ["one.toml", "three.toml"]\n', encoding="utf-8")
    both = f"both sdp_one: {tmp_path}/one.toml and {tmp_path}/three.toml"
    assert tb("run --list").refusal == f"scenarios must have different names, not {both}"


def test_a_project_file_that_is_wrong_is_one_message(tb: Run, tmp_path: Path) -> None:
    (tmp_path / PROJECT_FILE).write_text("rlt = 1\n", encoding="utf-8")
    assert "rlt is unknown; allowed: rtl, " in tb("run --list").refusal


def test_the_cache_is_listed_and_cleaned(tb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "models"
    monkeypatch.setattr(command, "MODELS", root)
    for name, days in (("old", 40), ("new", 1)):
        seal = folders.made(root, name) / "built.json"
        seal.write_text("{}", encoding="utf-8")
        os.utime(seal, (time.time() - days * 24 * 3600,) * 2)
    listed = tb("cache").out.splitlines()
    assert [line.split()[0] for line in listed[:3]] == ["model", "new", "old"]
    assert listed[3].endswith(f" of 20.00 GB in {root} (NVDLA_CACHE, NVDLA_CACHE_GB)")
    assert tb("cache --clean 30").out.startswith("1 of 2 models removed")
    assert tb("cache --all").out.startswith("1 of 1 model removed")


@pytest.mark.parametrize(("service", "file"), WORKFLOWS.items())
def test_init_writes_a_workflow_whose_commands_are_taken(tb: Run, tmp_path: Path, service: str, file: str) -> None:
    assert tb(f"init --ci {service}").out.splitlines()[:2] == [
        f"written: {file}",
        "edit there: NVDLA_TB, from which pip installs the testbench; it is on no package index",
    ]
    text = (tmp_path / file).read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    job = loaded["jobs"]["nvdla-tb"] if service == "github" else loaded["nvdla-tb"]
    source = job["env" if service == "github" else "variables"]["NVDLA_TB"]
    assert (source, text.count(source)) == ("git+https://my.host/nvdla-testbench.git", 1)
    assert re.findall(r"pip install (.*)$", text, re.MULTILINE) == ['"$NVDLA_TB"']
    assert ("pull_request" if service == "github" else "merge_request_event") in text
    commands = re.findall(r"nvdla-tb (?:run|regress|cache)\b[^|\n]*", text)
    for line in commands:
        words = shlex.split(line.replace("$LEVEL", "L0"))[1:]
        assert parser().parse_args(words).command == words[0]
    assert [line.split()[1] for line in commands] == ["cache", "regress"]
    # It plays the plans and tests of the project file, as "run" does not.
    assert re.search(r"^ *pytest --nvdla \|\| failed=1$", text, re.MULTILINE)
    assert job["env" if service == "github" else "variables"]["NVDLA_RESULTS"] == "sim_build"
    names = ("L0", "L1", "sim_build/*/*/junit.xml", "NVDLA_CACHE", "sim_build/regress", "sim_build/runs")
    assert all(name in text for name in names)
    message = f"{file} is there already: edit it, or remove it and repeat the command"
    assert tb(f"init --ci {service}").refusal == message
    assert not (tmp_path / PROJECT_FILE).exists()


def test_a_workflow_takes_its_rtl_from_the_project_file(tb: Run) -> None:
    refusal = f"--top must be left out with --ci: the workflow takes it from {PROJECT_FILE}"
    assert tb("init --ci github --top mine").refusal == refusal

"""The help names every subcommand with an example, and every example is one that the parser takes."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nvdla_tb.cli import plan
from nvdla_tb.cli.commands import GROUP, all_commands
from nvdla_tb.cli.layout_formats import all_formats, all_options
from nvdla_tb.cli.main import parser
from tests.repository import ROOT
from tests.unit.conftest import Run

COMMANDS = all_commands()
OPTIONS = all_options(all_formats())


def test_the_help_lists_every_subcommand_with_its_example() -> None:
    listed = dict(re.findall(r"^  (\w+) +(nvdla-tb .*)$", parser().format_help(), re.MULTILINE))
    assert listed == {name: command.example for name, command in COMMANDS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("words", ["run --list", "cache", "--help"])
def test_a_command_whose_output_nobody_reads_ends_without_a_word(tmp_path: Path, words: str) -> None:
    unread, out = os.pipe()
    os.close(unread)
    # Without a buffer argparse sees that its help is not read, and forgives it.
    environment = {**os.environ, "NVDLA_CACHE": str(tmp_path), "PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-m", "nvdla_tb", *words.split()]
    with open(out, "w") as stream:
        ran = subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=stream, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (ran.returncode, ran.stderr) == (141, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_parses_as_its_subcommand(name: str) -> None:
    words = shlex.split(COMMANDS[name].example)
    assert words[:2] == ["nvdla-tb", name]
    assert parser().parse_args(words[1:]).command == name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_subcommand_explains_itself(tb: Run, name: str) -> None:
    ran = tb(name, "--help")
    assert ran.code == 0
    assert COMMANDS[name].help in " ".join(ran.out.split())


@pytest.mark.parametrize("command", ["pack", "unpack", "offset", "describe"])
def test_the_help_states_every_option_of_layouts_with_its_default(
    tb: Run, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    text = tb(command, "--help").out
    for name, option in OPTIONS.items():
        assert (f"--{name} " in text) == (command in option.commands)
        assert (option.about in text) == (command in option.commands)


def test_the_help_of_dumps_lists_the_one_format_that_is_explained(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    text = tb("explain --help").out
    assert re.search(r"--format FORMAT +with dumps needed: feature$", text, re.MULTILINE)
    assert "pixel" not in text


def test_a_missing_dependency_is_named_with_the_command_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-m", "nvdla_tb", "plan"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )
    said = "error: numpy is missing: pip install it; in a checkout, `make` does\n"
    assert (ran.returncode, ran.stderr) == (2, said)


def test_a_bare_command_lists_the_subcommands_and_is_no_success(tb: Run) -> None:
    ran = tb()
    assert (ran.code, ran.out) == (2, "")
    assert all(name in ran.err for name in COMMANDS)


def stranger(folder: Path, name: str) -> None:
    """Install a package of somebody else, ``their_NAME``, that adds a subcommand."""
    package = f"their_{name}"
    (folder / package).mkdir()
    (folder / package / "__init__.py").touch()
    (folder / package / "commands.py").write_text(
        "from nvdla_tb.cli.commands import Command\n"
        f"COMMANDS = {{{name!r}: Command('{package}.lint', 'check names', 'nvdla-tb lint top.v')}}\n"
    )
    (folder / package / "lint.py").write_text(
        "def add_arguments(parser):\n    parser.add_argument('file')\n\n"
        "def main(args):\n    print('linted', args.file)\n    return 0\n"
    )
    (folder / f"{package}-1.dist-info").mkdir()
    (folder / f"{package}-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    (folder / f"{package}-1.dist-info" / "entry_points.txt").write_text(
        f"[{GROUP}]\n{package} = {package}.commands:COMMANDS\n"
    )


def test_a_package_of_somebody_else_adds_a_subcommand(tb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger(tmp_path, "lint")
    monkeypatch.syspath_prepend(tmp_path)
    assert tb("lint top.v") == (0, "linted top.v\n", "")
    assert "nvdla-tb lint top.v" in parser().format_help()


def test_a_subcommand_is_not_replaced_by_a_package(tb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger(tmp_path, "run")
    monkeypatch.syspath_prepend(tmp_path)
    assert tb("plan").refusal == "subcommands must have names of their own; their_run adds run again"


@pytest.mark.slow
def test_only_the_chosen_subcommand_is_imported() -> None:
    code = "import sys; from nvdla_tb.cli.main import main; main(['cache']); print(*sys.modules, sep='\\n')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not {"distributed", "onnx", "nvdla_tb.cli.run", "nvdla_networks.command"} & set(ran.stdout.split())


@pytest.mark.slow
def test_scenarios_are_listed_without_what_plays_them() -> None:
    code = "import sys; from nvdla_tb.cli.main import main; main(['run', '--list']); print(*sys.modules, sep='\\n')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "sdp_pass_through_full_atom" in ran.stdout
    loaded = {"distributed", "jinja2", "sqlite3", "nvdla_tb.explain", "nvdla_tb.judge", "nvdla_tb.run.system"}
    assert not loaded & set(ran.stdout.split())


@pytest.mark.slow
def test_a_simulation_starts_without_what_explains_failures() -> None:
    code = "import sys, nvdla_tb.sim.entry; print(*sys.modules, sep='\\n')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "nvdla_tb.judge" in ran.stdout
    assert not {"jinja2", "nvdla_tb.explain", "nvdla_tb.report", "sqlite3"} & set(ran.stdout.split())


def test_a_refusal_is_one_message_and_a_bug_keeps_its_traceback(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tb("regress random --only NOPE --seeds 1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)

    def broken(args: argparse.Namespace) -> int:
        return int((np.zeros(2) + np.zeros(3)).sum())

    monkeypatch.setattr(plan, "main", broken)
    with pytest.raises(ValueError, match=r"^operands could not be broadcast together with shapes \(2,\) \(3,\) $"):
        tb("plan")


def test_an_unknown_subcommand_is_refused_with_all_that_exist(tb: Run) -> None:
    refusal = tb("depack").refusal
    assert all(name in refusal for name in COMMANDS)

"""Shells complete subcommands, options, the names that options take, and files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nvdla_tb.cli.completion import Completer
from nvdla_tb.cli.main import parser
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.plan import load_plan
from tests.unit.cli.test_parsing import parsers

SCENARIOS = {entry.name for entry in load_plan(PLANS / "nv_small.toml") if entry.name.startswith("pdp_m")}
FILES = {"top.f", "top_rtl/"}


def offered(words: str, dest: str, prefix: str) -> set[str]:
    """Return what completes an option or argument behind some words."""
    args = parser().parse_args(words.split())
    (taken,) = [
        action
        for one in parsers(parser(args.command))
        if one.prog == " ".join(["nvdla-tb", *words.split()[: 2 if "kind" in args else 1]])
        for action in one._actions
        if action.dest == dest
    ][:1]
    return set(Completer()(prefix=prefix, action=taken, parser=parser(), parsed_args=args))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a few files."""
    (tmp_path / "top.f").touch()
    (tmp_path / "top_rtl").mkdir()
    (tmp_path / "top\x1b[2J").touch()
    own = (PLANS / "nv_small.toml").read_text(encoding="utf-8").replace('"pdp_max_2x2"', '"pdp_mine"')
    (tmp_path / "own.toml").write_text(own, encoding="utf-8")
    (tmp_path / "wrong.toml").write_text("nothing = [", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "dest", "prefix", "names"),
    [
        ("run", "plan", "nv_small_c", {"nv_small_closure", "nv_small_corners"}),
        ("run", "plan", "top", FILES),
        ("run", "only", "pdp_m", SCENARIOS),
        ("run", "only", "sdp_max,pdp_max_2", {"sdp_max,pdp_max_2x2"}),
        ("run --plan own.toml", "only", "pdp_min", {"pdp_mine", "pdp_min_padded"}),
        ("run --plan wrong.toml", "only", "pdp_mi", set()),
        ("run --config dlhdl", "only", "max_pool", {"max_pool_2x2", "max_pool_padded"}),
        ("run", "config", "nv_medium_5", {"nv_medium_512"}),
        ("run", "config", "dlhdl_int8_6", {"dlhdl_int8_64"}),
        ("run", "config", "top", FILES),
        ("configs", "name", "nv_medium_5", {"nv_medium_512"}),
        ("regress random", "only", "CO", {"CONV"}),
        ("regress plan", "level", "L", {"L0", "L1", "L2", "L3"}),
        ("run", "rtl", "top", FILES),
        ("run", "rtl", "none/", set()),
        ("run", "json", "top", FILES),
        ("run", "seed", "t", set()),
        ("explain x", "paths", "top", FILES),
    ],
)
def test_names_and_files_are_offered(words: str, dest: str, prefix: str, names: set[str]) -> None:
    assert offered(words, dest, prefix) == names


SHELLS = {
    "bash": (
        "{script}\nCOMP_LINE={line!r} COMP_POINT={point} COMP_TYPE=9\n"
        '_python_argcomplete nvdla-tb; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ),
    "zsh": (
        "compdef() {{ }}\n_describe() {{ printf '%s\\n' \"${{completions[@]%%:*}}\" }}\n"
        "{script}\nBUFFER={line!r} CURSOR={point} words=(nvdla-tb)\n_python_argcomplete"
    ),
    "fish": "{script}\ncomplete -C {line!r} | string split -f 1 \\t",
}
"""By shell, the commands that print what it completes."""

WITHOUT_SETTINGS = {"bash": "--norc", "zsh": "-f", "fish": "--no-config"}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_asks_and_is_answered(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "nv_small_corner_cases").mkdir()
    program = tmp_path / "nvdla-tb"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m nvdla_tb "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    words, line = [str(program), "--print-completion", shell], "nvdla-tb run --plan nv_small_c"
    printed = subprocess.run(words, capture_output=True, text=True, check=True, env=environment, timeout=300)
    text = SHELLS[shell].format(script=printed.stdout, line=line, point=len(line))
    asked = [shell, WITHOUT_SETTINGS[shell], "-c", text]
    ran = subprocess.run(
        asked, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    found = {name.strip() for name in ran.stdout.split("\n") if name.strip()}
    assert found == {"nv_small_closure", "nv_small_corners", "nv_small_corner_cases/"}, ran.stderr

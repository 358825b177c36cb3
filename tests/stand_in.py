"""Stands in for the tools of vendors: notes how each is called, and lets Icarus do what the real one would.

``install`` writes the programs. They know the words of cocotb's runner alone, and nothing of a vendor's tool.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

PROGRAMS = {
    "questa": ("vlib", "vlog", "vsim"),
    "vcs": ("vcs",),
    "xcelium": ("xrun",),
    "riviera": ("vsimsa",),
}
"""The programs of each simulator."""

_LOG = "STAND_IN_LOG"


class Call(NamedTuple):
    """One call: program, folder, words, and the lines of a script that it was given."""

    program: str
    folder: str
    words: list[str]
    script: list[str]


def install(folder: Path, simulator: str) -> Path:
    """Write the programs of a simulator into a folder, and return the file that notes their calls."""
    log = folder / "calls.jsonl"
    log.touch()
    for program in PROGRAMS[simulator]:
        path = folder / program
        words = shlex.join([sys.executable, str(Path(__file__)), program])
        path.write_text(f'#!/bin/sh\n{_LOG}={shlex.quote(str(log))} exec {words} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    return log


def calls(log: Path) -> list[Call]:
    """Return what was called."""
    return [Call(*json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]


def _main(program: str, words: list[str]) -> int:
    script = Path(words[1]).read_text(encoding="utf-8").splitlines() if program == "vsimsa" else []
    with Path(os.environ[_LOG]).open("a", encoding="utf-8") as log:
        log.write(json.dumps([program, os.getcwd(), words, script]) + "\n")
    if program == "vlib":
        Path(words[0]).mkdir()
        Path(words[0], "_info").touch()
        return 0
    given = [part for word in (*words, *script) for part in word.split()]
    sources = [part for part in given if part.endswith("sources.sv")]
    if sources:
        return _compile(program, given, sources[-1])
    return _simulate(_model(given), [part for part in given if part.startswith("+")]) if _plays(program, given) else 0


def _plays(program: str, given: list[str]) -> bool:
    return program == "vsim" or "asim" in given or "-R" in given


def _model(given: list[str]) -> Path:
    """Return the file of the model where the real tool looks for a library of its own."""
    snapshot = [Path(after) for word, after in pairwise(given) if word == "-xmlibdirname"]
    return (snapshot[0] if snapshot else Path("top")) / "model.vvp"


def _compile(program: str, given: list[str], source: str) -> int:
    """Compile with Icarus; ``vcs`` leaves a program, the others a library."""
    words: list[str] = []
    following = iter(given)
    for word in following:
        word = word.strip("'")
        if word.startswith(("+incdir+", "-incdir")):
            words.append("-I" + (word.removeprefix("+incdir+") if word.startswith("+") else next(following)))
        elif word.startswith(("+define+", "-define")):
            text = word.removeprefix("+define+") if word.startswith("+") else next(following).replace('"', "")
            words.append(f"-D{text}")
        elif word.startswith("+libext+"):
            words += [part for extension in word.split("+")[2:] for part in ("-Y", extension)]
        elif word in ("-y", "-v"):
            words += ["-y" if word == "-y" else "-l", next(following)]
    if program == "vcs":
        program_path = Path(given[given.index("-o") + 1])
        model = program_path.with_suffix(".vvp")
        again = shlex.join([sys.executable, __file__, "simv", str(model)])
        program_path.write_text(f'#!/bin/sh\nexec {again} "$@"\n', encoding="utf-8")
        program_path.chmod(0o755)
    else:
        model = _model(given)
        model.parent.mkdir(exist_ok=True)
    return subprocess.run(
        ["iverilog", "-g2012", "-s", "tb_top", "-o", str(model), *words, source], check=False
    ).returncode


def _simulate(model: Path, plusargs: list[str]) -> int:
    """Simulate with Icarus, which knows nothing of VHPI."""
    from cocotb_tools.config import lib_entry

    os.environ.pop("GPI_EXTRA", None)
    return subprocess.run(["vvp", "-m", lib_entry("vpi", "icarus"), str(model), *plusargs], check=False).returncode


if __name__ == "__main__":
    if sys.argv[1] == "simv":
        sys.exit(_simulate(Path(sys.argv[2]), [word for word in sys.argv[3:] if word.startswith("+")]))
    sys.exit(_main(sys.argv[1], sys.argv[2:]))

"""Steering on the embedded device: a corpus comes into being, and its entries reach the same when played again."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nvdla_steer.command import add_arguments, main
from nvdla_steer.corpus import PLAN
from nvdla_tb.cli.parsing import Parser
from nvdla_tb.stimulus.generate.plan import load_plan
from tests.repository import UNOPTIMISED


def steer(folder: Path, options: str) -> int:
    parser = Parser()
    add_arguments(parser)
    args = parser.parse_args(
        [*options.split(), "--corpus", str(folder / "corpus"), "--results", str(folder / "results")]
    )
    args.command_line = "nvdla-tb steer"
    return main(args)


def levels(folder: Path) -> dict[str, bytes]:
    found = {}
    for path in (folder / "corpus" / "points").rglob("*.npz"):
        with np.load(path) as file:
            found[path.name] = file["levels"].tobytes() + file["cycles"].tobytes()
    return found


def test_what_an_entry_reaches_does_not_depend_on_what_was_played_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKEFLAGS", UNOPTIMISED)
    assert steer(tmp_path, "--code-coverage line --cycles 25000 --jobs 1") == 0
    entries = load_plan(tmp_path / "corpus" / PLAN)
    before = levels(tmp_path)
    assert len(entries) == len(before) > 1
    assert all(any(content[:-8]) for content in before.values())
    shutil.rmtree(tmp_path / "corpus" / "points")
    # In the other order, as the last one comes first.
    assert steer(tmp_path, f"--code-coverage line --cycles {sum_of_cycles(before)} --jobs 1") == 0
    after = levels(tmp_path)
    assert {name: after[name] for name in before if name in after} == {n: c for n, c in before.items() if n in after}
    assert len(before.keys() & after.keys()) > len(before) / 2
    assert "0 failed" in capsys.readouterr().out


def sum_of_cycles(found: dict[str, bytes]) -> int:
    return sum(int(np.frombuffer(content[-8:], dtype=np.int64)[0]) for content in found.values())

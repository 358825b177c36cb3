"""Mutants of the embedded device: the unit of each is named, by hand-overs that are watched after the failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nvdla_score.command import main
from nvdla_tb.cli.main import parser
from tests.repository import UNOPTIMISED

PLAYED = "--mutants 3 --modules nvdla_cacc_arithmetic --seed 6 --scenarios conv_3x3_partial_groups --prove 1 --jobs 1"


def test_the_unit_of_a_mutant_is_named_by_the_hand_overs_of_the_mutated_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKEFLAGS", UNOPTIMISED)
    main(parser().parse_args(["score", *PLAYED.split(), "--results", str(tmp_path)]))
    told = capsys.readouterr().out.splitlines()
    score = json.loads((tmp_path / "mutants" / "score.json").read_text(encoding="utf-8"))
    caught = [result for result in score["results"] if result["caught"]]
    assert len(caught) >= 2
    for result in caught:
        assert (result["unit"], result["named"], result["naming"]) == ("CACC", [["CACC"]], "right")
    assert score["units"] == {"right": len(caught), "wide": 0, "wrong": 0, "none": 0, "shared": 0}
    assert sum(line.endswith("; unit CACC: right") for line in told) == len(caught)
    said = f"units named right: {len(caught)} of {len(caught)} caught; wide 0, wrong 0, none 0"
    assert any(line.startswith(said) for line in told)

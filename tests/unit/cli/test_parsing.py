"""Options are given by their whole names, in every command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvdla_tb.cli.command import parser
from tests.repository import ROOT
from tests.unit.cli.conftest import Run

HERE = "parsing.py"


def parsers(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its subcommands, at any depth."""
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from parsers(sub)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("regress plan --seed 3", "unrecognized arguments: --seed 3"),
        ("regress plan --level L1 --time 5", "unrecognized arguments: --time 5"),
        ("run --see 3", "unrecognized arguments: --see 3"),
        ("run --stop", "unrecognized arguments: --stop"),
        ("score --mutant 3", "unrecognized arguments: --mutant 3"),
        ("bench regress --task 3", "unrecognized arguments: --task 3"),
        ("--vers", "the following arguments are required: SUBCOMMAND"),
    ],
)
def test_an_abbreviation_is_refused_and_means_no_other_option(tb: Run, words: str, message: str) -> None:
    assert tb(words).refusal == message


def test_no_parser_takes_abbreviations() -> None:
    found = list(parsers(parser()))
    assert len(found) > 20
    for one in found:
        assert one.allow_abbrev is False, one.prog


@pytest.mark.parametrize("folder", ["tb", "tests"])
def test_one_module_alone_makes_parsers(folder: str) -> None:
    made = [
        path.name
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"ArgumentParser\((?!\))", path.read_text(encoding="utf-8"))
    ]
    assert [name for name in made if name not in (HERE, Path(__file__).name)] == []

"""Options are given by their whole names, in every command."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvdla_tb.cli.main import parser
from tests.repository import ROOT
from tests.unit.conftest import Run

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
        ("regress plan --level L1 --time 5", "unrecognized arguments: --time 5; closest: --timeout"),
        ("run --see 3", "unrecognized arguments: --see 3; closest: --seed"),
        ("run --stop", "unrecognized arguments: --stop; closest: --stop-at-first"),
        ("score --mutant 3", "unrecognized arguments: --mutant 3; closest: --mutants"),
        ("bench regress --task 3", "unrecognized arguments: --task 3; closest: --tasks"),
        ("--vers", "the following arguments are required: SUBCOMMAND"),
    ],
)
def test_an_abbreviation_is_refused_and_means_no_other_option(tb: Run, words: str, message: str) -> None:
    assert tb(words).refusal == message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("rnu", "argument SUBCOMMAND: invalid choice: 'rnu' (choose from … closest: run"),
        ("regress plna", "argument KIND: invalid choice: 'plna' (choose from … closest: plan"),
        ("run --sim verilater", "argument --sim: invalid choice: 'verilater' (choose from … closest: verilator"),
        ("run --sim x", "argument --sim: invalid choice: 'x' (choose from … 'riviera')"),
    ],
)
def test_a_word_that_there_is_not_is_refused_with_the_nearest(tb: Run, words: str, message: str) -> None:
    begin, end = message.split("…")
    refusal = tb(words).refusal
    assert (refusal[: len(begin)], refusal[-len(end) :]) == (begin, end)


def test_every_subcommand_says_in_its_help_what_it_is_for() -> None:
    top, *others = parsers(parser())
    assert [one.prog for one in (top, *others) if not one.description] == []


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


@pytest.mark.parametrize(
    ("words", "usage", "message"),
    [
        ("run --olny x", "usage: nvdla-tb run ", "unrecognized arguments: --olny x; closest: --only"),
        ("run --jbos=3", "usage: nvdla-tb run ", "unrecognized arguments: --jbos=3; closest: --jobs"),
        ("run --zzzz", "usage: nvdla-tb run ", "unrecognized arguments: --zzzz"),
        ("run stray", "usage: nvdla-tb run ", "unrecognized arguments: stray"),
        (
            "regress plan --levle L1",
            "usage: nvdla-tb regress plan ",
            "unrecognized arguments: --levle L1; closest: --level",
        ),
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_subcommand_and_the_nearest_name(
    tb: Run, words: str, usage: str, message: str
) -> None:
    ran = tb(words)
    assert ran.refusal == message
    assert ran.err.startswith(usage)


@pytest.mark.parametrize(
    ("words", "old", "now", "value"),
    [
        ("regress random --first 3", "--first", "--seed", 3),
        ("regress plan --first 3", "--first", "--seed", 3),
        ("regress random --engines SDP,PDP", "--engines", "--only", ["SDP", "PDP"]),
        ("network m.nvdla --results out", "--results", "--save-results", Path("out")),
    ],
)
def test_a_former_name_is_taken_with_a_hint(
    capsys: pytest.CaptureFixture[str], words: str, old: str, now: str, value: object
) -> None:
    args = parser().parse_args(words.split())
    assert getattr(args, now.removeprefix("--").replace("-", "_")) == value
    assert capsys.readouterr() == ("", f"hint: {old} is now {now}; the next release does not know {old}\n")
    own = f"nvdla-tb {words.partition(' -')[0].removesuffix(' m.nvdla')}"
    (shown,) = [one.format_help() for one in parsers(parser()) if one.prog == own]
    assert (now in shown, f"{old} " in shown) == (True, False)


@pytest.mark.parametrize("command", ["run", "trace x", "drive x", "replay x", "regress plan"])
def test_every_command_that_plays_takes_waves_no_waves_and_a_folder_of_results(command: str) -> None:
    for option, value in (("--waves", True), ("--no-waves", False)):
        args = parser().parse_args([*command.split(), option, "--results", "out"])
        assert (args.waves, args.results) == (value, Path("out"))

"""``bench sim``: alternation, medians and ratios, and what another harness must say."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_score.bench import sim
from nvdla_score.bench.sim import Sample, Subject, against, alternate, table
from nvdla_tb.cli.main import parser
from nvdla_tb.run.errors import LaunchError


def counted(name: str, order: list[str], speeds: list[float], cycles: list[int]) -> Callable[[], Sample]:
    """Return a measurement that notes its turn and gives the next speed."""
    rounds = iter(zip(speeds, cycles, strict=True))

    def measure() -> Sample:
        order.append(name)
        speed, count = next(rounds)
        return Sample(count, speed, 0.5 if name == "native" else None)

    return measure


def test_subjects_take_turns_and_medians_are_compared_with_the_reference() -> None:
    order: list[str] = []
    subjects = [
        Subject("native", counted("native", order, [80.0, 90.0, 10.0], [7, 7, 7])),
        Subject("against", counted("against", order, [100.0, 100.0, 900.0], [9, 9, 9]), is_reference=True),
    ]
    lines = list(table("one", alternate(subjects, 3)))
    assert order == ["native", "against"] * 3
    assert [line.split() for line in lines] == [
        ["one", "native", "7", "80", "0.800", "0.50", "s"],
        ["against", "9", "100", "1.000"],
    ]


def test_a_subject_must_play_the_same_cycles_every_time() -> None:
    subject = Subject("native", counted("native", [], [80.0, 90.0], [7, 8]), is_reference=True)
    with pytest.raises(LaunchError, match=r"^native must play the same cycles in every round, not \[7, 8\]$"):
        alternate([subject], 2)


def harness(folder: Path, text: str) -> str:
    """Return the command of a harness in Python."""
    (folder / "harness.py").write_text(f"import sys\n{text}\n", encoding="utf-8")
    return f"{sys.executable} {folder / 'harness.py'} {{trace}}"


def test_another_harness_is_told_the_trace_and_says_cycles_and_seconds(tmp_path: Path) -> None:
    command = harness(tmp_path, "print('reset')\nprint(f'{len(sys.argv[1])}00 cycles in 0.5 s')")
    assert against(command, "abc") == Sample(300, 600.0)


@pytest.mark.parametrize("said", ["", "5 cycles", "5 cycles in 0 s", "5 cycles in 1 s\n6 cycles in 1 s"])
def test_another_harness_that_does_not_say_so_is_refused(tmp_path: Path, said: str) -> None:
    with pytest.raises(LaunchError, match=r"must print one line 'N cycles in S s', not "):
        against(harness(tmp_path, f"print({said!r})"), "abc")


def test_another_harness_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r" ended with code 1: no such trace$"):
        against(harness(tmp_path, "sys.exit('no such trace')"), "abc")


def test_the_bare_device_is_the_reference_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[argparse.Namespace] = []

    def build(args: argparse.Namespace, config: HwConfig) -> str:
        built.append(args)
        return args.top

    monkeypatch.setattr(sim, "build_dut", build)
    words = "bench sim --rtl mine.f --top wrapped --port-map ports.toml --bare bare.f --backend native"
    args = parser().parse_args(words.split())
    models = dict(sim._models(args, HwConfig.load("nv_small")))
    assert models == {"native": "wrapped", "bare": "NV_nvdla"}
    assert (built[1].rtl, built[1].port_map) == (Path("bare.f"), None)

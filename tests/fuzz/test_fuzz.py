"""The smoke run: a few inputs of every kind against every reader; ``python -m tests.fuzz`` is the long one."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nvdla_models.errors import InputError
from tests.fuzz import run
from tests.fuzz.__main__ import main
from tests.fuzz.readers import READERS, Reader, by_name
from tests.fuzz.run import Tally, feed, feed_apart, input_of

SMOKE = settings(
    max_examples=30, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
IDS = [reader.name.replace(" ", "-") for reader in READERS]


def read_or_refuse(reader: Reader, data: bytes, folder: Path) -> None:
    """Read an input; any exception but ``InputError`` fails the test."""
    with suppress(InputError):
        reader.read(data, folder)


@pytest.mark.parametrize("reader", READERS, ids=IDS)
def test_every_sample_is_read(reader: Reader, tmp_path: Path) -> None:
    for sample in reader.samples():
        reader.read(sample, tmp_path)


@pytest.mark.parametrize("reader", READERS, ids=IDS)
def test_mutated_samples_are_read_or_refused(reader: Reader, tmp_path: Path) -> None:
    samples = reader.samples()

    @SMOKE
    @given(st.integers(0, 1 << 32))
    def check(seed: int) -> None:
        rng = random.Random(seed)
        read_or_refuse(reader, reader.mutate(rng, rng.choice(samples)), tmp_path)

    check()


@pytest.mark.parametrize("reader", READERS, ids=IDS)
def test_any_bytes_are_read_or_refused(reader: Reader, tmp_path: Path) -> None:
    @SMOKE
    @given(st.binary(max_size=200))
    def check(data: bytes) -> None:
        read_or_refuse(reader, data, tmp_path)

    check()


@pytest.mark.parametrize("name", ["answer of a simulator", "bundle", "result of a worker", "store", "task of a worker"])
def test_other_values_in_json_are_read_or_refused(name: str, tmp_path: Path) -> None:
    reader = by_name(name)
    sample: dict[str, Any] = json.loads(reader.samples()[0])

    @SMOKE
    @given(st.sampled_from(sorted(sample)), VALUES)
    def check(key: str, value: object) -> None:
        read_or_refuse(reader, json.dumps({**sample, key: value}).encode("utf-8", "surrogatepass"), tmp_path)

    check()


def broken(path: Path) -> None:
    data = path.read_bytes()
    if data == b"long":
        raise KeyError("not an InputError")
    while not data:
        pass


def test_another_exception_is_a_finding_with_its_place_and_number() -> None:
    reader = Reader("broken", "file", lambda: [b"long"], broken, lambda rng, sample: rng.choice((b"ok", sample)))
    tally = feed(reader, 1, range(30))
    ((kind, (number, text)),) = tally.findings.items()
    assert kind.startswith("KeyError at ")
    assert (text, input_of(reader, 1, number, [b"long"])) == ("'not an InputError'", b"long")
    assert tally.inputs == 30 == tally.accepted + tally.refused + tally.counts.total()
    assert tally.accepted > 0


@pytest.mark.parametrize("lines", [("one", "two"), ("a\u202eb",)])
def test_a_refusal_of_several_lines_is_a_finding(lines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise InputError(*lines)

    monkeypatch.setattr(InputError, "__str__", lambda error: "\n".join(error.args))
    tally = feed(Reader("refusing", "file", lambda: [b""], refuse), 1, range(1))
    assert [kind.partition(" at ")[0] for kind in tally.findings] == ["unprintable InputError"]
    assert tally.refused == tally.accepted == 0


def test_an_input_that_takes_too_long_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SECONDS", 0.05)
    tally = feed(Reader("slow", "file", lambda: [b""], broken), 1, range(1))
    assert [kind.partition(" ")[0] for kind in tally.findings] == ["Overtime"]


def test_an_input_that_takes_too_much_memory_is_a_finding() -> None:
    reader = Reader("large", "file", lambda: [b""], lambda path: bytearray(2 * run.ADDRESS_SPACE_BYTES))
    assert [kind.partition(" ")[0] for kind in feed_apart(reader, 1, 1).findings] == ["MemoryError"]


def test_the_same_seed_gives_the_same_inputs() -> None:
    reader = by_name("trace")
    samples = reader.samples()
    once, again = ([input_of(reader, 5, number, samples) for number in range(20)] for _ in range(2))
    assert once == again
    assert once != [input_of(reader, 6, number, samples) for number in range(20)]


def test_the_long_run_says_what_it_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = Tally(10, 4, 0.5, 3, 1 << 20, {"KeyError at x.py:1": (7, "'a'")}, Counter({"KeyError at x.py:1": 2}))
    monkeypatch.setattr("tests.fuzz.__main__.feed_apart", lambda reader, seed, inputs: found)
    monkeypatch.setattr("sys.argv", ["fuzz", "--reader", "trace", "--inputs", "10"])
    assert main() == 1
    _, line, finding, whole = capsys.readouterr().out.splitlines()
    assert line.split() == ["trace", "10", "4", "4", "0.500", "1"]
    assert finding == "       2 x KeyError at x.py:1, first input 7: 'a'"
    assert whole.split() == ["all", "10", "4", "4", "0.500", "1"]

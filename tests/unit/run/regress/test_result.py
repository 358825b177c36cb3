"""Results: what identifies them, and that nothing is lost on disk."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.errors import InputError
from nvdla_models.layout import Element
from nvdla_tb.judge.verdict import Ending, Margin, Verdict
from nvdla_tb.stimulus.result import Performance, Result
from tests.unit.run.regress.tasks import DUT, VERDICTS, ended, explained, hang, task, wrong

MARGIN = Margin("layer 0 (CONV, group 0)", "CC DC", "some rule", 9, None, Element(1, 2, 3))
WHOLE = Result(
    "pdp_max_2x2",
    3,
    replace(DUT, rtl="/my.f", port_map="/ports.toml", debug=True, backend="native", coverage="both"),
    "nvdla-tb run",
    Verdict(judged_bytes=8, cycles=900, margins=[MARGIN], findings=[wrong(), hang("SDP_0")], refused="no Y"),
    1.5,
    "runs/pdp_max_2x2.3",
    Performance(1e5, 0.25, 1 << 27),
    explained("dst-base", equal=("dst-base", "dst-order")),
    {"PDP.group=0": 2},
)


def test_a_result_is_told_apart_by_test_seed_configuration_and_simulator() -> None:
    own = replace(WHOLE, dut=replace(DUT, config="/designs/mine.toml", simulator="icarus"))
    assert (own.identity, own.key) == ("pdp_max_2x2.3", "pdp_max_2x2.3.mine.icarus")


@pytest.mark.parametrize(
    ("result", "ending"), [(WHOLE, Ending.HANG), *((ended(task(1), ending), ending) for ending in VERDICTS)]
)
def test_a_result_survives_its_file_and_ends_as_its_verdict_does(
    result: Result, ending: Ending, tmp_path: Path
) -> None:
    (tmp_path / "result.json").write_bytes(result.encode())
    again = Result.load(tmp_path / "result.json")
    assert (again, again.ending) == (result, ending)


def changed(**changes: object) -> bytes:
    return json.dumps({**json.loads(WHOLE.encode()), **changes}).encode()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (changed(seed="3"), r": a result: seed must be an integer, not '3'$"),
        (changed(verdict=None), r": a result: verdict must be a table, not None$"),
        (
            changed(verdict={"findings": [{"check": "smell", "detail": {"type": "Note", "message": ""}}]}),
            r": a result: verdict\.findings\[0\]\.check must be one of wrong value, .*, not smell$",
        ),
        (
            changed(verdict={"findings": [{"check": "test", "detail": {"type": "Other"}}]}),
            r": a result: verdict\.findings\[0\]\.detail\.type must be one of Mismatch, .*, not Other$",
        ),
        (WHOLE.encode()[:-1], r" must be JSON: Expecting ',' delimiter: "),
        (replace(WHOLE, rerun="größer").encode().decode().encode("latin-1"), r":1: text must be UTF-8, not byte 0xf6$"),
    ],
)
def test_a_file_of_something_else_is_refused(content: bytes, why: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}{why}"):
        Result.load(path)


def test_only_what_passed_or_was_not_predicted_is_no_failure() -> None:
    assert [ending for ending in Ending if not ending.is_failure] == [Ending.PASSED, Ending.GOLDEN, Ending.REFUSED]

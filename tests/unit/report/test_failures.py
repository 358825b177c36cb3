"""Failures on the terminal: by cause, then by check, never more lines than fit, with paths that exist."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nvdla_tb.judge.detail import Note
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_facts import LayerFacts
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.performance import Work
from nvdla_tb.report import failures, summary
from nvdla_tb.stimulus.explained import Explained, ExplainedLayer, Pointed
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.tasks import DUT, hang, task, wrong

WRONG = (
    "wrong value: 1 element; layer 0 (SDP, group 0): first at c=0 h=0 w=0 (address 0x1000 of MC), "
    "expected 0x01, got 0x02, at cycle 30 with id 4"
)


def result(name: str, verdict: Verdict, folder: Path | None = None, why: Explained | None = None) -> Result:
    where = None if folder is None else str(folder)
    return Result(name, 3, DUT, f"nvdla-tb run --only {name}", verdict, 1.25, where, explained=why)


def explained(cause: str, headline: str, lines: int = 12) -> Explained:
    unknown = ExplainedLayer("layer 0", 1, why=[f"reason {n}" for n in range(lines)])
    return Explained([unknown, ExplainedLayer("layer 1", 1, causes=[cause], equal=[cause], headline=headline)])


def in_group(group: int) -> Verdict:
    return Verdict(findings=[replace(wrong(), layer=LayerId(0, "SDP", group))])


def test_a_failure_alone_says_why_and_where_more_is_to_be_found(tmp_path: Path) -> None:
    verdict = Verdict(findings=[hang("SDP_0"), wrong(), Finding(Check.TEST, Note("<1> element"))])
    (tmp_path / "failure.html").write_text("page", encoding="utf-8")
    (tmp_path / "sim.log").write_text("log", encoding="utf-8")
    refused = result("other", Verdict(refused="no Y"))
    assert failures.told([result("bad", verdict, tmp_path), refused]) == (
        "failed: bad.3\n"
        f"  {WRONG}\n"
        "  hang: nothing moved for 5000 cycles, at cycle 61000\n"
        "    waiting for interrupt SDP_0\n"
        "    every unit's S_STATUS is IDLE\n"
        "  <1> element\n"
        f"  page: {tmp_path}/failure.html\n"
        f"  log: {tmp_path}/sim.log\n"
        "  rerun: nvdla-tb run --only bad\n"
        "refused: other.3\n"
        "  no Y"
    )


def test_the_waves_of_a_failure_are_named_by_what_opens_them(tmp_path: Path) -> None:
    def shown() -> str:
        said = failures.told([result("bad", Verdict(findings=[wrong()]), tmp_path)])
        return next((line for line in said.splitlines() if "waves" in line), "")

    assert shown() == ""
    (tmp_path / "waves.vcd").write_text("$end", encoding="utf-8")
    assert shown() == f"  waves: {tmp_path}/waves.vcd"
    (tmp_path / "waves.gtkw").write_text("[*]", encoding="utf-8")
    assert shown() == f"  waves: {tmp_path}/waves.gtkw"


def test_a_failure_that_passes_alone_names_the_scenario_before_it() -> None:
    after = replace(result("bad", Verdict(findings=[wrong()])), after="first.1")
    assert failures.told([after]).splitlines()[-2:] == [
        "  passes alone: it fails after first.1 on the same simulator, which is reset in between",
        "  rerun: nvdla-tb run --only bad",
    ]


def test_units_come_first_and_what_several_engines_share_before_all() -> None:
    units = [Pointed(text) for text in ("SDP: one", "GLB: two", "CSC: three")]
    why = Explained([ExplainedLayer("layer 0", 1)], units)
    one = result("a", in_group(0), why=why)
    assert failures.told([one]).splitlines()[:4] == [
        "failed: a.3",
        "  unit: SDP: one",
        "  unit: GLB: two",
        f"  {WRONG}",
    ]
    pooled = Verdict(findings=[replace(wrong(), layer=LayerId(0, "PDP", 0))])
    said = failures.told([one, result("b", pooled, why=why)]).splitlines()
    assert said[0] == "unit: rather what all units share, as the memory interface: layers of SDP, PDP are wrong"
    known = replace(why, layers=explained("dst-base", "base").layers[1:])
    explained_one = result("b", pooled, why=known)
    assert failures.told([one, explained_one]).startswith("failed: "), "half of them are known"
    normalised = Verdict(findings=[replace(wrong(), layer=LayerId(0, "CDP", 0))])
    assert failures.told([one, explained_one, result("c", normalised, why=why)]).startswith("unit: rather ")
    late = Verdict(findings=[replace(wrong(check=Check.LATE), layer=LayerId(0, "PDP", 0))])
    assert failures.told([one, result("b", late, why=why)]).startswith("failed: "), "right bytes that come late"


def test_the_unit_at_which_all_kinds_of_failures_point_comes_before_all() -> None:
    def ending(name: str, engine: str, *units: str) -> Result:
        why = Explained([], [Pointed(f"{units[0]}: lost", list(units))])
        return result(name, Verdict(findings=[replace(wrong(), layer=LayerId(0, engine, 0))]), why=why)

    said = failures.told([ending("a", "SDP", "SDP", "GLB"), ending("b", "PDP", "PDP", "GLB")])
    assert said.startswith("unit: GLB: each of 2 kinds of failures points at it\n")
    said = failures.told([ending("a", "SDP", "SDP", "GLB"), ending("b", "PDP", "PDP")])
    assert "kinds of failures" not in said


def test_the_simplest_failure_of_a_cause_comes_first() -> None:
    def of(name: str, layers: int, cycles: int) -> Result:
        facts = [
            LayerFacts(index, f"layer {index}", "SDP", 0, 8, 1, 0, None, 0, 0, None, Work(0, {}, {}, {}, 0), None, {})
            for index in range(layers)
        ]
        verdict = replace(in_group(0), cycles=cycles)
        return replace(result(name, verdict, why=explained("dst-base", "base")), layers=facts)

    (group,) = summary.groups([of("long", 1, 900), of("many", 3, 100), of("crashed", 0, 50), of("short", 1, 800)])
    assert [member.test for member in group.members] == ["short", "long", "many", "crashed"]


def test_a_log_that_is_empty_or_missing_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "sim.log").touch()
    said = failures.told([result("bad", Verdict(findings=[wrong()]), tmp_path)])
    assert "log:" not in said
    assert "page:" not in said


def test_thirty_failures_of_one_cause_are_one_paragraph_which_tells_the_groups_apart() -> None:
    why = [explained("dst-base", f"base {n} too large", lines=40) for n in range(30)]
    bad = [result(f"t{n:02}", in_group(n % 3 // 2), why=why[n]) for n in range(30)]
    assert failures.told(bad).splitlines()[:5] == [
        "failed: 30 tests: base 0 too large (t00.3, t01.3, t02.3, t03.3 and 26 more)",
        "  20 x wrong value, SDP, group 0",
        "  10 x wrong value, SDP, group 1",
        "  first: t00.3",
        f"  {WRONG}",
    ]
    assert len(failures.told(bad).splitlines()) <= 30
    assert "... " in failures.told(bad)
    assert failures.whole(bad).count("reason 39") == 30


def test_the_cause_of_one_test_among_several_groups_is_in_its_heading() -> None:
    bad = [
        result("a", in_group(0), why=explained("constant", "a constant added: +1", lines=40)),
        result("b", in_group(0), why=explained("dst-base", "base 8 too large", lines=40)),
        result("c", in_group(1)),
    ]
    headings = [line for line in failures.told(bad).splitlines() if line.startswith("failed: ")]
    assert headings[:2] == ["failed: a.3: a constant added: +1", "failed: b.3: base 8 too large"]
    assert failures.told(bad[:1]).splitlines()[0] == "failed: a.3"


def test_why_is_shown_whole_before_where_when_and_further_complaints() -> None:
    why = ["  why   1. base 8 too large", "        2. base 16 too large"]
    where, reasons = ["all", *(f"more {n}" for n in range(12))], ["1. base 8 too large", "2. base 16 too large"]
    layer = ExplainedLayer("layer 0", 8, where, why=reasons, headline="base 8 too large", causes=["dst-base"])
    one = Explained([layer])
    other = Explained([replace(layer, headline="base 9 too large", causes=["x"])], leads=["it is odd"])
    found = [wrong(check=check) for check in (Check.VALUE, Check.MISSING, Check.STRAY, Check.DOUBLE)] * 2
    said = failures.told([result("a", Verdict(findings=found), why=one), result("b", in_group(1), why=other)])
    for line in (*why, "  lead: it is odd"):
        assert f"\n  {line}\n" in said
    assert said.count(why[0]) == 2
    assert "... " in said


def test_failures_without_a_cause_are_one_paragraph_in_whichever_register_group() -> None:
    bad = [result("a", in_group(0)), result("b", in_group(1)), result("c", in_group(1))]
    [group] = summary.groups(bad)
    assert (group.title, [one.test for one in group.members]) == ("wrong value, SDP", ["a", "b", "c"])
    assert failures.told(bad).splitlines()[:4] == [
        "failed: 3 tests: wrong value, SDP (a.3, b.3, c.3)",
        "  2 x wrong value, SDP, group 1",
        "  1 x wrong value, SDP, group 0",
        "  first: a.3",
    ]
    assert summary.groups(bad[1:])[0].title == "wrong value, SDP, group 1"


def test_causes_come_before_checks_and_the_largest_group_first() -> None:
    lost = [task(seed).result(Verdict.of(Check.LOST, "gone")) for seed in (6, 7, 8)]
    one = result("one", Verdict(findings=[wrong()]), why=explained("dst-base", "base"))
    two = result("two", Verdict(findings=[hang(), wrong()]), why=explained("dst-base", "base"))
    found = summary.groups([one, *lost, result("three", Verdict(findings=[hang()])), two])
    assert [(group.ending, group.cause, len(group.members)) for group in found] == [
        (Ending.LOST, None, 3),
        (Ending.MISMATCH, "base", 2),
        (Ending.HANG, None, 1),
    ]


VERDICTS = st.one_of(
    st.builds(lambda text: Verdict.of(Check.CRASH, text), st.text("ab\n", max_size=60)),
    st.builds(lambda text: Verdict(refused=text), st.text("ab\n", min_size=1, max_size=60)),
    st.builds(in_group, st.integers(0, 1)),
    st.builds(lambda names: Verdict(findings=[hang(*names)]), st.lists(st.sampled_from("ABCDEF"), max_size=40)),
)
EXPLAINED = st.none() | st.builds(explained, st.sampled_from("xyz"), st.just("why"), st.integers(0, 80))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # how slow says how loaded the machine is
@given(st.lists(st.tuples(VERDICTS, EXPLAINED), max_size=40))
def test_whatever_fails_takes_so_many_lines_at_most(ended: list[tuple[Verdict, Explained | None]]) -> None:
    results = [result(f"t{n}", verdict, why=why) for n, (verdict, why) in enumerate(ended)]
    told = failures.told(results)
    assert len(told.splitlines()) <= failures.MOST_LINES
    assert told.count("failed: ") == min(len(summary.groups(results)), 6)
    headings = failures.headings(results).splitlines()
    assert len(headings) == told.count("failed: ")
    assert headings[2:] == [line for line in told.splitlines() if line.startswith("failed: ")][2:]


def test_the_file_holds_every_failure_and_goes_when_nothing_fails(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept", encoding="utf-8")
    path = tmp_path / failures.FILE_NAME
    path.symlink_to(precious)
    failures.write([result("a", in_group(0)), result("b", in_group(0))], tmp_path)
    assert path.read_text(encoding="utf-8").count("rerun: ") == 2
    missing = result("c", Verdict.not_played())
    failures.write([result("a", in_group(0)), missing, missing], tmp_path)
    assert path.read_text(encoding="utf-8").startswith("not played: 2 tests\n\nfailed: a.3\n")
    failures.write([], tmp_path)
    assert not path.exists()
    assert precious.read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("count", [1, 5])
def test_refusals_are_told_by_their_reason(count: int) -> None:
    said = failures.told([result(f"t{n}", Verdict(refused="no Y")) for n in range(count)])
    many = "t0.3" if count == 1 else "5 tests: t0.3, t1.3, t2.3, t3.3 and 1 more"
    assert said == f"refused: {many}\n  no Y"

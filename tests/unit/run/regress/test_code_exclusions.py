"""Code that need not be reached: what authors left out, what a reviewed file gives reasons for, where that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.paths import HDL
from nvdla_tb.report import page_coverage as report
from nvdla_tb.run.regress.code_coverage import CodeCoverage, coverage_of
from nvdla_tb.run.regress.code_exclusions import BY_AUTHORS, CodeCoverageError, load_exclusions

SOURCE = """\
module unit;
always @(posedge clk)
  if (en) q <= d;
  // VCS coverage off
  else if (!en) begin end
  else q <= 'bx;
  // VCS coverage on
wire [3:0] high;
//synopsys translate_off
  assign debug = 1;
//synopsys translate_on
endmodule
"""


def point(source: Path, kind: str, line: int, lines: str = "", name: str = "block", module: str = "unit__P1") -> str:
    fields = {
        "f": str(source),
        "l": str(line),
        "n": "3",
        "t": kind,
        "page": f"v_{kind}/{module}",
        "o": name,
        "S": lines,
    }
    return "".join(f"\x01{key}\x02{value}" for key, value in fields.items())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "unit.v"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def reviewed(folder: Path, text: str) -> Path:
    path = folder / "reviewed.toml"
    path.write_text(text, encoding="utf-8")
    return path


def figures(coverage: CodeCoverage) -> dict[str, tuple[int, int]]:
    """Return points reached and all, by kind."""
    (unit,) = coverage.modules
    return {kind: (unit.hit[kind], total) for kind, total in unit.total.items()}


def test_what_authors_switched_off_does_not_count(source: Path) -> None:
    counts = {
        point(source, "branch", 3, "3"): 1,
        point(source, "branch", 5, "5"): 0,
        point(source, "branch", 5, "6"): 0,
        point(source, "branch", 3, "3,5-6"): 0,
        point(source, "line", 10): 1,
        point(source, "toggle", 8, name="high[0]:0->1"): 0,
    }
    coverage = coverage_of(counts)
    assert figures(coverage) == {"branch": (1, 2), "toggle": (0, 1)}
    assert coverage.excluded == {BY_AUTHORS.reason: 3}
    assert not coverage.surprises, "authors may leave out what is reached"


def test_a_source_that_is_gone_leaves_nothing_out(source: Path) -> None:
    counts = {point(source, "branch", 5, "6"): 0}
    source.unlink()
    assert figures(coverage_of(counts)) == {"branch": (0, 1)}


def test_a_reviewed_file_excludes_by_module_kind_name_and_text(source: Path, tmp_path: Path) -> None:
    exclusions = load_exclusions(
        reviewed(
            tmp_path,
            """
            [[exclude]]
            modules = ["un*"]
            kinds = ["toggle"]
            names = ["high[[]3]*"]
            reason = "sizes end below"
            [[exclude]]
            text = "if \\\\(en\\\\)"
            reason = "always enabled"
            [[exclude]]
            lines = "7,9-10"
            reason = "debugging"
            [[exclude]]
            modules = ["other"]
            reason = "fits nothing"
            """,
        )
    )
    counts = {
        point(source, "toggle", 8, name="high[3]:0->1"): 0,
        point(source, "toggle", 8, name="high[2]:0->1"): 0,
        point(source, "branch", 3, "3"): 0,
        point(source, "line", 3, "3"): 5,
        point(source, "branch", 8, "8"): 0,
        point(source, "branch", 9, "9"): 0,
    }
    coverage = coverage_of(counts, exclusions)
    assert figures(coverage) == {"toggle": (0, 1), "line": (1, 1), "branch": (0, 1)}
    assert coverage.excluded == {"sizes end below": 1, "always enabled": 1, "debugging": 1}
    assert coverage.surprises == [f"{source}:3: line block: always enabled"], "what is reached counts"
    assert coverage.unused == ["fits nothing"]
    told = list(report.code_lines(coverage))
    assert told[-5:] == [
        "excluded: 1, sizes end below",
        "excluded: 1, always enabled",
        "excluded: 1, debugging",
        f"excluded but reached: {source}:3: line block: always enabled",
        "an exclusion fits nothing: fits nothing",
    ]
    assert [section.title for section in report.code_sections(coverage)][-1] == "Code that need not be reached"


def test_bits_of_signals_are_excluded_in_both_directions_or_in_one(source: Path, tmp_path: Path) -> None:
    exclusions = load_exclusions(
        reviewed(
            tmp_path,
            """
            [[exclude]]
            kinds = ["toggle"]
            signals = ["high[3:2]", "low[5]", "flag", "blocks[1].bus"]
            reason = "tied to 0"
            [[exclude]]
            signals = ["high[1]"]
            edges = ["1->0"]
            reason = "tied to 1"
            [[exclude]]
            signals = ["lost"]
            kinds = ["line"]
            reason = "lines were not counted"
            """,
        )
    )
    left_out = ("high[3]:0->1", "high[2]:1->0", "low[5]:0->1", "flag:1->0", "blocks[1].bus[7]:0->1", "high[1]:1->0")
    counted = ("high[4]:0->1", "high[1]:0->1", "low[15]:0->1", "flags:1->0", "blocks[2].bus[7]:0->1", "high[3][3]:1->0")
    counts = {point(source, "toggle", 8, name=name): 0 for name in (*left_out, *counted)}
    coverage = coverage_of(counts, exclusions)
    assert figures(coverage) == {"toggle": (0, len(counted))}
    assert coverage.excluded == {"tied to 0": 5, "tied to 1": 1}
    assert not coverage.unused, "an exclusion of lines says nothing of a run that counted toggles"


@pytest.mark.parametrize("given", ["signals = ['high']", "edges = ['1->0']"])
def test_what_only_toggles_have_excludes_no_line(source: Path, tmp_path: Path, given: str) -> None:
    exclusions = load_exclusions(reviewed(tmp_path, f"[[exclude]]\n{given}\nreason = 'x'"))
    assert figures(coverage_of({point(source, "line", 3, "3"): 0}, exclusions)) == {"line": (0, 1)}


def test_what_may_go_either_way_is_no_surprise(source: Path, tmp_path: Path) -> None:
    text = "[[exclude]]\nsignals = ['high']\neither_way = true\nreason = 'nobody looks'"
    coverage = coverage_of(
        {point(source, "toggle", 8, name="high[0]:0->1"): 4, point(source, "toggle", 8, name="high[0]:1->0"): 0},
        load_exclusions(reviewed(tmp_path, text)),
    )
    assert (coverage.modules, coverage.excluded, coverage.surprises) == ([], {"nobody looks": 2}, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exclude = 1", "exclude must be a list, not 1"),
        ("[[exclude]]\nmodules = ['a']", r"exclude\[0\].reason is missing$"),
        ("[[exclude]]\nreason = ' '", "exclude 1: reason must say why it cannot be reached"),
        (
            "[[exclude]]\nreason = 'x'\nkinds = ['lines']",
            r"exclude\[0\].kinds\[0\] must be one of branch, line, toggle, not lines$",
        ),
        ("[[exclude]]\nreason = 'x'\nmodule = ['a']", r"exclude\[0\].module is unknown; allowed: reason, "),
        ("[[exclude]]\nreason = 'x'\nlines = '3-'", r"exclude\[0\].lines must be a text like "),
        ("[[exclude]]\nreason = 'x'\nsignals = ['a[3']", r"exclude\[0\].signals\[0\] must be a text like "),
        ("[[exclude]]\nreason = 'x'\nedges = ['up']", r"exclude\[0\].edges\[0\] must be one of 0->1, 1->0, not up$"),
        ("[[exclude]]\nreason = 'x'\ntext = '('", "exclude 1: text must be a regular expression"),
    ],
)
def test_a_file_that_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CodeCoverageError, match=message) as error:
        load_exclusions(reviewed(tmp_path, text))
    assert str(tmp_path / "reviewed.toml") in str(error.value)


def test_what_nv_small_cannot_reach_is_given_by_lines_or_toggles_of_named_modules() -> None:
    exclusions = load_exclusions(HDL / "exclusions" / "nv_small.toml")
    assert len(exclusions) > 40
    for exclusion in exclusions:
        assert exclusion.lines is not None or exclusion.kinds == ("toggle",), exclusion.reason
        assert not any("*" in module for module in exclusion.modules), "each module was looked at"

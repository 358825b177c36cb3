"""Code coverage: what Verilator writes is merged, the device's modules are told apart, and nothing else counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.markup import render
from nvdla_tb.report import page_coverage as report
from nvdla_tb.run.compile.wrapper import WRAPPER_TOP
from nvdla_tb.run.regress import code_coverage
from nvdla_tb.run.regress.code_exclusions import CodeCoverageError

HEADER = "# SystemC::Coverage-3\n"


def point(kind: str, module: str, line: int, file: str = "rtl/unit.v") -> str:
    fields = {"f": file, "l": str(line), "n": "3", "t": kind, "page": f"v_{kind}/{module}", "o": "block", "h": "top.u"}
    return "".join(f"\x01{key}\x02{value}" for key, value in fields.items())


def written(path: Path, counts: dict[str, int]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f"C '{name}' {count}\n" for name, count in counts.items()), encoding="utf-8")
    return path


def keep(folder: Path, counts: dict[str, int]) -> None:
    written(folder / "task" / "coverage.dat", counts)
    code_coverage.keep(folder / "task", folder / "run")
    assert not (folder / "task" / "coverage.dat").exists()


def test_counts_of_tasks_and_workers_add_up(tmp_path: Path) -> None:
    one, other = point("line", "sdp", 1), point("toggle", "sdp", 2)
    keep(tmp_path, {one: 2, other: 0})
    keep(tmp_path, {one: 3, other: 0})
    (kept,) = (tmp_path / "run" / "code_coverage").glob("*.counts")
    kept.rename(kept.with_name(f"{kept.name.split('.')[0]}.elsewhere-1.counts"))
    keep(tmp_path, {one: 0, other: 7})
    assert len(list(kept.parent.iterdir())) == 3, "points, and a file for each of two workers"
    assert code_coverage.of_run(tmp_path / "run") == {one: 5, other: 7}


def test_models_with_other_points_are_counted_beside_each_other(tmp_path: Path) -> None:
    one, other = point("line", "sdp", 1), point("line", "sdp", 2)
    keep(tmp_path, {one: 2})
    keep(tmp_path, {one: 3, other: 1})
    assert code_coverage.of_run(tmp_path / "run") == {one: 5, other: 1}


def test_what_was_counted_is_written_for_other_tools(tmp_path: Path) -> None:
    counts = {point("line", "sdp", 1): 4, point("toggle", "pdp", 2): 0}
    code_coverage.write_counts(counts, tmp_path / "merged.dat")
    assert code_coverage.read_counts(tmp_path / "merged.dat") == counts


def test_a_simulation_that_counted_nothing_leaves_nothing(tmp_path: Path) -> None:
    code_coverage.keep(tmp_path, tmp_path / "run")
    assert code_coverage.of_run(tmp_path / "run") == {}


def test_modules_of_the_device_are_told_and_the_bench_is_not() -> None:
    counts = {
        point("line", "sdp", 1): 4,
        point("line", "sdp__W8_D4", 2): 0,
        point("toggle", "sdp__pi1", 3): 1,
        point("branch", "pdp", 1): 0,
        point("line", WRAPPER_TOP, 1): 9,
        point("line", "nvdla_harness_csb", 1, "elsewhere/nvdla_harness_csb.sv"): 9,
    }
    coverage = code_coverage.coverage_of(counts)
    assert [(entry.module, dict(entry.hit), dict(entry.total)) for entry in coverage.modules] == [
        ("pdp", {"branch": 0}, {"branch": 1}),
        ("sdp", {"line": 1, "toggle": 1}, {"line": 2, "toggle": 1}),
    ]
    assert list(report.code_lines(coverage)) == [
        "module" + "line".rjust(24) + "branch".rjust(24) + "toggle".rjust(24),
        "pdp   " + "-".rjust(24) + "0/1   0.0 %".rjust(24) + "-".rjust(24),
        "sdp   " + "1/2  50.0 %".rjust(24) + "-".rjust(24) + "1/1 100.0 %".rjust(24),
        "all   " + "1/2  50.0 %".rjust(24) + "0/1   0.0 %".rjust(24) + "1/1 100.0 %".rjust(24),
    ]


def test_hostile_module_names_stay_text() -> None:
    (section,) = report.code_sections(code_coverage.coverage_of({point("line", "<script>", 1): 1}))
    page = render("sections.html", title="RTL", heading="RTL", sections=[section])
    assert "&lt;script&gt;" in page
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense\n", "{} must be a coverage file that begins with # SystemC::Coverage-3"),
        (f"{HEADER}C 'a' b\n", "{}:2: a point must be C '...' COUNT"),
        (f"{HEADER}C 'a' 1\nC 'b'\n", "{}:3: a point must be C '...' COUNT"),
    ],
)
def test_another_file_is_not_taken_for_coverage(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "coverage.dat"
    path.write_text(text, encoding="utf-8")
    for read in (code_coverage.read_counts, lambda path: code_coverage.keep(path.parent, tmp_path / "run")):
        with pytest.raises(CodeCoverageError) as error:
            read(path)
        assert str(error.value) == message.format(path)


def test_a_point_says_where_it_is() -> None:
    with pytest.raises(CodeCoverageError, match=r"^a point must name its file, line, kind and module, not 'nowhere'$"):
        code_coverage.coverage_of({"nowhere": 1})

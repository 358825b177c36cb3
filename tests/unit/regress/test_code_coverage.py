"""Code coverage: what Verilator writes is merged, the device's modules are told apart, and nothing else counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.launch.runners import HARNESS_DIR
from tb.launch.wrapper import WRAPPER_TOP
from tb.regress import code_coverage
from tb.regress.code_coverage import CodeCoverageError

HEADER = "# SystemC::Coverage-3\n"


def point(kind: str, module: str, line: int, file: str = "rtl/unit.v") -> str:
    fields = {"f": file, "l": str(line), "n": "3", "t": kind, "page": f"v_{kind}/{module}", "o": "block", "h": "top.u"}
    return "".join(f"\x01{key}\x02{value}" for key, value in fields.items())


def written(path: Path, counts: dict[str, int]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEADER + "".join(f"C '{name}' {count}\n" for name, count in counts.items()), encoding="utf-8")
    return path


def test_counts_of_files_add_up(tmp_path: Path) -> None:
    one, other = point("line", "sdp", 1), point("line", "sdp", 2)
    files = [written(tmp_path / "a.dat", {one: 2, other: 0}), written(tmp_path / "b.dat", {one: 3})]
    assert code_coverage.merge(files) == {one: 5, other: 0}


def test_what_a_simulation_counts_is_kept_in_one_file_a_worker(tmp_path: Path) -> None:
    name = point("toggle", "sdp", 1)
    for count in (2, 5):
        written(tmp_path / "task" / "coverage.dat", {name: count})
        code_coverage.keep(tmp_path / "task", tmp_path / "run")
    assert not (tmp_path / "task" / "coverage.dat").exists()
    assert len(list((tmp_path / "run" / "code_coverage").iterdir())) == 1
    assert code_coverage.of_run(tmp_path / "run") == {name: 7}


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
        point("line", "nvdla_harness_csb", 1, str(HARNESS_DIR / "csb.sv")): 9,
    }
    modules = code_coverage.per_module(counts)
    assert [(entry.module, dict(entry.hit), dict(entry.total)) for entry in modules] == [
        ("pdp", {"branch": 0}, {"branch": 1}),
        ("sdp", {"line": 1, "toggle": 1}, {"line": 2, "toggle": 1}),
    ]
    assert list(code_coverage.lines(modules)) == [
        "module" + "line".rjust(24) + "branch".rjust(24) + "toggle".rjust(24),
        "pdp   " + "-".rjust(24) + "0/1   0.0 %".rjust(24) + "-".rjust(24),
        "sdp   " + "1/2  50.0 %".rjust(24) + "-".rjust(24) + "1/1 100.0 %".rjust(24),
        "all   " + "1/2  50.0 %".rjust(24) + "0/1   0.0 %".rjust(24) + "1/1 100.0 %".rjust(24),
    ]


def test_hostile_module_names_stay_text() -> None:
    assert "<script>" not in code_coverage.section(code_coverage.per_module({point("line", "<script>", 1): 1}))


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
    with pytest.raises(CodeCoverageError) as error:
        code_coverage.read_counts(path)
    assert str(error.value) == message.format(path)

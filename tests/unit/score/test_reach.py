"""What scenarios reach: notes of a running model, the file of a survey, and which scenarios are worth playing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nvdla_score.mutate import mutants_of
from nvdla_score.reach import Case, Notes, Reached, survey, worth_playing
from nvdla_score.scenarios import Source
from nvdla_score.sources import NOTED, switched
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.compile.toolchain import tool_environment, verilator_root
from nvdla_tb.run.jobs import Job
from nvdla_tb.stimulus.result import Dut, Result

pytestmark = pytest.mark.slow

DUT = Dut("nv_small", "verilator")
COUNTER = """\
module counter (input clk, input rst, output reg [7:0] count);
  always @(posedge clk)
    if (rst) count <= 8'd0;
    else count <= count + 8'd1;
endmodule
"""
MAIN = """\
#include "Vcounter.h"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vcounter top{&context};
    for (int cycle = 0; cycle < std::atoi(argv[1]) + 2; ++cycle) {
        top.rst = cycle < 2; top.clk = 0; top.eval(); top.clk = 1; top.eval();
    }
    std::printf("%d\\n", top.count);
}
"""


def case(name: str, seed: int = 1) -> Case:
    """Return a scenario that is never built."""
    return Case(Source(name, lambda config, seed: pytest.fail("nothing is built")), seed)


def test_notes_are_taken_once(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "reached", 5)
    assert notes.path.stat().st_size == 6 * 16
    assert notes.taken() == {}
    other = np.memmap(notes.path, dtype=np.uint64, mode="r+").reshape(6, 2)
    other[[2, 5]] = (7, 1), (1, 1 << 63)
    assert notes.taken() == {2: (7, 1), 5: (1, 1 << 63)}
    assert notes.taken() == {}


def test_what_fails_or_is_refused_without_a_mutant_reaches_none() -> None:
    assert Reached("a.1", 1.0, [2]).reaches(2)
    assert not Reached("a.1", 1.0, [2]).reaches(3)
    assert Reached("a.1", 1.0, None).reaches(3)
    assert not Reached("a.1", 1.0, [2], alarm=["hang"]).reaches(2)
    assert not Reached("a.1", 1.0, [2], refused=True, alarm=["no Y"]).reaches(2)


def test_the_cheapest_of_each_kind_are_played_in_turn_and_three_of_those_that_exercise_the_unit() -> None:
    seconds = {f"{kind}_{n}": float(n) for kind in ("pdp", "sdp", "stress_conv", "stress_cdp") for n in range(8)}
    cases = [(case(name), Reached(f"{name}.1", time, [] if name == "pdp_0" else [7])) for name, time in seconds.items()]
    chosen = worth_playing(cases, 7, {"conv"}, 12)
    assert [found.source.name for found in chosen] == [
        *("sdp_0", "stress_conv_0", "stress_conv_1", "stress_conv_2", "stress_cdp_0", "pdp_1"),
        *("sdp_1", "stress_conv_3", "stress_conv_4", "stress_conv_5", "stress_cdp_1", "pdp_2"),
    ]
    everything = worth_playing(cases, 7, set(), 100)
    assert len(set(everything)) == len(everything) == 31


def reached(name: str, seconds: float, times: int, values: int) -> tuple[Case, Reached]:
    return case(name), Reached(f"{name}.1", seconds, [3, 7], effects=[(9, 9), (times, values)])


def test_what_shows_rare_values_comes_before_what_is_cheap() -> None:
    cases = [reached(f"pdp_{n}", float(n), 100, 0b111) for n in range(50)]
    cases += [reached("pdp_wraps", 90.0, 1, 0b1001), reached("pdp_often", 80.0, 5000, 0b1)]
    chosen = worth_playing(cases, 7, set(), 5)
    assert [found.source.name for found in chosen] == ["pdp_often", "pdp_wraps", "pdp_0", "pdp_1", "pdp_2"]
    assert len(set(worth_playing(cases, 7, set(), 100))) == 52


def test_another_seed_comes_after_all_scenarios_of_its_kind() -> None:
    times = {("conv_a", 1): 1.0, ("conv_a", 2): 1.1, ("conv_b", 1): 2.0, ("conv_b", 2): 2.1, ("conv_c", 1): 3.0}
    cases = [(case(name, seed), Reached(f"{name}.{seed}", seconds, [7])) for (name, seed), seconds in times.items()]
    chosen = worth_playing(cases, 7, {"conv"}, 5)
    assert [found.identity for found in chosen] == ["conv_a.1", "conv_b.1", "conv_c.1", "conv_a.2", "conv_b.2"]


def test_a_change_that_is_evaluated_once_is_played_everywhere_but_where_the_device_refuses() -> None:
    cases = [(case(name), Reached(f"{name}.1", 1.0, [])) for name in ("a", "b")]
    cases.append((case("c"), Reached("c.1", 1.0, [], refused=True, alarm=["no Y"])))
    assert worth_playing(cases, None, set(), 10) == [case for case, _ in cases[:2]]


def test_mutants_of_constants_are_reached_by_all_scenarios(tmp_path: Path) -> None:
    """A model notes them when it starts, and never again."""

    class Model:
        """A bench whose model notes mutant 9 when it starts, and in a scenario the mutant that its name says."""

        root, started = tmp_path, False

        def shared(self, folder: Path, plusargs: tuple[str, ...]) -> Model:
            self.notes = np.memmap(plusargs[0].removeprefix("+reached="), dtype=np.uint64, mode="r+").reshape(-1, 2)
            return self

        def close(self) -> None:
            """End nothing."""

        def job(self, source: Source, seed: int) -> Job:
            return Job(source.name, seed, "", lambda: source.build(None, seed))

        def play(self, job: Job, folder: Path, process: object) -> Result:
            self.notes[[int(job.name), *([] if self.started else [9])]] = 1
            self.started = True
            return Result(job.name, job.seed, DUT, "", Verdict(judged_bytes=8))

    bench: Any = Model()
    found = list(survey([case("2"), case("3")], bench, 9, workers=1))
    assert [reached.mutants for reached in found] == [[2, 9], [3, 9]]
    assert [reached.effects for reached in found] == [[(1, 1), (1, 1)]] * 2


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler")
def test_a_model_notes_a_mutant_when_it_makes_a_difference_and_plays_the_chosen_one(tmp_path: Path) -> None:
    """A counter whose carry into bit 4 is lost differs from cycle 16 on, and one that adds 2 at once."""
    (tmp_path / "counter.v").write_text(COUNTER)
    kinds = {"carry dropped": " >> 4)", "constant + 1": "8'd2"}
    mutants = [m for m in mutants_of(tmp_path / "counter.v") if kinds.get(m.kind, "?") in m.after]
    assert [mutant.kind for mutant in mutants] == ["carry dropped", "constant + 1"]
    (tmp_path / "counter.v").write_text(switched(COUNTER, list(enumerate(mutants, 1)), NOTED))
    (tmp_path / "main.cpp").write_text(MAIN)
    notes_cpp = Path(__file__).parents[3] / "tb" / "nvdla_score" / "reached.cpp"
    command = [str(verilator_root() / "bin" / "verilator_bin"), "-cc", "--exe", "-Wno-fatal", "--no-timing"]
    command += ["--Mdir", "model", "--top-module", "counter", "counter.v", "../main.cpp", str(notes_cpp)]
    environment = {**tool_environment(), "VERILATOR_ROOT": str(verilator_root())}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    make = ["make", "-C", "model", "-f", "Vcounter.mk", "OPT_FAST=-O0", "OPT_GLOBAL=-O0", "PYTHON3=python3"]
    make += ["CFG_CXXFLAGS_PCH_I=-include"]
    subprocess.run(make, cwd=tmp_path, env=environment, check=True, capture_output=True)
    notes = Notes(tmp_path / "reached", len(mutants))

    def play(cycles: int, *arguments: str) -> int:
        model = [str(tmp_path / "model" / "Vcounter"), str(cycles), *arguments]
        return int(subprocess.run(model, check=True, capture_output=True, text=True).stdout)

    noting = f"+reached={notes.path}"
    assert play(10, noting) == 10
    ((number, (times, _)),) = notes.taken().items()
    assert (number, times) == (2, 10)
    assert play(20, noting) == 20
    taken = notes.taken()
    # The carry from 15 alone; sums of one to five bits.
    assert [times for times, _ in taken.values()] == [1, 20]
    assert taken[1][1] & 0xFFFFFFFF == 1 << 5
    assert taken[2][1] & 0xFFFFFFFF == 0b111110
    assert play(20, "+mutant=1") == 4
    assert play(20, "+mutant=2") == 40

"""Kills at random moments: ``python -m tests.campaign --kills 100 --seed 1``.

Small regressions on the embedded DUT are played while their drivers, schedulers, workers and simulators are killed,
and resumed until they are complete. What is then in the store must be what an undisturbed run leaves there; no
process, no file and no listening port may be left behind, and nothing may ever listen beyond loopback.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import msgspec

from nvdla_tb.cli.main import TERMINATED
from nvdla_tb.cli.parsing import Parser
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.folders import MARKER
from nvdla_tb.run.regress.defaults import FILE_NAME
from nvdla_tb.run.regress.store import Store
from nvdla_tb.stimulus.result import Dut, Result
from tests.marked import Mark, marked
from tests.repository import ROOT

PLAYED = ("--only", "sdp_*")
LEFT_BY_KILLS = re.compile(r"dask-scratch-space(/global\.lock|/purge\.lock)?|pymp-\w+(/listener-\w+)?")
"""What Dask keeps in the folder for temporary files, and the socket of a driver that was killed; nobody serves it."""

BENCHS_OWN = {MARKER, FILE_NAME}
"""What stays in the folder of results besides those of runs: its mark, and the credentials of clusters."""

SIGNALS = (signal.SIGKILL, signal.SIGTERM)
KINDS = ("driver", "scheduler", "worker", "simulator")
KILLS_A_RUN = 10
_APART_SECONDS = 1.0
_LOOK_SECONDS = 0.05
_PATIENCE_SECONDS = 300.0
_PATIENCE_RUNS = 10
"""How long a driver may take, in undisturbed runs: on a busy machine all of them are slow."""

_LONGEST_SECONDS = 3600.0
"""How long the undisturbed run may take."""


@dataclass
class Figures:
    """What a campaign has done and found."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    drivers: int = 0
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return them as text."""
        rows = [f"{'killed':10} {'KILL':>5} {'TERM':>5}"]
        for kind in KINDS:
            counts = [self.kills[kind, number.name] for number in SIGNALS]
            rows.append(f"{kind:10} {counts[0]:5} {counts[1]:5}")
        ends = ", ".join(f"{count} {how}" for how, count in sorted(self.ends.items()))
        return [
            *rows,
            f"{self.kills.total()} kills in {self.runs} runs by {self.drivers} drivers ({ends})",
            *self.problems,
            f"{len(self.problems)} problems",
        ]


class Campaign:
    """Plays runs and kills what plays them."""

    def __init__(self, seed: int, folder: Path, played: tuple[str, ...] = PLAYED) -> None:
        """Play one run undisturbed, which says what all others must end with.

        Args:
            seed: Of all choices.
            folder: For everything; each run has one below it.
            played: Options that say what is played.
        """
        self.figures = Figures()
        self.patience_seconds = _LONGEST_SECONDS
        self._rng, self._folder, self._played = random.Random(seed), folder, played
        started = time.monotonic()
        with marked() as mark:
            quiet = _Run(mark, folder / "undisturbed", self, shared=False)
            quiet.finish()
        self._seconds = time.monotonic() - started
        self.patience_seconds = max(_PATIENCE_SECONDS, _PATIENCE_RUNS * self._seconds)
        self._wanted = contents(quiet.results)
        self._left = _files(quiet.results)
        self.model = build(build_spec(Dut("nv_small", "verilator", backend="native"), waves=False)).directory
        self._built = _files(self.model)

    def play(self, kills: int, *, shared: bool | None = None) -> None:
        """Play one run with kills until it is complete, and compare what it leaves.

        Args:
            kills: How many at most; a run that is complete before the first one has none.
            shared: Whether a cluster of its own plays, which outlives drivers; by default that is random.
        """
        self.figures.runs += 1
        by_cluster = self._rng.random() < 0.5 if shared is None else shared
        with marked() as mark:
            run = _Run(mark, self._folder / f"{self.figures.runs:03}", self, by_cluster)
            while kills and not run.complete:
                kills -= run.disturb(kills)
            run.finish()
            self._expect(run, "processes", mark.end(), {})
            self._expect(run, "ports", mark.listening(), set())
        self._expect(run, "store", contents(run.results), self._wanted)
        self._expect(run, "files", _files(run.results), self._left)
        temporary = {name for name in _files(run.temporary) if not LEFT_BY_KILLS.fullmatch(name)}
        self._expect(run, "temporary files", temporary, set())
        self._expect(run, "files beside the results", _files(run.bench) - BENCHS_OWN, set())
        self._expect(run, "files of the model", _files(self.model), self._built)

    def problem(self, run: _Run, text: str) -> None:
        """Note what must not be, and say so at once: a campaign takes an hour."""
        self.figures.problems.append(f"{run.results.parent.name}: {text}")
        print(self.figures.problems[-1], file=sys.stderr, flush=True)

    def lives(self, seconds: float) -> None:
        """Note how long a driver lived that nothing killed: the next kill may come no later."""
        self._seconds = min(self._seconds, seconds)

    def moment(self, *, first: bool) -> float:
        """Return how long to wait for the next kill; the first comes at any moment of a driver's life."""
        return self._rng.uniform(0.0, self._seconds if first else _APART_SECONDS)

    def kind(self, *, shared: bool) -> str:
        """Return what kind of process to kill next."""
        return self._rng.choice([kind for kind in KINDS if shared or kind != "scheduler"])

    def victim(self, found: list[int]) -> tuple[int, signal.Signals]:
        """Return the id of a process to kill, and the signal."""
        return self._rng.choice(found), self._rng.choice(SIGNALS)

    def _expect(self, run: _Run, what: str, got: Any, wanted: Any) -> None:
        if got != wanted:
            self.problem(run, f"{what} must be {wanted}, not {got}")


class _Run:
    """One run: its drivers one after the other, and the cluster that plays it, if it is not the drivers' own."""

    def __init__(self, mark: Mark, folder: Path, campaign: Campaign, shared: bool) -> None:
        self._mark, self._campaign, self._shared = mark, campaign, shared
        self.results, self.temporary = folder / "results", folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.bench = folder / "bench"
        own = {"TMPDIR": str(self.temporary), "NVDLA_RESULTS": str(self.bench)}
        self._environment = {**mark.environment, **own, "PYTHONFAULTHANDLER": "1"}
        self._cluster: subprocess.Popen[str] | None = None
        self._address = ""
        self.complete = False

    def disturb(self, most: int) -> int:
        """Start a driver, kill until it is dead or done, and return how many kills that took."""
        campaign, killed = self._campaign, 0
        driver, started = self._driver(), time.monotonic()
        until = started + campaign.patience_seconds
        while killed < most and time.monotonic() < until:
            if _has_ended(driver, campaign.moment(first=not killed)):
                if not killed:
                    campaign.lives(time.monotonic() - started)
                break
            kind = campaign.kind(shared=self._shared)
            while not (found := self._found(driver))[kind] and found["driver"]:
                time.sleep(_LOOK_SECONDS)
            if not found["driver"]:
                break
            for host, port in self._mark.listening():
                if not ip_address(host).is_loopback:
                    campaign.problem(self, f"{host}:{port} is listened on")
            pid, number = campaign.victim(found[kind])
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
            killed += 1
            campaign.figures.kills[kind, number.name] += 1
            if kind in ("driver", "scheduler"):
                break
        self._await(driver)
        return killed

    def finish(self) -> None:
        """Play what the run lacks without any kill, and end the cluster."""
        driver = self._driver()
        self._await(driver)
        if driver.returncode != 0:
            self._campaign.problem(self, f"the last driver must end with 0, not {driver.returncode}")
        if self._cluster is not None:
            self._cluster.send_signal(signal.SIGINT)
            self._cluster.communicate(timeout=self._campaign.patience_seconds)

    def _driver(self) -> subprocess.Popen[str]:
        """Start a run, or resume it if it is in the store."""
        kind = ("resume",) if _is_stored(self.results) else ("plan", *self._campaign._played)
        return self._start("regress", *kind, "--results", str(self.results), *self._players())

    def _players(self) -> tuple[str, ...]:
        if not self._shared:
            return ("--jobs", "2")
        if self._cluster is None or self._cluster.poll() is not None:
            self._cluster = self._start("cluster", "--jobs", "2", "--port", "0")
            assert self._cluster.stdout is not None
            self._address = self._cluster.stdout.readline().rpartition(" ")[2].strip()
        return ("--scheduler", self._address)

    def _start(self, *words: str) -> subprocess.Popen[str]:
        self._campaign.figures.drivers += words[0] == "regress"
        return subprocess.Popen(
            [sys.executable, "-m", "nvdla_tb", *words],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _await(self, driver: subprocess.Popen[str]) -> None:
        """Wait for a driver's end, and look at what it has said and left."""
        campaign = self._campaign
        try:
            _, said = driver.communicate(timeout=campaign.patience_seconds)
        except subprocess.TimeoutExpired:
            processes = self._mark.processes()
            # It says where it stands.
            driver.send_signal(signal.SIGABRT)
            _, said = driver.communicate()
            campaign.problem(self, f"a driver must end, with {processes}: {said}")
        ended = driver.returncode
        self.complete = ended == 0
        # TERM ends a command as an interrupt does, once it has begun.
        by = signal.SIGTERM if ended == TERMINATED else -ended
        killed = by in SIGNALS
        campaign.figures.ends[f"killed by {signal.Signals(by).name}" if killed else f"with status {ended}"] += 1
        if not killed and ended not in (0, 1, 2):
            campaign.problem(self, f"a driver must end with 0, 1 or 2, not {ended}")
        if not re.fullmatch(r"(terminated\n)?" if killed else r"(error: .*\n)?", said):
            campaign.problem(self, f"a driver must say one line at most, not {said}")
        if self._cluster is None or self._cluster.poll() is not None:
            left = self._mark.end()
            if left:
                campaign.problem(self, f"no process may outlive a driver of its own cluster, not {left}")

    def _found(self, driver: subprocess.Popen[str]) -> dict[str, list[int]]:
        """Return the processes that live, by kind; a supervisor counts as the simulator that it runs."""
        found: dict[str, list[int]] = {kind: [] for kind in KINDS}
        for pid, command in self._mark.processes().items():
            if pid == driver.pid:
                found["driver"].append(pid)
            elif self._cluster is not None and pid == self._cluster.pid:
                found["scheduler"].append(pid)
            elif "spawn_main" in command or "forkserver" in command:
                found["worker"].append(pid)
            elif "supervisor.py" in command or command.startswith(str(self._campaign.model)):
                found["simulator"].append(pid)
        return found


def _has_ended(process: subprocess.Popen[str], seconds: float) -> bool:
    """Wait so long, or until a process ends, and return whether it did."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def contents(results: Path) -> tuple[list[Result], dict[str, int]]:
    """Return the results of the newest run without what speed and folder decide, and what they cover."""
    with Store(results / "results.sqlite") as store:
        run = store.run()
        assert store.missing(run) == []
        kept = [msgspec.structs.replace(result, seconds=0.0, performance=None) for result in store.results(run)]
        return kept, store.coverage(run)


def _is_stored(results: Path) -> bool:
    if not (results / "results.sqlite").is_file():
        return False
    with Store(results / "results.sqlite") as store:
        return bool(store.runs())


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def main() -> int:
    """Play a campaign, print its figures, and return 0 when nothing was wrong."""
    parser = Parser(prog="python -m tests.campaign", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="default: 100")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of all choices (default: 1)")
    args = parser.parse_args()
    # A shell starts what it plays in the background with interrupts ignored, and clusters are ended by one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        campaign = Campaign(args.seed, Path(folder))
        figures = campaign.figures
        try:
            while (left := args.kills - figures.kills.total()) > 0:
                campaign.play(min(left, KILLS_A_RUN))
                print(
                    f"{figures.kills.total()} of {args.kills} kills, {len(figures.problems)} problems, "
                    f"{time.monotonic() - started:.0f} s",
                    flush=True,
                )
        except KeyboardInterrupt:
            print("interrupted; until then:")
    print("\n".join(figures.lines()))
    return 1 if figures.problems or left > 0 else 0


if __name__ == "__main__":
    sys.exit(main())

"""Simulations on two separate Dask workers: one of them and the driver are killed, and nothing is lost."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

from tb.__main__ import main
from tb.run.regress.store import Store
from tb.run.result import Result
from tests.unit.run.regress.processes import processes

PLAYED = ("regress", "plan", "--only", "sdp_*")
SCENARIOS = 27


def ended(folder: Path) -> tuple[list[Result], dict[str, int]]:
    """Return the results of the newest run, and what they cover."""
    with Store(folder / "results.sqlite") as store:
        run = store.run()
        assert store.missing(run) == []
        return store.results(run), store.coverage(run)


def test_a_worker_and_the_driver_are_killed_and_the_resumed_run_equals_an_undisturbed_one(tmp_path: Path) -> None:
    rng = random.Random(1)
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    assert main([*PLAYED, "--jobs", "2", "--results", str(undisturbed)]) == 0
    with processes() as started:
        address = started.scheduler(tmp_path / "scheduler.json")
        workers = [started.worker(address, tmp_path / f"worker{number}") for number in range(2)]
        options = ("--results", str(killed), "--scheduler", address)
        driver = started.start("-m", "tb", *PLAYED, "--verbose", *options)
        assert driver.stdout is not None
        heard = 0
        for line in driver.stdout:
            heard += line.startswith("[")
            if heard == 3:
                break
        victims = [workers[rng.randrange(2)], driver]
        rng.shuffle(victims)
        for victim in victims:
            time.sleep(rng.uniform(0.0, 0.3))
            victim.send_signal(signal.SIGKILL)
        heard += sum(line.startswith("[") for line in driver.communicate()[0].splitlines())
        assert 3 <= heard < SCENARIOS, "the driver must have been killed before its end"
        started.worker(address, tmp_path / "worker2")
        resumed = started.start("-m", "tb", "regress", "resume", *options)
        output, _ = resumed.communicate(timeout=600)
        assert resumed.returncode == 0, output
    (resumed_results, covered), (results, all_covered) = ended(killed), ended(undisturbed)
    assert covered == all_covered
    assert len(results) == SCENARIOS
    assert [(one.key, one.verdict) for one in resumed_results] == [(one.key, one.verdict) for one in results]
    left = sorted(path.name for path in (killed / "0001").iterdir())
    whole = [".nvdla-testbench", "about.txt", "index.html", "junit.xml", "records"]
    assert left == whole, "passing tasks leave nothing else behind"
    assert [path.name for path in (killed / "0001" / "records").iterdir()] == [".nvdla-testbench"]

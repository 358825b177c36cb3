"""Regressions whose workers are jobs of a real Slurm: jobs end in all ways in which Slurm ends them."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.cache import MODELS
from nvdla_tb.run.regress.store import Store
from tests.slurm import ADDRESS, Slurm, slurm, why_not
from tests.unit.run.regress.tasks import stored

WHY_NOT = why_not()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

PATIENCE_SECONDS = 400.0


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with slurm(tmp_path_factory.mktemp("slurm")) as started:
        yield started


def regress(here: Slurm, folder: Path, *options: str) -> subprocess.Popen[str]:
    settings = folder / "slurm.toml"
    settings.write_text('queue = "short"\nmemory = "1GB"\ncores = 1\n')
    on = ("--cluster", "slurm", "--cluster-settings", str(settings), "--listen", ADDRESS, "--jobs", "2")
    words = (sys.executable, "-m", "nvdla_tb", "regress", "plan", *options, "--results", str(folder / "regress"), *on)
    return here.start(*words, NVDLA_RESULTS=str(folder / "build"), NVDLA_CACHE=str(MODELS))


def waited_for(is_so: Callable[[], object], driver: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert driver.poll() is None, driver.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.2)


def test_a_regression_on_slurm_passes_although_a_job_is_cancelled_in_the_middle(here: Slurm, tmp_path: Path) -> None:
    before = set(here.all_jobs())
    driver = regress(here, tmp_path, "--only", "sdp_*", "--isolate")
    records = tmp_path / "regress" / "0001" / "records"
    store = tmp_path / "regress" / "results.sqlite"

    def ended() -> int:
        with Store(store) as found:
            return found.counts(found.run()).get(Ending.PASSED, 0)

    waited_for(lambda: records.is_dir() and ended() > 2, driver)
    (first, *_) = (job for job in here.jobs("RUNNING") if job not in before)
    here.run("scancel", first)
    said, _ = driver.communicate(timeout=PATIENCE_SECONDS)
    assert driver.returncode == 0, said
    with Store(store) as found:
        run = found.run()
        tasks = found.tasks(run)
        assert found.counts(run) == {Ending.PASSED: len(tasks)}
        assert len(tasks) > 20
    assert said.splitlines()[-2] == f"{len(tasks)} passed, 0 failed, 0 refused"
    assert here.all_jobs()[first]["JobState"] == "CANCELLED"
    credentials = tmp_path / "build" / "cluster.pem"
    assert stat.S_IMODE(credentials.stat().st_mode) == 0o600
    logs = [path.read_text(errors="replace") for path in (tmp_path / "build" / "jobs").glob("*.err")]
    assert any("Start worker at: " in text and f"tls://{ADDRESS}" in text for text in logs)
    waited = time.monotonic() + 60
    while here.jobs("RUNNING", "PENDING", "COMPLETING"):
        assert time.monotonic() < waited, "no job outlives its run"
        time.sleep(0.2)


def test_jobs_that_are_cancelled_requeued_or_out_of_time_lose_no_task_and_get_successors(
    here: Slurm, tmp_path: Path
) -> None:
    before = set(here.all_jobs())
    words = (sys.executable, "-m", "tests.sim.slurm_driver", str(tmp_path), ADDRESS, "300")
    driver = here.start(*words, NVDLA_RESULTS=str(tmp_path / "build"))

    def jobs(*states: str) -> list[str]:
        return [job for job in here.jobs(*states) if job not in before]

    started = tmp_path / "0001" / "started"
    waited_for(lambda: started.is_dir() and len(jobs("RUNNING")) == 3, driver)
    cancelled, requeued, slow = jobs("RUNNING")
    waited_for(lambda: len(list(started.iterdir())) > 10, driver)
    here.run("scancel", cancelled)
    here.run("scontrol", "requeue", requeued)
    waited_for(lambda: len(jobs("RUNNING")) == 3, driver)
    said, _ = driver.communicate(timeout=PATIENCE_SECONDS)
    assert (driver.returncode, said) == (0, "")
    all_jobs = here.all_jobs()
    assert all_jobs[cancelled]["JobState"] == "CANCELLED"
    assert all_jobs[slow]["JobState"] == "TIMEOUT"
    # What Slurm would have played a second time was given up, as another job has taken its place.
    assert (all_jobs[requeued]["Restarts"], all_jobs[requeued]["JobState"]) == ("1", "CANCELLED")
    successors = [job for job in all_jobs if job not in before and int(job) > int(slow)]
    assert len(successors) >= 3
    with Store(tmp_path / "results.sqlite") as store:
        run = store.run()
        assert store.missing(run) == []
        assert store.results(run) == [stored(task) for task in store.tasks(run)]


def test_a_queue_that_starts_no_job_is_no_pass(here: Slurm, tmp_path: Path) -> None:
    here.run("scontrol", "update", "PartitionName=short", "State=DOWN")
    try:
        driver = regress(here, tmp_path, "--only", "sdp_x1_*", "--time-budget", "5")
        said, _ = driver.communicate(timeout=PATIENCE_SECONDS)
    finally:
        here.run("scontrol", "update", "PartitionName=short", "State=UP")
    assert driver.returncode == 1, said
    with Store(tmp_path / "regress" / "results.sqlite") as store:
        run = store.run()
        assert store.counts(run) == {Ending.NOT_PLAYED: len(store.tasks(run))}
    assert re.search(r"^0 passed, 0 failed, 0 refused, [1-9]\d* not played$", said, re.M), said
    suite = ElementTree.parse(run.folder / "junit.xml").getroot()
    assert int(str(suite.get("errors"))) >= len(store_keys(tmp_path))
    assert here.jobs("PENDING", "RUNNING") == []


def store_keys(folder: Path) -> list[str]:
    with Store(folder / "regress" / "results.sqlite") as store:
        return [task.key for task in store.tasks(store.run())]

"""A real Slurm on this machine alone: Debian's, in a network namespace, with an address on the loopback of that.

``python -m tests.slurm`` says why there can be none, and ends with 1.
"""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.marked import Mark, marked
from tests.repository import ROOT

ADDRESS = "10.99.0.1"
_NODE = socket.gethostname().partition(".")[0]
_AS_ROOT = os.geteuid() == 0
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_PROGRAMS = ("unshare", "nsenter", "ip", "munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "squeue")
_START_SECONDS = 60.0

_CONFIGURATION = """
ClusterName=here
SlurmctldHost={node}({address})
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
KillWait=5
MinJobAge=3600
NodeName={node} NodeAddr={address} CPUs=4 RealMemory=4000
PartitionName=short Nodes={node} Default=YES
"""


def _unshare() -> list[str]:
    return ["unshare", "--net", *([] if _AS_ROOT else ["--map-root-user"])]


def why_not() -> str | None:
    """Return why this machine can play no Slurm, or None."""
    missing = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"{', '.join(missing)} must be installed (apt-get install slurm-wlm munge iproute2 util-linux)"
    if find_spec("dask_jobqueue") is None:
        return "the optional dask-jobqueue is not installed"
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no network namespace can be made: {tried.stderr.strip()}"


class Slurm:
    """A controller and one node of four processors, in a network namespace that only ``start`` enters."""

    def __init__(self, folder: Path, mark: Mark) -> None:
        self._folder = folder
        self._environment = {**mark.environment, "PATH": _PATH, "SLURM_CONF": str(folder / "slurm.conf")}
        keeper = subprocess.Popen([*_unshare(), "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
        assert keeper.stdout is not None
        keeper.stdout.readline()
        entered = ["--net"] if _AS_ROOT else ["--net", "--user", "--preserve-credentials"]
        self._enter = ["nsenter", f"--target={keeper.pid}", *entered, "--"]
        self._started = [keeper]
        try:
            self._begin()
        except BaseException:
            self.end()
            raise

    def _begin(self) -> None:
        folder = self._folder
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "address", "add", f"{ADDRESS}/32", "dev", "lo")
        for name in ("state", "spool"):
            (folder / name).mkdir()
        user = getpass.getuser() if _AS_ROOT else "root"
        text = _CONFIGURATION.format(node=_NODE, address=ADDRESS, user=user, folder=folder)
        (folder / "slurm.conf").write_text(text, encoding="utf-8")
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        files = {"socket": "munge.socket", "key-file": key.name, "pid-file": "munge.pid", "seed-file": "munge.seed"}
        self._serve("munged", "--foreground", "--force", *(f"--{key}={folder / name}" for key, name in files.items()))
        self._await(lambda: (folder / "munge.socket").exists())
        self._serve("slurmctld", "-D")
        self._serve("slurmd", "-D", "-N", _NODE)
        self._await(lambda: "State=IDLE" in self.run("scontrol", "show", "node", check=False))

    def _serve(self, *command: str) -> None:
        with (self._folder / f"{command[0]}.out").open("wb") as out:
            words = [*self._enter, *command]
            # What such a server does not say on its own files it says here.
            self._started.append(subprocess.Popen(words, env=self._environment, stdout=out, stderr=out))

    def _await(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + _START_SECONDS
        while not is_so():
            logs = {path.name: path.read_text(errors="replace")[-2000:] for path in self._folder.glob("*.out")}
            assert time.monotonic() < until, logs
            assert all(process.poll() is None for process in self._started), logs
            time.sleep(0.2)

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        """Start a command of the checkout that reaches this Slurm."""
        return subprocess.Popen(
            [*self._enter, *command],
            cwd=ROOT,
            env={**self._environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str, check: bool = True) -> str:
        """Run such a command to its end, and return what it says."""
        process = self.start(*command)
        said, _ = process.communicate(timeout=_START_SECONDS)
        assert not check or process.returncode == 0, (command, said)
        return said

    def jobs(self, *states: str) -> list[str]:
        """Return the ids of jobs in some states, such as RUNNING, the oldest first."""
        return [job for job, fields in self.all_jobs().items() if fields["JobState"] in states]

    def all_jobs(self) -> dict[str, dict[str, str]]:
        """Return what Slurm knows of each job, ended ones among them, by its id."""
        lines = self.run("scontrol", "--oneliner", "show", "job").splitlines()
        rows = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
        return {row["JobId"]: row for row in sorted(rows, key=lambda row: int(row.get("JobId", 0))) if "JobId" in row}

    def end(self) -> None:
        """Kill what was started here; jobs are killed with all that has the mark."""
        for process in reversed(self._started):
            process.kill()
            process.wait()


@contextmanager
def slurm(folder: Path) -> Iterator[Slurm]:
    """Give a Slurm that ends with the block, with all of its jobs."""
    with marked() as mark:
        started = Slurm(folder, mark)
        try:
            yield started
        finally:
            started.end()


if __name__ == "__main__":
    sys.exit(why_not())

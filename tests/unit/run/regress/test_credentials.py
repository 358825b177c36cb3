"""Credentials of clusters: strangers execute nothing, and files that others may have read are not used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from distributed.security import Security

from nvdla_tb.cli.main import main
from nvdla_tb.run.owners import OwnerError
from nvdla_tb.run.regress import credentials
from nvdla_tb.run.regress.cluster import cluster
from nvdla_tb.run.regress.credentials import CredentialsError, security_of
from nvdla_tb.run.regress.defaults import FILE_NAME
from tests.repository import ROOT
from tests.strangers import STRANGER, needs_strangers
from tests.unit.run.regress.processes import LOOPBACK

pytestmark = pytest.mark.slow

_ATTACK = f"""
import os, sys
from distributed import Client
from distributed.security import Security

address, own = sys.argv[1:]
security = Security.temporary() if own else Security()
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({STRANGER})
    os.setuid({STRANGER})
try:
    with Client(address, timeout="5s", security=security) as client:
        print(client.submit(os.getuid).result(timeout=60))
except (OSError, TimeoutError):
    print("refused")
"""
"""What Dask itself does for whoever connects: it calls a function. Modules are loaded before, as another user cannot
read them everywhere."""


def attacked(address: str, *, own: bool) -> str:
    """Have another user, where that can be, call a function in a cluster; return what became of it."""
    words = [sys.executable, "-c", _ATTACK, address, "own" if own else ""]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=200)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_another_user_executes_nothing_in_a_local_cluster() -> None:
    with cluster(None, 1, LOOPBACK) as client:
        address = client.scheduler_info()["address"]
        assert address.startswith(f"tls://{LOOPBACK}:")
        for own, to in ((False, address.replace("tls", "tcp")), (True, address)):
            assert attacked(to, own=own) == "refused"
        assert client.submit(os.getuid).result() == os.getuid()
        port = client.scheduler_info()["services"]["dashboard"]
        for page in ("info/main/workers.html", "json/identity.json", "metrics"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://{LOOPBACK}:{port}/{page}", timeout=30)


def test_whoever_reaches_a_cluster_without_credentials_executes_anything() -> None:
    """The attack works where the user has said that it may."""
    with cluster(None, 1, LOOPBACK, security=Security()) as client:
        address = client.scheduler_info()["address"]
        assert attacked(address, own=False) == str(os.getuid())


def test_a_cluster_is_used_with_the_file_of_whoever_started_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / FILE_NAME
    security = security_of(None, path, insecure=False)
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert [entry.name for entry in path.parent.glob("*.pem")] == [path.name]
    key = path.read_bytes()
    with cluster(None, 1, LOOPBACK, security=security) as first:
        address = first.scheduler_info()["address"]
        with cluster(address, 0, LOOPBACK, security=security_of(address, path, insecure=False)) as second:
            assert second.submit(os.getuid).result() == os.getuid()
        assert attacked(address, own=True) == "refused"
    security_of(None, path, insecure=False)
    assert path.read_bytes() == key


def test_credentials_that_end_soon_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cluster.pem"
    security_of(None, path, insecure=False)
    key = path.read_bytes()
    monkeypatch.setattr(credentials, "_ends", lambda _: datetime.now(UTC) + timedelta(days=29))
    security_of(None, path, insecure=False)
    assert path.read_bytes() != key


def readable(path: Path) -> None:
    path.chmod(0o640)


def linked(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.mkdir()


def anothers(path: Path) -> None:
    os.chown(path, 1, 1)
    os.environ["NVDLA_TRUST"] = "1"


@pytest.mark.parametrize("spoil", [readable, linked, pytest.param(anothers, marks=needs_strangers)])
@pytest.mark.parametrize("scheduler", [None, f"tls://{LOOPBACK}:1"])
def test_credentials_that_others_may_have_read_are_not_used(
    spoil: Callable[[Path], None], scheduler: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVDLA_TRUST", "")
    path = tmp_path / "cluster.pem"
    security_of(None, path, insecure=False)
    spoil(path)
    rule = "must be a file of your own that nobody else may read, as anyone who can read it can run code as you: "
    with pytest.raises(CredentialsError, match=rf"^{path} {rule}remove it, and start the cluster anew$"):
        security_of(scheduler, path, insecure=False)


def test_credentials_in_a_folder_that_others_may_write_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "cluster.pem"
    security_of(None, path, insecure=False)
    tmp_path.chmod(0o777)
    with pytest.raises(OwnerError, match=r"must not be writable for all users"):
        security_of(None, path, insecure=False)


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cluster.pem"
    path.touch(mode=0o600)
    with pytest.raises(
        CredentialsError, match=rf"^{path} must hold a certificate: remove it, and start the cluster anew$"
    ):
        security_of(None, path, insecure=False)


COMMANDS = [
    ("regress", "random", "--scheduler", "tcp://127.0.0.1:1"),
    ("cluster", "--join", "tcp://127.0.0.1:1"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: str(words[0]))
def test_a_scheduler_that_wants_no_credentials_is_refused(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(words)) == 2
    assert capsys.readouterr().err == (
        "error: the scheduler must be one that wants credentials, tls://HOST:PORT, not tcp://127.0.0.1:1: with others, "
        "anyone who can reach it can run code as you (--insecure allows it)\n"
    )


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: str(words[0]))
def test_what_is_said_of_credentials_fits_the_scheduler(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = [word.replace("tcp", "tls") for word in words]
    assert main([*secret, "--insecure"]) == 2
    assert capsys.readouterr().err == "error: --insecure must be left out: tls://127.0.0.1:1 wants credentials\n"
    path = tmp_path / "none.pem"
    assert main([*secret, "--credentials", str(path)]) == 2
    assert re.fullmatch(
        rf"error: {path} must hold the credentials of the cluster: name or copy the file of whoever started it .*\n",
        capsys.readouterr().err,
    )


def test_a_cluster_names_the_file_of_its_credentials(tmp_path: Path) -> None:
    path = tmp_path / "own.pem"
    words = [sys.executable, "-m", "nvdla_tb", "cluster", "--jobs", "1", "--port", "0", "--credentials", str(path)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        said = started.stdout.readline()
        started.kill()
    assert re.fullmatch(
        rf"1 workers; play on them with: --credentials {path} --scheduler tls://127\.0\.0\.1:\d+\n", said
    )

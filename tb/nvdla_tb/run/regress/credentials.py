"""Credentials of clusters: whoever has them executes functions as the user, and nobody else talks to one at all.

A cluster that ends with its driver has some in memory. Others share a file that only the user reads: key and
certificate of TLS for scheduler, workers and drivers alike, made by the first cluster that is started.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from distributed.security import Security

from nvdla_models.errors import InputError
from nvdla_tb.run import folders, owners

ENCRYPTED = "tls://"
"""How addresses begin of schedulers that want credentials."""

_FOR_USER_ALONE = 0o600
_STILL_VALID = timedelta(days=30)
"""Credentials that end sooner are made anew: a cluster may run for so long."""


class CredentialsError(InputError):
    """Credentials that are missing, or that somebody else may have read or written; the message says what to do."""


def security_of(scheduler: str | None, path: Path, *, insecure: bool) -> Security | None:
    """Return the credentials with which to start a cluster that others join, or to talk to one; None for neither.

    Args:
        scheduler: Address of the scheduler, None when it is started here.
        path: Their file; made when the scheduler is started here.
        insecure: Whether the user wants none.

    Raises:
        CredentialsError: when there are none, or a scheduler wants none although the user does.
    """
    if insecure:
        if scheduler is not None and scheduler.startswith(ENCRYPTED):
            raise CredentialsError(f"--insecure must be left out: {scheduler} wants credentials")
        return None
    if scheduler is None:
        return _security(_made(path))
    if not scheduler.startswith(ENCRYPTED):
        raise CredentialsError(
            f"the scheduler must be one that wants credentials, {ENCRYPTED}HOST:PORT, not {scheduler}: with others, "
            "anyone who can reach it can run code as you (--insecure allows it)"
        )
    return _security(_checked(path))


def _security(path: Path) -> Security:
    file = str(path.resolve())
    roles = {f"tls_{role}_{part}": file for role in ("client", "scheduler", "worker") for part in ("cert", "key")}
    return Security(require_encryption=True, tls_ca_file=file, **roles)


def _made(path: Path) -> Path:
    """Return a file of credentials, which is made when it is missing or ends soon."""
    if path.exists() and _ends(_checked(path)) - datetime.now(UTC) > _STILL_VALID:
        return path
    # Key and certificate are there at once, for whoever starts a cluster at the same time.
    folders.made(path.parent.resolve())
    part = path.with_name(f".{path.name}.{os.getpid()}")
    new = Security.temporary()
    with open(part, "x", encoding="ascii", opener=_for_user_alone) as file:
        file.write(f"{new.tls_client_key}{new.tls_client_cert}")
    part.replace(path)
    return _checked(path)


def _for_user_alone(path: str, flags: int) -> int:
    return os.open(path, flags, _FOR_USER_ALONE)


def _checked(path: Path) -> Path:
    """Check that credentials are there, and the user's alone."""
    path = path.resolve()
    with suppress(OSError):
        found = path.lstat()
        owners.check_executed(path)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise CredentialsError(
                f"{path} must be a file of your own that nobody else may read, as anyone who can read it can run code "
                "as you: remove it, and start the cluster anew"
            )
        return path
    raise CredentialsError(
        f"{path} must hold the credentials of the cluster: name or copy the file of whoever started it (--credentials)"
    )


def _ends(path: Path) -> datetime:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc
    except ValueError as error:
        raise CredentialsError(f"{path} must hold a certificate: remove it, and start the cluster anew") from error

"""Who may have written what is built and run: owners and modes are checked, as OpenSSH and git do.

Files of the user and of root count, and of those that ``NVDLA_TRUST`` names: users, and groups after an ``@``. Under
``sudo`` those of the user who called it count, too, as for git.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nvdla_models.reading import resolved
from nvdla_tb.run.errors import LaunchError

TRUST = "NVDLA_TRUST"
"""Environment variable: other users whose files count, such as ``ci,@chip_team``."""

_ROOT = 0
_GROUP, _ALL = stat.S_IWGRP, stat.S_IWOTH


class OwnerError(LaunchError):
    """A file that somebody else owns or may write, although it says what is built and run."""


def check_said(path: Path) -> None:
    """Check a file that says what is built and run, such as a project file, and the folder that it lies in.

    As for git the owners must be trusted. A group may write, as in a checkout that it shares; all others may not.

    Raises:
        OwnerError: naming what somebody else owns, or may write.
    """
    trusted = _Trusted.now(os.environ)
    for entry in dict.fromkeys((path, path.parent, resolved(path))):
        trusted.check(entry, _ALL, "it says what is built and run")


def check_executed(path: Path) -> None:
    """Check a file or folder that is executed, or holds what is, and each folder above; what is missing passes.

    As for OpenSSH nobody else may write any of them, so that nobody can exchange what was checked.

    Args:
        path: Without symbolic links.

    Raises:
        OwnerError: naming what somebody else owns, or may write.
    """
    trusted = _Trusted.now(os.environ)
    for entry in (path, *path.parents):
        trusted.check(entry, _ALL | _GROUP, "models in it are executed")


def check_socket(path: Path) -> None:
    """Check where a socket is made: nobody else may write the folder or one above, and put another in its place.

    Args:
        path: Without symbolic links.

    Raises:
        OwnerError: naming what somebody else owns, or may write.
    """
    trusted = _Trusted.now(os.environ)
    for entry in path.parents:
        trusted.check(entry, _ALL | _GROUP, "whoever connects to a socket in it drives the device")


@dataclass(frozen=True)
class _Trusted:
    """Users and groups that count."""

    users: frozenset[int]
    groups: frozenset[int]

    @classmethod
    def now(cls, environment: Mapping[str, str]) -> _Trusted:
        """Return them for this process.

        Raises:
            OwnerError: for a name that there is not.
        """
        users, groups = {_ROOT, os.geteuid()}, {_ROOT}
        caller = environment.get("SUDO_UID", "")
        if os.geteuid() == _ROOT and caller.isdecimal():
            users.add(int(caller))
        for name in filter(None, environment.get(TRUST, "").split(",")):
            try:
                if name.startswith("@"):
                    group = grp.getgrnam(name[1:])
                    groups.add(group.gr_gid)
                    users |= {pwd.getpwnam(member).pw_uid for member in group.gr_mem}
                else:
                    users.add(int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid)
            except KeyError as error:
                raise OwnerError(f"{TRUST} must name users, and groups after an @, not {name!r}") from error
        return cls(frozenset(users), frozenset(groups))

    def check(self, path: Path, others: int, why: str) -> None:
        """Check the owner of what lies at a path, and that the bits ``others`` of its mode let no one else write."""
        try:
            found = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return
        if found.st_uid not in self.users:
            raise OwnerError(
                f"{path} must belong to you, root or a user in {TRUST}, not to {_name(found.st_uid)}: {why}"
            )
        # Links have no mode of their own, and in a folder with this bit nobody can replace what is another's.
        if stat.S_ISLNK(found.st_mode) or (found.st_mode & stat.S_ISVTX and stat.S_ISDIR(found.st_mode)):
            return
        writable = [text for bit, text in self._writers(found) if others & bit]
        if writable:
            raise OwnerError(f"{path} must not be writable for {writable[0]}: {why} (chmod go-w)")

    def _writers(self, found: os.stat_result) -> Iterator[tuple[int, str]]:
        """Yield who else may write, with the bit of the mode."""
        if found.st_mode & _ALL:
            yield _ALL, "all users"
        if found.st_mode & _GROUP and found.st_gid not in self.groups and not _is_alone(found.st_uid, found.st_gid):
            yield _GROUP, f"the group {_group_name(found.st_gid)}"


def _is_alone(user: int, group: int) -> bool:
    """Return whether a group is the user's own, as many systems make one for each user."""
    try:
        owner, shared = pwd.getpwuid(user), grp.getgrgid(group)
    except KeyError:
        return False
    return (owner.pw_gid, owner.pw_name) == (group, shared.gr_name) and set(shared.gr_mem) <= {owner.pw_name}


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _group_name(group: int) -> str:
    try:
        return grp.getgrgid(group).gr_name
    except KeyError:
        return str(group)

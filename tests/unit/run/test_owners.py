"""Owners and modes: what somebody else may have written says nothing here, and is not executed."""

from __future__ import annotations

import grp
import os
import pwd
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nvdla_tb.cli.main import main
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run.owners import TRUST, OwnerError, check_executed, check_said
from nvdla_tb.run.project import found, results_and_cache
from tests.strangers import STRANGER, needs_strangers

NAME = pwd.getpwuid(STRANGER).pw_name if STRANGER in {entry.pw_uid for entry in pwd.getpwall()} else f"user {STRANGER}"
SAYS, EXECUTED = "it says what is built and run", "models in it are executed"


def refused(path: Path, why: str, owner: str = NAME) -> str:
    return rf"^{re.escape(f'{path} must belong to you, root or a user in {TRUST}, not to {owner}: {why}')}$"


def writable(path: Path, who: str, why: str) -> str:
    return rf"^{re.escape(f'{path} must not be writable for {who}: {why} (chmod go-w)')}$"


def test_ones_own_files_and_those_of_root_count(tmp_path: Path) -> None:
    (tmp_path / "file").touch(mode=0o644)
    for check in (check_said, check_executed):
        check(tmp_path / "file")
        check(Path("/etc/passwd"))
        check(tmp_path / "missing" / "file")


@needs_strangers
@pytest.mark.parametrize(("check", "why"), [(check_said, SAYS), (check_executed, EXECUTED)])
def test_files_of_others_do_not_count(check: Callable[[Path], None], why: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    os.chown(path, STRANGER, STRANGER)
    with pytest.raises(OwnerError, match=refused(path, why)):
        check(path)
    os.chown(path, 0, 0)
    os.chown(tmp_path, STRANGER, STRANGER)
    with pytest.raises(OwnerError, match=refused(tmp_path, why)):
        check(path)


@needs_strangers
def test_a_link_of_another_user_does_not_count_whatever_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    link = tmp_path / "link"
    link.symlink_to("mine")
    os.lchown(link, STRANGER, STRANGER)
    with pytest.raises(OwnerError, match=refused(link, SAYS)):
        check_said(link)


@needs_strangers
def test_users_and_groups_that_are_named_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.touch()
    os.chown(path, STRANGER, STRANGER)
    for named in (str(STRANGER), f"root,{STRANGER}"):
        monkeypatch.setenv(TRUST, named)
        check_executed(path)
    monkeypatch.delenv(TRUST)
    monkeypatch.setenv("SUDO_UID", str(STRANGER))
    check_said(path)


@pytest.mark.parametrize("name", ["nobody at all", "@no such group"])
def test_a_name_that_there_is_not_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRUST, name)
    with pytest.raises(OwnerError, match=rf"^NVDLA_TRUST must name users, and groups after an @, not '{name}'$"):
        check_said(tmp_path)


def test_what_all_may_write_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o646)
    for check, why in ((check_said, SAYS), (check_executed, EXECUTED)):
        with pytest.raises(OwnerError, match=writable(path, "all users", why)):
            check(path)
    path.chmod(0o644)
    tmp_path.chmod(0o777)
    with pytest.raises(OwnerError, match=writable(tmp_path, "all users", SAYS)):
        check_said(path)
    tmp_path.chmod(0o1777)
    for check in (check_said, check_executed):
        check(path)


@needs_strangers
def test_what_a_group_may_write_says_something_and_is_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = next(entry for entry in grp.getgrall() if entry.gr_gid not in (0, STRANGER) and not entry.gr_mem)
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 0, group.gr_gid)
    path.chmod(0o664)
    check_said(path)
    with pytest.raises(OwnerError, match=writable(path, f"the group {group.gr_name}", EXECUTED)):
        check_executed(path)
    monkeypatch.setenv(TRUST, f"@{group.gr_name}")
    check_executed(path)


def test_what_only_the_users_own_group_may_write_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = pwd.getpwuid(os.geteuid())
    own = grp.struct_group((me.pw_name, "x", me.pw_gid, []))
    shared = grp.struct_group((me.pw_name, "x", me.pw_gid, ["somebody"]))
    path = tmp_path / "file"
    path.touch()
    os.chown(path, -1, me.pw_gid)
    path.chmod(0o664)
    monkeypatch.setattr(grp, "getgrgid", lambda _: own)
    check_executed(path)
    monkeypatch.setattr(grp, "getgrgid", lambda _: shared)
    if me.pw_gid:
        with pytest.raises(OwnerError, match=writable(path, f"the group {me.pw_name}", EXECUTED)):
            check_executed(path)


@needs_strangers
def test_a_project_file_of_another_user_in_a_folder_above_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o1777)
    path, below = tmp_path / PROJECT_FILE, tmp_path / "mine"
    below.mkdir()
    path.write_text('cache = "models"\nresults = "there"\nrtl = "evil.f"\n', encoding="utf-8")
    os.chown(path, STRANGER, STRANGER)
    with pytest.raises(OwnerError, match=refused(path, SAYS)):
        found(below)
    monkeypatch.chdir(below)
    assert results_and_cache() == (None, None)
    assert main(["run", "--only", "sdp_x1_*"]) == 2
    assert re.match(refused(path, SAYS), capsys.readouterr().err.removeprefix("error: ").rstrip("\n"))
    monkeypatch.setenv(TRUST, str(STRANGER))
    assert results_and_cache() == (tmp_path / "there", tmp_path / "models")

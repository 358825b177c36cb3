"""Every package is locked with its hashes, and the lock says nothing of where it was made."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.repository import ROOT

LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")


def requirements(text: str) -> list[tuple[Requirement, list[str]]]:
    """Return each requirement of a file with its hashes."""
    joined = re.sub(r"\s*\\\n\s*", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.M))
    lines = [line.split(" --hash=") for line in joined.splitlines() if line.strip()]
    return [(Requirement(first), hashes) for first, *hashes in lines]


def test_every_locked_package_has_one_version_and_hashes() -> None:
    for requirement, hashes in requirements(LOCK):
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in hashes), requirement


def test_the_lock_holds_what_was_asked_for() -> None:
    locked = {canonicalize_name(found.name): str(found.specifier) for found, _ in requirements(LOCK)}
    asked = requirements((ROOT / "requirements.in").read_text(encoding="utf-8"))
    assert {canonicalize_name(found.name): str(found.specifier) for found, _ in asked}.items() <= locked.items()


def test_the_lock_names_no_host() -> None:
    assert not re.search(r"https?:|index-url|find-links", LOCK)


def test_what_is_installed_with_the_package_is_the_runtime_and_takes_the_locked_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {canonicalize_name(found.name): found.specifier for found in map(Requirement, project["dependencies"])}
    runtime = (ROOT / "requirements.in").read_text(encoding="utf-8").partition("# Tests")[0]
    assert {canonicalize_name(found.name) for found, _ in requirements(runtime)} == wanted.keys()
    locked = {canonicalize_name(found.name): str(found.specifier) for found, _ in requirements(LOCK)}
    assert [name for name, specifier in wanted.items() if locked[name].removeprefix("==") not in specifier] == []

"""Every package is locked with its hashes, and the lock says nothing of where it was made."""

from __future__ import annotations

import re
import subprocess
import sys
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


def test_constraints_are_the_locked_versions_of_what_is_installed_with_the_package() -> None:
    locked = {canonicalize_name(found.name): str(found.specifier) for found, _ in requirements(LOCK)}
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    constraints = {canonicalize_name(found.name): str(found.specifier) for found, _ in requirements(text)}
    assert constraints.items() <= locked.items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {canonicalize_name(Requirement(line).name) for line in project["dependencies"]} <= constraints.keys()


def test_the_page_of_licences_names_each_package_that_is_installed() -> None:
    page = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8").partition("## Licences")[2]
    words = set(re.findall(r"[a-z][a-z0-9-]+", page))
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert [found.name for found, _ in requirements(text) if found.name not in words] == []


def test_nothing_that_the_bench_imports_in_a_simulator_imports_scapy() -> None:
    imports = "import sys, nvdla_tb.sim.entry, dlhdl_tb.sim.entry, nvdla_tb.sim.dbb_memory"
    check = "sys.exit(sorted(name for name in sys.modules if name.partition('.')[0] == 'scapy')[:1] or 0)"
    subprocess.run([sys.executable, "-c", f"{imports}; {check}"], check=True, cwd=ROOT)

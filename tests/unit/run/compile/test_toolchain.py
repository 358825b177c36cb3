"""The environment of the tools that build models."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.run.compile.toolchain import tool_environment


def fake_ccache(folder: Path, cache: Path) -> None:
    """Write a program that says where its cache is."""
    (folder / "ccache").write_text(f"#!/bin/sh\necho {cache}\n")
    (folder / "ccache").chmod(0o755)


def without_scripts(monkeypatch: pytest.MonkeyPatch, instead: Path) -> None:
    """Take another folder for that of the environment's programs."""
    monkeypatch.setattr("nvdla_tb.run.compile.toolchain.sysconfig.get_path", lambda _: str(instead))


@pytest.mark.parametrize(
    ("installed", "set_by_user", "expected"),
    [(True, None, "ccache"), (False, None, None), (True, "sccache", "sccache"), (True, "", "")],
)
def test_ccache_is_used_when_it_is_installed_unless_the_user_says_otherwise(
    installed: bool, set_by_user: str | None, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if installed:
        fake_ccache(tmp_path, tmp_path / "cache")
    without_scripts(monkeypatch, tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OBJCACHE", raising=False)
    if set_by_user is not None:
        monkeypatch.setenv("OBJCACHE", set_by_user)
    assert tool_environment().get("OBJCACHE") == expected


def test_the_ccache_of_an_environment_is_found_that_is_not_activated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "environment"
    own.mkdir()
    fake_ccache(own, tmp_path / "cache")
    without_scripts(monkeypatch, own)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OBJCACHE", raising=False)
    environment = tool_environment()
    assert (environment["OBJCACHE"], environment["PATH"].split(":")[-1]) == ("ccache", str(own))


def test_ccache_is_not_used_where_it_cannot_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    fake_ccache(tmp_path, tmp_path / "file" / "cache")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OBJCACHE", raising=False)
    assert "OBJCACHE" not in tool_environment()

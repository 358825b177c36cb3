"""The environment of the tools that build models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.run.compile.toolchain import tool_environment


@pytest.mark.parametrize(
    ("installed", "set_by_user", "expected"),
    [(True, None, "ccache"), (False, None, None), (True, "sccache", "sccache"), (True, "", "")],
)
def test_ccache_is_used_when_it_is_installed_unless_the_user_says_otherwise(
    installed: bool, set_by_user: str | None, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if installed:
        (tmp_path / "ccache").write_text("#!/bin/sh\n")
        (tmp_path / "ccache").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OBJCACHE", raising=False)
    if set_by_user is not None:
        monkeypatch.setenv("OBJCACHE", set_by_user)
    assert tool_environment().get("OBJCACHE") == expected

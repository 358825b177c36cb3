"""The history of RTL is searched in a copy, and nothing of the repository is executed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nvdla_models.errors import InputError
from nvdla_tb.run.history import History

BROKEN_FROM, COMMITS = 5, 9
WHO = ("-c", "user.name=A", "-c", "user.email=a@b")


def git(folder: Path, *words: str) -> str:
    ran = subprocess.run(["git", "-C", folder, *WHO, *words], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose file ``rtl/top.v`` is broken from the fifth commit on."""
    top = tmp_path / "origin"
    (top / "rtl").mkdir(parents=True)
    git(top, "init", "--quiet")
    for number in range(1, COMMITS + 1):
        (top / "rtl" / "top.v").write_text(f"{'broken' if number >= BROKEN_FROM else 'fine'} {number}\n")
        (top / "rtl" / "my.f").write_text("top.v\n")
        git(top, "add", ".")
        git(top, "commit", "--quiet", "-m", f"change {number}")
        git(top, "tag", f"v{number}")
    return top


def copied(repository: Path, tmp_path: Path) -> History:
    folder = tmp_path / "copy"
    folder.mkdir()
    return History.of(repository / "rtl" / "my.f", folder)


def found_by(history: History, good: str, bad: str, command: list[str]) -> str | None:
    """Return what a search between two commits finds with a command."""
    return history.search(good, bad, lambda commit, *_: history.play(commit, command)[0])


def judge(history: History, text: str = "") -> list[str]:
    """Return a command that ends with 1 when the file is broken."""
    return ["sh", "-c", f"{text} ! grep -q broken {history.folder}/rtl/top.v"]


def test_the_first_bad_commit_is_found(repository: Path, tmp_path: Path) -> None:
    history = copied(repository, tmp_path)
    good, bad = history.commit("v1"), history.commit("HEAD")
    assert [history.play(commit, judge(history)) for commit in (good, bad)] == [(0, ""), (1, "")]
    found = found_by(history, good, bad, judge(history))
    assert found == history.commit(f"v{BROKEN_FROM}")
    assert history.describe(found).endswith(f" A: change {BROKEN_FROM}")
    assert git(repository, "status", "--porcelain") == ""


def test_each_step_names_its_commit_and_about_how_many_are_left(repository: Path, tmp_path: Path) -> None:
    history = copied(repository, tmp_path)
    steps: list[tuple[int, int, str]] = []

    def play(commit: str, step: int, left: int) -> int:
        steps.append((step, left, history.subject(commit).partition(" ")[2]))
        return history.play(commit, judge(history))[0]

    assert history.search(history.commit("v1"), history.commit("v9"), play) == history.commit(f"v{BROKEN_FROM}")
    assert steps == [(1, 2, "(change 5)"), (2, 1, "(change 3)"), (3, 0, "(change 4)")]


@pytest.mark.parametrize("code", [130, -2])
def test_a_search_ends_when_its_player_does(repository: Path, tmp_path: Path, code: int) -> None:
    history = copied(repository, tmp_path)
    played: list[str] = []

    def play(commit: str, *_: int) -> int:
        played.append(commit)
        return code

    assert history.search(history.commit("v1"), history.commit("v9"), play) is None
    assert len(played) == 1


def test_commands_run_in_the_place_of_the_current_folder_in_the_copy(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    history, here = copied(repository, Path()), ["sh", "-c", "pwd >&2; ! grep -q broken top.v"]
    monkeypatch.chdir(repository / "rtl")
    assert history.play(history.commit("v1"), here) == (0, str(history.folder / "rtl"))
    assert found_by(history, history.commit("v1"), history.commit("v9"), here) == history.commit(f"v{BROKEN_FROM}")
    git(repository, "mv", "rtl", "moved")
    git(repository, "commit", "--quiet", "-m", "moved")
    (repository / "rtl").mkdir()
    monkeypatch.chdir(repository / "rtl")
    said = f"the commit has no folder {history.folder}/rtl"
    assert history.play(git(repository, "rev-parse", "HEAD"), here) == (125, said)
    monkeypatch.chdir(tmp_path)
    assert history.play(history.commit("v1"), ["sh", "-c", "pwd >&2"]) == (0, str(tmp_path))


def test_a_commit_that_cannot_be_played_is_left_out(repository: Path, tmp_path: Path) -> None:
    history = copied(repository, tmp_path)
    unbuilt = judge(history, f"! grep -q '[36]' {history.folder}/rtl/top.v || exit 2;")
    assert found_by(history, history.commit("v1"), history.commit("v9"), unbuilt) == history.commit(f"v{BROKEN_FROM}")
    none = ["sh", "-c", "exit 2"]
    assert found_by(history, history.commit("v1"), history.commit("v9"), none) is None


def test_nothing_that_the_repository_names_is_executed(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    (repository / ".gitattributes").write_text("*.v filter=evil diff=evil\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "attributes")
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).symlink_to(program)
    for setting in ("filter.evil.smudge", "core.fsmonitor", "diff.evil.textconv", "core.pager", "core.sshCommand"):
        git(repository, "config", setting, str(program))
    mark.unlink(missing_ok=True)
    history = copied(repository, tmp_path)
    good, bad = history.commit("v1"), history.commit("HEAD")
    history.play(bad, judge(history))
    assert found_by(history, good, bad, judge(history)) == history.commit(f"v{BROKEN_FROM}")
    assert not mark.exists()


def test_what_is_no_repository_or_no_commit_is_refused(repository: Path, tmp_path: Path) -> None:
    lonely = tmp_path / "lonely.f"
    lonely.touch()
    with pytest.raises(InputError, match=rf"^the RTL must lie in a repository of git, not {lonely}$"):
        History.of(lonely, tmp_path)
    history = copied(repository, tmp_path)
    for name in ("v77", "--help"):
        with pytest.raises(InputError, match=rf"^a commit must be one of {repository}, not {name}$"):
            history.commit(name)

"""A name that no file can have is one message, whichever option it is given to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.unit.cli.conftest import Run

LONG = "n" * 300


@pytest.mark.parametrize(
    "words",
    [
        f"run --config {LONG}.toml",
        f"run --rtl {LONG}",
        f"run --port-map {LONG}",
        f"run --plan {LONG}",
        f"run --only sdp_* --stages {LONG} --debug",
        f"trace {LONG}",
        f"trace --model-only {LONG}.cfg",
        f"trace --model-only {LONG}.npz",
        f"regress plan --plan {LONG}",
        f"regress traces {LONG}",
        f"regress random --cluster slurm --listen 10.0.0.1 --cluster-settings {LONG}",
        f"replay {LONG}",
        f"explain {LONG}",
        f"configrom --rtl {LONG}",
        f"pack {LONG}.npy out.bin --format feature --precision int8 --shape 3,1,2",
        f"pack {LONG}.png out.bin --format pixel --pixel-format T_R8 --shape 1,1,2",
        f"pack in.npy {LONG}.bin --format feature --precision int8 --shape 3,1,2",
        f"unpack {LONG}.bin out.npy --format feature --precision int8 --shape 3,1,2",
        f"unpack {LONG}.dat out.npy --format feature --precision int8 --shape 3,1,2",
        f"describe --format feature --precision int8 --shape 3,1,2 --config {LONG}.toml",
        f"regress show --results {LONG}",
        f"coverage --results {LONG}",
    ],
)
def test_a_name_of_300_characters_is_refused_in_one_line(tb: Run, words: str) -> None:
    np.save("in.npy", np.zeros((3, 1, 2), np.int8))
    ran = tb(words)
    assert ran.code == 2
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1


def test_results_are_not_written_to_a_name_that_is_too_long(tb: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        tb(f"run --json {LONG}")
    assert capsys.readouterr().err.endswith(f"--json: must be a file in a folder that exists, not {LONG}\n")
    assert not any(Path().iterdir())

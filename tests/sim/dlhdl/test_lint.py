"""Verilator has nothing to say of the stand-in: all its warnings are on, and fatal."""

from __future__ import annotations

import os
import subprocess

import pytest

from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.toolchain import verilator_root


@pytest.mark.parametrize("data_type", [0, 1])
@pytest.mark.parametrize("threads", [4, 9, 16, 64])
def test_the_stand_in_is_free_of_warnings(threads: int, data_type: int) -> None:
    root = verilator_root()
    run = subprocess.run(
        [
            *(str(root / "bin" / "verilator_bin"), "--lint-only", "-Wall", "--no-timing"),
            *("-F", str(HDL / "dlhdl.f"), "--top-module", "dlhdl_core"),
            *(f"-GCONV_THREAD_NUMBER={threads}", f"-GDATA_TYPE={data_type}"),
        ],
        env={**os.environ, "VERILATOR_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")

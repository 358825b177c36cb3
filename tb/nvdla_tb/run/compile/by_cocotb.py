"""Has cocotb's own runner do one step with the simulator of a vendor.

``python -P by_cocotb.py SIMULATOR STEP OPTIONS``: a step is ``build`` or ``test``, the method of the runner that is
called with the options, a JSON object; ``beside`` among them names what of the build folder the simulator looks for
where it is started. What the runner and its simulator say goes to standard output.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cocotb_tools.runner import get_runner

_OTHERS = ("WAVES", "GUI", "PYTEST_CURRENT_TEST")
"""Variables that the runner would follow in place of its options."""


def main(words: Sequence[str]) -> int:
    """Do a step; the exit status says whether the runner and its simulator did it."""
    simulator, step, options = words[0], words[1], json.loads(words[2])
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    for name in _OTHERS:
        os.environ.pop(name, None)
    try:
        # Scripts that the runner writes for a simulator, and forgets.
        with tempfile.TemporaryDirectory() as folder:
            tempfile.tempdir = folder
            _do(simulator, step, options)
    except (RuntimeError, ValueError, OSError) as error:
        print(f"error: cocotb's runner for {simulator}: {error}", flush=True)
        return 1
    return 0


def _do(simulator: str, step: str, options: dict[str, Any]) -> None:
    runner = get_runner(simulator)
    if step == "build":
        runner.build(**options)
        return
    # One runner has compiled and another simulates, which asks for the languages of what was compiled.
    runner.sources, runner.verilog_sources, runner.vhdl_sources = [], [], []
    with _beside(options.pop("beside"), Path(options["build_dir"]), Path(options["test_dir"])):
        runner.test(**options)


@contextmanager
def _beside(names: Sequence[str], build_folder: Path, folder: Path) -> Iterator[None]:
    """Link files and folders of a build, as long as the simulator runs."""
    links = [folder / name for name in names if (build_folder / name).exists()]
    for link in links:
        link.unlink(missing_ok=True)
        link.symlink_to(build_folder / link.name)
    try:
        yield
    finally:
        for link in links:
            link.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

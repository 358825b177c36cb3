"""Bundles and stores are data: the user names the RTL and the simulator's arguments that they would be played with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import resolved, shown
from nvdla_tb.run import project
from nvdla_tb.run.regress.features import FEATURES, bench_modules
from nvdla_tb.run.task import BENCH, Task
from nvdla_tb.stimulus.result import Dut

_POWER_UP = re.compile(r"\+verilator\+(rand\+reset|seed)\+\d+")
"""Arguments with which levels begin simulators; whoever names others may make files of any name."""


class NotNamedError(InputError):
    """A bundle or store that would be played with RTL, tests or arguments that the user has not named."""


@dataclass(frozen=True)
class Named:
    """What the user has named on the command line, or in the project file.

    Attributes:
        rtl: ``--rtl``.
        plusargs: ``--plusarg``.
    """

    rtl: Path | None
    plusargs: Sequence[str]

    def check(self, where: str, what: str, tasks: Iterable[Task], again: str) -> None:
        """Check that nothing is built or executed which only the file that the tasks were read from names.

        Args:
            where: That file or folder.
            what: What it holds, such as ``the bundle``.
            tasks: Tasks to be played.
            again: The command that is being carried out, with all options of the user.

        Raises:
            NotNamedError: with what would be built or executed, and the command that would allow it.
        """
        modules = bench_modules(FEATURES)
        for task in tasks:
            if task.kind == BENCH and task.source not in modules:
                raise NotNamedError(
                    f"{where}: tests in Python must be of {', '.join(sorted(modules))}, not of {shown(task.source)}, "
                    "which is not imported"
                )
            strange = [text for text in _strange(task.plusargs) if text not in self.plusargs]
            rtl = None if self._has(task.dut) else task.dut.rtl
            if strange or rtl is not None:
                # What is recorded is data: whoever wrote it would choose what is built and executed here.
                found = [*([] if rtl is None else [f"the RTL {shown(rtl)}"]), *map(shown, strange)]
                options = [*([] if rtl is None else ["--rtl"]), *(["--plusarg"] if strange else [])]
                them = "it" if len(found) == 1 else "them"
                raise NotNamedError(
                    f"{where}: {what} was recorded with {' and '.join(found)}; pass {them} with "
                    f"{' and '.join(options)} to allow it: {again}{shown(_words(rtl, strange))}"
                )

    def _has(self, dut: Dut) -> bool:
        if dut.rtl is None:
            return True
        named = (self.rtl, project.current().rtl)
        return any(path is not None and resolved(path) == resolved(Path(dut.rtl)) for path in named)


def options_of(dut: Dut, plusargs: Sequence[str]) -> str:
    """Return the options that name what a bundle or store is played with, each after a blank; often none."""
    return _words(dut.rtl, _strange(plusargs))


def _words(rtl: str | None, plusargs: Sequence[str]) -> str:
    words = [] if rtl is None else ["--rtl", rtl]
    words += [word for text in plusargs for word in ("--plusarg", text)]
    return "".join(f" {shlex.quote(word)}" for word in words)


def _strange(plusargs: Sequence[str]) -> list[str]:
    return [text for text in plusargs if not _POWER_UP.fullmatch(text)]

"""The files of a trace on disk: which belong to it, and where traces are found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nvdla_models.limits import TRACE_BYTES
from nvdla_models.reading import read_text, resolved, shown
from nvdla_tb.stimulus.trace.data import Chunks, read_data
from nvdla_tb.stimulus.trace.errors import TraceError
from nvdla_tb.stimulus.trace.lines import read_lines

SUFFIX = ".cfg"
TXN = "input.txn"
"""The program of a trace of the public project's default branch, whose name is that of its folder."""


@dataclass(frozen=True)
class TraceFolder:
    """A trace's folder, its configuration file and its name."""

    path: Path
    cfg: Path
    name: str
    _read: dict[str, Chunks] = field(default_factory=dict, compare=False)

    @property
    def is_txn(self) -> bool:
        """Whether it is a trace of the public project's default branch."""
        return self.cfg.name == TXN

    @classmethod
    def open(cls, path: Path) -> TraceFolder:
        """Find the configuration file of a trace.

        Args:
            path: The folder, the ``.cfg`` or the ``input.txn``.

        Raises:
            TraceError: when there is none, more than one, or one outside the folder.
        """
        if os.path.isdir(path):
            files = _programs(path)
            if len(files) != 1:
                names = ", ".join(file.name for file in files) or "none"
                raise TraceError(f"{path}: a trace folder must hold exactly one {SUFFIX} file or {TXN}, not {names}")
            folder = cls(path, files[0], resolved(path).name)
        elif _is_program(path) and os.path.isfile(path):
            folder = cls(path.parent, path, name_of(path))
        else:
            raise TraceError(f"{path}: a trace must be a folder, a {SUFFIX} file or {TXN}")
        if not folder._holds(folder.cfg):
            raise TraceError(f"{folder.cfg}: the file must lie in the trace's folder, not elsewhere")
        return folder

    def text(self) -> str:
        """Return the configuration file's content.

        Raises:
            TraceError: when it cannot be read.
        """
        return read_text(self.cfg, TRACE_BYTES, TraceError)

    def data(self, name: str, line: int) -> Chunks:
        """Read a data file that the configuration file names.

        Args:
            name: The path as written, relative to the trace's folder.
            line: Line of the command that names it.

        Raises:
            TraceError: when it is absent, malformed, or outside the folder, also by a symbolic link.
        """
        if name not in self._read:
            self._read[name] = read_data(self._found(name, line))
        return self._read[name]

    def lines(self, name: str, line: int, most: int) -> bytes:
        """Read the first bytes of a data file of ``input.txn``; see ``data``."""
        return read_lines(self._found(name, line), most)

    def beside(self, name: str) -> str:
        """Return the text of a file that may lie beside the program, empty when there is none.

        Raises:
            TraceError: when it cannot be read, or lies elsewhere.
        """
        path = self.path / name
        if not os.path.lexists(path):
            return ""
        if not self._holds(path):
            raise TraceError(f"{path}: the file must lie in the trace's folder, not elsewhere")
        return read_text(path, error=TraceError)

    def _found(self, name: str, line: int) -> Path:
        path = self.path / name
        if "\0" in name or os.path.isabs(name) or not self._holds(path):
            raise TraceError.at(self.cfg, line, f"data file {shown(name)} must lie in the trace's folder")
        # Path.is_file raises for a name that is too long.
        if not os.path.isfile(path):
            raise TraceError.at(self.cfg, line, f"data file {shown(name)} does not exist")
        return path

    def _holds(self, path: Path) -> bool:
        # Path.resolve raises for a loop of symbolic links.
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.path))


def find_traces(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Expand what a user names into traces.

    Args:
        paths: Each a trace's folder, a ``.cfg``, an ``input.txn``, or a folder with trace folders at any depth.

    Returns:
        Folders, ``.cfg`` and ``.txn`` files for ``read``, each once: argument by argument, sorted within one.

    Raises:
        TraceError: for an argument that holds no trace.
    """
    found: dict[str, Path] = {}
    for path in paths:
        if os.path.isdir(path):
            traces = sorted(_traces_below(path))
            if not traces:
                raise TraceError(f"{path}: no trace here: no folder with a {SUFFIX} file or {TXN}")
        elif os.path.exists(path):
            traces = [TraceFolder.open(path).cfg]
        else:
            raise TraceError(f"{path}: no such file or folder")
        for trace in traces:
            found.setdefault(_identity(trace), trace)
    return tuple(found.values())


def name_of(trace: Path) -> str:
    """Return what the results of a trace are called."""
    if trace.name == TXN:
        return resolved(trace).parent.name
    return resolved(trace).name if os.path.isdir(trace) else trace.stem


def _identity(trace: Path) -> str:
    """The file of a trace that both its folder and its program stand for."""
    files = _programs(trace) if trace.is_dir() else [trace]
    return os.path.realpath(files[0] if len(files) == 1 else trace)


def _programs(folder: Path) -> list[Path]:
    return sorted(file for file in (*folder.glob(f"*{SUFFIX}"), folder / TXN) if file.is_file())


def _is_program(path: Path) -> bool:
    return path.suffix == SUFFIX or path.name == TXN


def _traces_below(root: Path) -> Iterator[Path]:
    """Yield trace folders; links to folders are not followed, they may form loops."""
    for name, folders, _ in os.walk(root):
        if _programs(Path(name)):
            folders.clear()
            yield Path(name)

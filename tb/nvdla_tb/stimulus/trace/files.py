"""The files of a trace on disk: which belong to it, and where traces and measured layers are found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nvdla_models.limits import TRACE_BYTES
from nvdla_models.reading import read_text, resolved
from nvdla_tb.stimulus.trace.data import Chunks, read_data
from nvdla_tb.stimulus.trace.errors import TraceError

SUFFIX = ".cfg"
MEASURED = ".npz"


@dataclass(frozen=True)
class TraceFolder:
    """A trace's folder, its configuration file and its name."""

    path: Path
    cfg: Path
    name: str
    _read: dict[str, Chunks] = field(default_factory=dict, compare=False)

    @classmethod
    def open(cls, path: Path) -> TraceFolder:
        """Find the configuration file of a trace.

        Args:
            path: The folder or the ``.cfg``.

        Raises:
            TraceError: when there is none, more than one, or one outside the folder.
        """
        if os.path.isdir(path):
            files = _cfg_files(path)
            if len(files) != 1:
                names = ", ".join(file.name for file in files) or "none"
                raise TraceError(f"{path}: a trace folder must hold exactly one {SUFFIX} file, not {names}")
            folder = cls(path, files[0], resolved(path).name)
        elif path.suffix == SUFFIX and os.path.isfile(path):
            folder = cls(path.parent, path, path.stem)
        else:
            raise TraceError(f"{path}: a trace must be a folder or a {SUFFIX} file")
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
            path = self.path / name
            if os.path.isabs(name) or not self._holds(path):
                raise TraceError.at(self.cfg, line, f"data file {name} must lie in the trace's folder")
            # Path.is_file raises for a name that is too long.
            if not os.path.isfile(path):
                raise TraceError.at(self.cfg, line, f"data file {name} does not exist")
            self._read[name] = read_data(path)
        return self._read[name]

    def _holds(self, path: Path) -> bool:
        # Path.resolve raises for a loop of symbolic links.
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.path))


def find_traces(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Expand what a user names into traces and measured layers.

    Args:
        paths: Each a trace's folder, a ``.cfg``, the ``.npz`` of a measured layer, or a folder with trace
            folders and measured layers at any depth.

    Returns:
        Folders, ``.cfg`` and ``.npz`` files for ``read``, each once: argument by argument, sorted within one.

    Raises:
        TraceError: for an argument that holds no trace.
    """
    found: dict[str, Path] = {}
    for path in paths:
        if os.path.isdir(path):
            traces = sorted(_traces_below(path))
            if not traces:
                raise TraceError(f"{path}: no trace here: no folder with a {SUFFIX} file, no {MEASURED} file")
        elif path.suffix == MEASURED and os.path.isfile(path):
            traces = [path]
        elif os.path.exists(path):
            traces = [TraceFolder.open(path).cfg]
        else:
            raise TraceError(f"{path}: no such file or folder")
        for trace in traces:
            found.setdefault(_identity(trace), trace)
    return tuple(found.values())


def _identity(trace: Path) -> str:
    """The file of a trace that both its folder and its ``.cfg`` stand for."""
    files = _cfg_files(trace) if trace.is_dir() else [trace]
    return os.path.realpath(files[0] if len(files) == 1 else trace)


def _cfg_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob(f"*{SUFFIX}") if file.is_file())


def _traces_below(root: Path) -> Iterator[Path]:
    """Yield trace folders and measured layers; links to folders are not followed, they may form loops."""
    for name, folders, files in os.walk(root):
        if _cfg_files(Path(name)):
            folders.clear()
            yield Path(name)
            continue
        yield from (Path(name) / file for file in files if file.endswith(MEASURED))

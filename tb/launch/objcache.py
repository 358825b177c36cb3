"""Object files by content: what a build compiled is copied when another one compiles the same.

Verilator's makefiles put ``$(OBJCACHE)`` before every call of the compiler; this module is such a command. A
mutant changes few of the files that Verilator writes, so most of them need not be compiled again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_VARIABLES = ("OBJCACHE", "NVDLA_OBJECTS", "PYTHONPATH")
_SOURCES = (".cpp", ".cc", ".c", ".h")
_ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def reused_objects(folder: Path) -> Iterator[None]:
    """Let builds inside the ``with`` share object files.

    Args:
        folder: where they are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    before = {name: os.environ.get(name) for name in _VARIABLES}
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    os.environ.update(OBJCACHE=f"{sys.executable} -m {__name__}", NVDLA_OBJECTS=str(folder.resolve()), PYTHONPATH=path)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def compile_once(command: Sequence[str], folder: Path) -> int:
    """Run a compiler, or copy what it made of the same input before.

    Args:
        command: the compiler and its arguments, as make gives them.
        folder: where results are kept.

    Returns:
        The exit code.
    """
    sources = [path for path in map(Path, command[1:]) if path.suffix in _SOURCES and path.is_file()]
    if not {"-c", "-x"} & set(command):
        return subprocess.run(command, check=False).returncode
    target = Path(command[command.index("-o") + 1]) if "-o" in command else Path(sources[-1].with_suffix(".o").name)
    sources = [path for path in sources if path != target]
    kept = folder / f"{_key(command, target, sources)}{target.suffix}"
    if kept.is_file():
        shutil.copyfile(kept, target)
        return 0
    code = subprocess.run(command, check=False).returncode
    if code == 0:
        part = kept.with_suffix(f".{os.getpid()}")
        shutil.copyfile(target, part)
        part.replace(kept)
    return code


def _key(command: Sequence[str], target: Path, sources: Sequence[Path]) -> str:
    """Return what a result depends on: arguments, sources, and all headers of the folders that may be included."""
    digest = hashlib.sha256("\0".join(word for word in command if word != str(target)).encode())
    folders = [Path(), *(Path(word[2:] or ".") for word in command if word.startswith("-I"))]
    headers = [path for folder in folders for path in sorted(folder.glob("*.h"))]
    for path in (*sources, *headers):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(compile_once(sys.argv[1:], Path(os.environ["NVDLA_OBJECTS"])))

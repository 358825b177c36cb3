"""Read simulator filelists; and hash every file that a build can read, which the build cache is keyed by."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nvdla_models.limits import FILELIST_DEPTH, LISTED_WORDS, SOURCE_BYTES
from nvdla_models.reading import read_bytes, read_text, resolved, shown
from nvdla_tb.paths import HDL
from nvdla_tb.run.errors import FileListError

DEFAULT_LIBRARY_EXTENSIONS = (".v",)
CONTROL_SUFFIX = ".vlt"
"""Of Verilator's control files."""

ALLOWED = "+incdir+DIR, +define+NAME[=VALUE], +libext+.EXT, -y DIR, -v FILE, -f FILELIST, -F FILELIST"

# Comments count at the start of a word only: a path may hold ``//``.
_TOKEN = re.compile(
    r"""
    /\*.*?\*/ | //[^\n]* | \#[^\n]* | \\\n
    | (?P<open>/\*)
    | (?P<word> (?: \\[^\n] | "(?:\\.|[^"\\\n])*" | [^\s"\\] )+ )
    | (?P<bad>["\\])
    """,
    re.DOTALL | re.VERBOSE,
)
_QUOTING = re.compile(r'\\(?P<escaped>.)|"')
_VARIABLE = re.compile(r"\$(?:\{(?P<brace>\w+)\}|\((?P<paren>\w+)\)|(?P<plain>[A-Za-z_]\w*))")
_MACRO = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class FileList:
    """The files of a filelist: absolute paths in the order given.

    ``defines`` are (name, value) pairs; a macro given without a value has the value ``1``, as
    both simulators read it. ``library_extensions`` are searched in ``library_dirs`` and are
    ``.v`` when the list has no ``+libext+``. ``controls`` are Verilator's control files, which end in ``.vlt``.
    """

    sources: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    library_dirs: tuple[Path, ...] = ()
    library_files: tuple[Path, ...] = ()
    library_extensions: tuple[str, ...] = DEFAULT_LIBRARY_EXTENSIONS
    controls: tuple[Path, ...] = ()


def parse(path: Path, environment: Mapping[str, str] | None = None) -> FileList:
    """Read the filelist at ``path`` and the lists nested in it.

    A relative path is looked for in the folder of the list that names it, then in that of the
    list that included it with ``-f``, and last in the current directory; finding two different
    ones is an error. ``.`` and ``..`` are those of the list's own folder. In a list included
    with ``-F``, and in those of the testbench, only the list's own folder counts; a list that
    ``-F`` names is looked for elsewhere only when it is not there.

    Args:
        path: The filelist.
        environment: Values of ``$VAR``, ``${VAR}`` and ``$(VAR)``; the process's own if None.

    Raises:
        FileListError: for a path that is missing or ambiguous, an unknown option, an unset
            variable, a list that includes itself, a macro with two values, or no source at all.
    """
    reader = _Reader(os.environ if environment is None else environment)
    if not os.path.isfile(path):
        raise FileListError(f"{shown(path)}: no such filelist")
    top = resolved(path)
    reader.read(top, () if top.is_relative_to(HDL) else (Path.cwd(),), ())
    if not reader.sources and not reader.library_files:
        raise FileListError(f"{path}: a filelist must name at least one source file")
    return FileList(
        sources=tuple(reader.sources),
        include_dirs=tuple(dict.fromkeys(reader.include_dirs)),
        defines=tuple(reader.defines.items()),
        library_dirs=tuple(dict.fromkeys(reader.library_dirs)),
        library_files=tuple(reader.library_files),
        library_extensions=tuple(dict.fromkeys(reader.extensions)) or DEFAULT_LIBRARY_EXTENSIONS,
        controls=tuple(dict.fromkeys(reader.controls)),
    )


@dataclass(frozen=True)
class _Place:
    """Where a word stands, and the folders its relative paths are looked for in."""

    file: Path
    line: int
    folders: tuple[Path, ...]

    def error(self, text: str) -> FileListError:
        return FileListError(f"{self.file}:{self.line}: {text}")

    def own(self, name: str) -> Path:
        """Return the file of a name in the list's own folder, and elsewhere only when it is not there."""
        own = self.folders[0] / name
        # Safe for any name, which Path's methods are not.
        return own if os.path.isfile(own) else self.find(name, "file")

    def find(self, name: str, what: str) -> Path:
        """Return the one existing ``what`` (``file`` or ``folder``) that ``name`` means."""
        # "." and ".." exist everywhere, so they can only mean the list's own folder.
        folders = self.folders if set(Path(name).parts) - {".."} else self.folders[:1]
        candidates = [Path(os.path.abspath(folder / name)) for folder in folders]
        try:
            found = {c.resolve(): c for c in candidates if (c.is_dir() if what == "folder" else c.is_file())}
        except (OSError, RuntimeError, ValueError) as error:  # a name too long, a loop of links, a NUL
            raise self.error(f"no {what} {shown(name)}: {error}") from error
        if not found:
            looked = "" if os.path.isabs(name) else f" in {' or '.join(map(str, self.folders))}"
            raise self.error(f"no {what} {name}{looked}")
        if len(found) > 1:
            raise self.error(f"{name} is ambiguous: {' and '.join(str(c) for c in found.values())}")
        return next(iter(found.values()))


@dataclass
class _Reader:
    environment: Mapping[str, str]
    sources: list[Path] = field(default_factory=list)
    include_dirs: list[Path] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)
    library_dirs: list[Path] = field(default_factory=list)
    library_files: list[Path] = field(default_factory=list)
    extensions: list[str] = field(default_factory=list)
    controls: list[Path] = field(default_factory=list)
    words: int = 0

    def read(self, path: Path, outer_folders: tuple[Path, ...], including: tuple[Path, ...]) -> None:
        """Read one list; ``including`` are the lists that led here, outermost first."""
        folders = tuple(dict.fromkeys((path.parent, *outer_folders)))
        words = self._words(path, folders)
        for place, word in words:
            self.words += 1
            if self.words > LISTED_WORDS:
                raise place.error(f"a filelist with all that it includes must have at most {LISTED_WORDS} words")
            if word in ("-f", "-F", "-y", "-v"):
                self._option(word, words, place, (*including, path))
            elif word.startswith("+"):
                self._plus(word, place)
            elif word.startswith("-"):
                raise place.error(f"unknown option {word}; allowed: {ALLOWED}")
            elif word.endswith(CONTROL_SUFFIX):
                self.controls.append(place.find(word, "file"))
            else:
                self.sources.append(place.find(word, "file"))

    def _words(self, path: Path, folders: tuple[Path, ...]) -> Iterator[tuple[_Place, str]]:
        """Yield the words of a list without comments, with variables and quotes resolved."""
        text = read_text(path, error=FileListError)
        for match in _TOKEN.finditer(text):
            place = _Place(path, text.count("\n", 0, match.start()) + 1, folders)
            if unclosed := match["open"] or match["bad"]:
                raise place.error(f"{unclosed} is not closed")
            if match["word"]:
                expanded = _VARIABLE.sub(partial(self._variable, place), match["word"])
                yield place, _QUOTING.sub(lambda m: m["escaped"] or "", expanded)

    def _variable(self, place: _Place, match: re.Match[str]) -> str:
        name = match["brace"] or match["paren"] or match["plain"]
        if name not in self.environment:
            raise place.error(f"environment variable {name} is not set")
        return self.environment[name]

    def _option(
        self, option: str, words: Iterator[tuple[_Place, str]], place: _Place, including: tuple[Path, ...]
    ) -> None:
        argument = next(words, None)
        if argument is None or argument[1].startswith(("-", "+")):
            raise place.error(f"{option} needs a path")
        name = argument[1]
        if option == "-y":
            self.library_dirs.append(place.find(name, "folder"))
        elif option == "-v":
            self.library_files.append(place.find(name, "file"))
        else:
            nested = (place.own(name) if option == "-F" else place.find(name, "file")).resolve()
            if len(including) >= FILELIST_DEPTH:
                raise place.error(f"filelists must include each other at most {FILELIST_DEPTH} deep")
            if nested in including:
                chain = " -> ".join(str(p) for p in (*including, nested))
                raise place.error(f"filelist includes itself: {chain}")
            self.read(nested, place.folders if option == "-f" else (), including)

    def _plus(self, word: str, place: _Place) -> None:
        _, kind, *values = word.split("+")
        if kind not in ("incdir", "define", "libext"):
            raise place.error(f"unknown option {word}; allowed: {ALLOWED}")
        if not values or "" in values:
            raise place.error(f"+{kind}+ needs a value, not {word}")
        for value in values:
            if kind == "incdir":
                self.include_dirs.append(place.find(value, "folder"))
            elif kind == "define":
                self._define(value, place)
            elif value.startswith("."):
                self.extensions.append(value)
            else:
                raise place.error(f"+libext+ needs extensions that begin with a dot, not {value}")

    def _define(self, text: str, place: _Place) -> None:
        name, equals, value = text.partition("=")
        value = value if equals else "1"
        if not _MACRO.fullmatch(name):
            raise place.error(f"+define+ needs a macro name, not {name}")
        if self.defines.get(name, value) != value:
            raise place.error(f"+define+{name} is given twice, with {self.defines[name]} and {value}")
        self.defines[name] = value


_HDL_SUFFIXES = frozenset((".v", ".sv", ".vh", ".svh", ".vlib", ".inc", ".h", ".vp", ".svp"))
_INCLUDE = re.compile(rb'`include\s+"([^"\n]+)"')


@dataclass(frozen=True)
class InputFile:
    """One file: its role in the build, its name there, where it lies, and its content's SHA-256."""

    role: str
    name: str
    path: Path
    sha256: str


def collect(files: FileList) -> tuple[InputFile, ...]:
    """Return the sources, library and control files, and whatever their include folders may contribute.

    From include and library folders every HDL file counts, whether it is read or not, because
    both simulators may take a module or a header from there; files with other suffixes count
    when an include directive names them. The list depends on contents and names but not on
    where the folders lie, so a moved tree has the same key.
    """
    named = [("source", files.sources), ("library", files.library_files), ("control", files.controls)]
    suffixes = _HDL_SUFFIXES | set(files.library_extensions)
    for number, folder in enumerate((*files.include_dirs, *files.library_dirs)):
        entries = (entry for entry in folder.iterdir() if entry.suffix in suffixes and entry.is_file())
        named.append((f"folder {number}", tuple(sorted(entries))))
    found = [_hashed(role, path.name, path) for role, paths in named for path in paths]
    return (*found, *_included(found, files.include_dirs))


def _content(path: Path) -> bytes:
    return read_bytes(path, SOURCE_BYTES, FileListError)


def _hashed(role: str, name: str, path: Path) -> InputFile:
    return InputFile(role, name, path, hashlib.sha256(_content(path)).hexdigest())


def _included(known: Iterable[InputFile], include_dirs: tuple[Path, ...]) -> list[InputFile]:
    """Return the files that include directives name and that are not known yet, transitively."""
    seen = {entry.path.resolve() for entry in known}
    waiting = list(seen)
    included: list[InputFile] = []
    while waiting:
        for raw_name in _INCLUDE.findall(_content(waiting.pop())):
            name = raw_name.decode("utf-8", errors="replace")
            for folder in include_dirs:
                # Safe for any name, which Path's methods are not.
                if not os.path.isfile(folder / name):
                    continue
                path = (folder / name).resolve()
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
                    included.append(_hashed("include", name, path))
    return sorted(included, key=lambda entry: entry.name)

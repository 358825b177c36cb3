"""The guided run: ``python -m tests.fuzz.guided --inputs N --rounds R``, which keeps the inputs that reach new code.

It needs Atheris (``pip install atheris==3.0.0``, wheels for Linux on x86-64), which instruments the bytecode of the
project and mutates on with what has reached a new branch. Hypothesis's ``target`` would maximise a number instead,
which nobody has for "new code", and keeps no corpus between examples. Mutations are those of the reader, which keep
checksums, headers and syntax right, and in a quarter of the inputs libFuzzer's own.

Readers take turns, a process each, so that one of them may die without ending the run; what has reached new code is
kept for the next round. Findings are printed when they come, and after each round a line for each reader with what it
saw by then.
"""

from __future__ import annotations

import random
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import atheris

from nvdla_tb.cli.parsing import Parser

PACKAGES = ("nvdla_tb", "nvdla_models", "nvdla_networks", "nvdla_score", "nvdla_steer", "dlhdl_tb", "dlhdl_models")

with atheris.instrument_imports(include=list(PACKAGES)):
    from tests.fuzz.readers import READERS, Reader, by_name
    from tests.fuzz.run import fault_of

_UNSTRUCTURED = (
    *(ArithmeticError, LookupError, OSError, EOFError, ValueError, NotImplementedError, RuntimeError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)
"""What a mutation raises for data that an earlier one has broken."""

_MOST_BYTES = 1 << 20
_INPUT_SECONDS = 20
_MEBIBYTES = 3072


class Turns:
    """The turns of one reader.

    Args:
        reader: The reader.
        folder: For its corpus and the input that it reads.
    """

    def __init__(self, reader: Reader, folder: Path) -> None:
        self.reader = reader
        self.seen: Synchronized[int] = get_context("fork").Value("Q", 0)
        self.found: Synchronized[int] = get_context("fork").Value("Q", 0)
        self._corpus, self._folder = folder / "corpus", folder / "read"
        for made in (folder, self._corpus, self._folder):
            made.mkdir()
        for number, sample in enumerate(reader.samples()):
            (self._corpus / f"sample-{number}").write_bytes(sample)
        self._kinds: set[str] = set()

    def take(self, inputs: int, seed: int) -> None:
        """Feed the reader in a process of its own, which libFuzzer ends."""
        process = get_context("fork").Process(target=self._feed, args=(inputs, seed))
        process.start()
        process.join()
        if process.exitcode:
            print(f"FINDING process of {self.reader.name} ended with {process.exitcode}", flush=True)
            self.found.value += 1

    @property
    def line(self) -> str:
        """What the reader has seen by now."""
        kept = sum(1 for _ in self._corpus.iterdir())
        return f"{self.reader.name:24} {self.seen.value:9} {kept:7} {self.found.value:8}"

    def _feed(self, inputs: int, seed: int) -> None:
        options = [
            *(f"-runs={inputs}", f"-seed={seed}", f"-max_len={_MOST_BYTES}", "-len_control=0"),
            *(f"-timeout={_INPUT_SECONDS}", f"-rss_limit_mb={_MEBIBYTES}", "-verbosity=0"),
        ]
        atheris.Setup([sys.argv[0], *options, str(self._corpus)], self._tried, custom_mutator=mutator(self.reader))
        atheris.Fuzz()

    def _tried(self, data: bytes) -> None:
        """Give the reader an input, and print a finding of a new kind."""
        self.seen.value += 1
        fault = fault_of(self.reader, data, self._folder)
        if fault is None:
            return
        self.found.value += 1
        kind, text = fault
        if kind not in self._kinds:
            self._kinds.add(kind)
            saved = Path(f"finding-{self.reader.name.replace(' ', '-')}-{self.seen.value}")
            saved.write_bytes(data)
            print(f"FINDING {kind}, input in {saved}: {text}", flush=True)


def mutator(reader: Reader) -> Callable[[bytes, int, int], bytes]:
    """Return what makes the next input of one that has reached new code."""

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.randrange(4):
            try:
                return reader.mutate(rng, data)[:most]
            except _UNSTRUCTURED:
                pass  # an earlier mutation has left nothing that has this structure
        changed: bytes = atheris.Mutate(data, most)
        return changed

    return mutate


def main() -> int:
    """Feed readers in turn, and return 1 when there are findings."""
    parser = Parser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("--reader", metavar="NAME", help="this one alone")
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="of all readers together, a round")
    parser.add_argument("--rounds", type=int, default=1, metavar="R")
    parser.add_argument("--seed", type=int, default=1, metavar="SEED", help="of the first round")
    args = parser.parse_args()
    readers = READERS if args.reader is None else (by_name(args.reader),)
    shares = sum(reader.weight for reader in readers)
    with tempfile.TemporaryDirectory(prefix="nvdla-fuzz-") as name:
        all_turns = [Turns(reader, Path(name, str(number))) for number, reader in enumerate(readers)]
        for seed in range(args.seed, args.seed + args.rounds):
            for turns in all_turns:
                turns.take(-(-args.inputs * turns.reader.weight // shares), seed)
            print(f"{'reader':24} {'inputs':>9} {'corpus':>7} {'findings':>8}")
            print("\n".join(turns.line for turns in all_turns), flush=True)
        return int(any(turns.found.value for turns in all_turns))


if __name__ == "__main__":
    sys.exit(main())

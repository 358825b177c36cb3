"""The guided run: ``python -m tests.fuzz.guided --reader NAME --inputs N``, which keeps the inputs that reach new code.

It needs Atheris (``pip install atheris==3.0.0``, wheels for Linux on x86-64), which instruments the bytecode of the
project and mutates on with what has reached a new branch. Hypothesis's ``target`` would maximise a number instead,
which nobody has for "new code", and keeps no corpus between examples. Mutations are those of the reader, which keep
checksums, headers and syntax right, and in a quarter of the inputs libFuzzer's own.

Findings are printed when they come; libFuzzer ends the process with the number of inputs and branches.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

PACKAGES = ("nvdla_tb", "nvdla_models", "nvdla_networks", "nvdla_score", "dlhdl_tb", "dlhdl_models")

with atheris.instrument_imports(include=list(PACKAGES)):
    from tests.fuzz.readers import Reader, by_name
    from tests.fuzz.run import Tally, fault_of

_MOST_BYTES = 1 << 20
_INPUT_SECONDS = 20
_MEBIBYTES = 3072


def mutator(reader: Reader) -> Callable[[bytes, int, int], bytes]:
    """Return what makes the next input of one that has reached new code."""

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.randrange(4):
            try:
                return reader.mutate(rng, data)[:most]
            except (ArithmeticError, LookupError, OSError, ValueError, NotImplementedError, RuntimeError):
                pass  # an earlier mutation has left nothing that has this structure
        changed: bytes = atheris.Mutate(data, most)
        return changed

    return mutate


def tried(reader: Reader, folder: Path, tally: Tally, data: bytes) -> None:
    """Give a reader an input, and print a finding of a new kind."""
    tally.inputs += 1
    fault = fault_of(reader, data, folder)
    if fault is None:
        return
    kind, text = fault
    if kind not in tally.counts:
        saved = Path(f"finding-{reader.name.replace(' ', '-')}-{tally.inputs}")
        saved.write_bytes(data)
        print(f"FINDING {kind}, input in {saved}: {text}", flush=True)
    tally.counts[kind] += 1


def main() -> None:
    """Feed one reader; libFuzzer ends the process."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("--reader", metavar="NAME", required=True)
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="SEED")
    args = parser.parse_args()
    reader, tally = by_name(args.reader), Tally()
    with tempfile.TemporaryDirectory(prefix="nvdla-fuzz-") as name:
        corpus, folder = Path(name, "corpus"), Path(name, "read")
        corpus.mkdir()
        folder.mkdir()
        for number, sample in enumerate(reader.samples()):
            (corpus / f"sample-{number}").write_bytes(sample)
        options = [
            *(f"-runs={args.inputs}", f"-seed={args.seed}", f"-max_len={_MOST_BYTES}", "-len_control=0"),
            *(f"-timeout={_INPUT_SECONDS}", f"-rss_limit_mb={_MEBIBYTES}", "-print_final_stats=1", "-verbosity=0"),
        ]
        atheris.Setup(
            [sys.argv[0], *options, str(corpus)],
            lambda data: tried(reader, folder, tally, data),
            custom_mutator=mutator(reader),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()

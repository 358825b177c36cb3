"""The long run: ``python -m tests.fuzz --inputs 1000000 --seed 1``, or one reader with ``--reader NAME``."""

from __future__ import annotations

import sys

from nvdla_tb.cli.parsing import Parser
from tests.fuzz.readers import READERS, by_name
from tests.fuzz.run import Tally, feed, feed_apart

_COLUMNS = f"{'reader':20} {'inputs':>9} {'accepted':>9} {'refused':>9} {'slowest s':>10} {'largest MiB':>12}"


def main() -> int:
    """Feed the readers, print a table and the findings, and return 1 when there are any."""
    parser = Parser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=23_000, metavar="N", help="of all readers together")
    parser.add_argument("--seed", type=int, default=1, metavar="SEED", help="of all mutations (default: 1)")
    parser.add_argument("--reader", metavar="NAME", help="this one alone")
    parser.add_argument("--number", type=int, metavar="N", help="this input of the reader alone, in this process")
    args = parser.parse_args()
    readers = READERS if args.reader is None else (by_name(args.reader),)
    if args.number is not None:
        (reader,) = readers
        tally = feed(reader, args.seed, range(args.number, args.number + 1))
        print(_line(reader.name, tally), *_findings(tally), sep="\n")
        return int(bool(tally.findings))
    print(_COLUMNS, flush=True)
    whole = Tally()
    shares = sum(reader.weight for reader in readers)
    for reader in readers:
        tally = feed_apart(reader, args.seed, -(-args.inputs * reader.weight // shares))
        print(_line(reader.name, tally), *_findings(tally), sep="\n", flush=True)
        whole.inputs += tally.inputs
        whole.accepted += tally.accepted
        whole.slowest = max(whole.slowest, tally.slowest)
        whole.largest_bytes = max(whole.largest_bytes, tally.largest_bytes)
        whole.counts += tally.counts
    print(_line("all", whole))
    return int(bool(whole.counts))


def _line(name: str, tally: Tally) -> str:
    return (
        f"{name:20} {tally.inputs:9} {tally.accepted:9} {tally.refused:9} {tally.slowest:10.3f} "
        f"{tally.largest_bytes / (1 << 20):12.0f}"
    )


def _findings(tally: Tally) -> list[str]:
    return [
        f"  {tally.counts[kind]:6} x {kind}, first input {number}: {text}"
        for kind, (number, text) in tally.findings.items()
    ]


if __name__ == "__main__":
    sys.exit(main())

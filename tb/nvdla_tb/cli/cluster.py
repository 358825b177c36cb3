"""``cluster``: start a scheduler and workers for regressions, or workers that join a scheduler."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import threading

from distributed.security import Security

from nvdla_models.errors import InputError
from nvdla_tb.cli.dut_options import BUILD_ROOT
from nvdla_tb.cli.numbers import count
from nvdla_tb.cli.workers import credentials_options
from nvdla_tb.run.regress.cluster import cluster, join, local_cluster, quiet
from nvdla_tb.run.regress.credentials import security_of
from nvdla_tb.run.regress.defaults import FILE_NAME, LOOPBACK, PORT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    processors = os.cpu_count() or 1
    parser.add_argument(
        "--jobs", type=count, default=processors, metavar="N", help="workers (default: one per processor)"
    )
    parser.add_argument(
        "--listen", metavar="HOST", help=f"address that other machines reach this one at (default: {LOOPBACK})"
    )
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"of the scheduler (default: {PORT})")
    parser.add_argument("--join", metavar="ADDRESS", help="start workers only, for the scheduler at this address")
    credentials_options(parser)


def main(args: argparse.Namespace) -> int:
    """Play for others until an interrupt, or until the scheduler is gone."""
    if not 0 <= args.port <= 65535:
        raise InputError(f"port must be 0 to 65535, not {args.port}")
    if args.join is not None and args.listen is not None:
        raise InputError("--listen must not come with --join: workers listen where their scheduler can reach them")
    quiet()
    security = security_of(args.join, args.credentials, insecure=args.insecure)
    if args.join is None:
        default = args.insecure or args.credentials == BUILD_ROOT / FILE_NAME
        having = "" if default else f"--credentials {shlex.quote(str(args.credentials))} "
        with local_cluster(args.jobs, args.listen or LOOPBACK, args.port, security=security or Security()) as local:
            address = local.scheduler_address
            print(f"{args.jobs} workers; play on them with: {having}--scheduler {address}", flush=True)
            threading.Event().wait()
    # Its versions are those of this process, which the workers will have, too.
    with cluster(args.join, 0, LOOPBACK, security=security) as client:
        address = client.scheduler_info()["address"]
    print(f"{args.jobs} workers join {address}", flush=True)
    asyncio.run(join(address, args.jobs, security))
    return 0

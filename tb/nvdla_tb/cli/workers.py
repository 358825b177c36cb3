"""The workers that a regression plays on: processes of this machine, unless the options name a cluster.

What clusters need takes longer to load than a short regression takes, so it is loaded with the first of them.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager
from pathlib import Path

from nvdla_tb.cli.dut_options import BUILD_ROOT
from nvdla_tb.run.regress.defaults import FILE_NAME, LOOPBACK
from nvdla_tb.run.regress.local import local_pool
from nvdla_tb.run.regress.pool import Pool


def workers_options(parser: argparse._ActionsContainer) -> None:
    """Add the options that name a cluster."""
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a running Dask cluster (default: processes of this machine)"
    )
    parser.add_argument(
        "--cluster", choices=("slurm", "lsf"), help="workers are jobs of this batch system (needs dask-jobqueue)"
    )
    parser.add_argument(
        "--cluster-settings",
        type=Path,
        metavar="TOML",
        help="TOML file with queue, memory, walltime and the like of its jobs",
    )
    parser.add_argument(
        "--listen",
        default=LOOPBACK,
        metavar="HOST",
        help=f"address of a scheduler started here, for workers elsewhere (default: {LOOPBACK}, without any)",
    )
    credentials_options(parser)


def credentials_options(parser: argparse._ActionsContainer) -> None:
    """Add the options that say who may play on a cluster: whoever can read the file of its credentials."""
    path = BUILD_ROOT / FILE_NAME
    about = (
        f"of a cluster, made by the first that is started; anyone who can read it can run code as you (default: {path})"
    )
    parser.add_argument("--credentials", type=Path, default=path, metavar="FILE", help=about.replace("%", "%%"))
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="no credentials: anyone who can reach the cluster can run code as you",
    )


def check_workers(args: argparse.Namespace) -> None:
    """Check the options that name a cluster, before anything is played.

    Raises:
        InputError: for options that contradict each other, and for settings and credentials that cannot be.
    """
    if not _here(args):
        from nvdla_tb.cli.elsewhere import check

        check(args)


def workers_of(args: argparse.Namespace, scratch: Path) -> AbstractContextManager[Pool]:
    """Return the pool that the options name; a cluster that is started here writes below ``scratch``."""
    if _here(args):
        return local_pool(args.jobs)
    from nvdla_tb.cli.elsewhere import pool_of

    return pool_of(args, scratch)


def _here(args: argparse.Namespace) -> bool:
    """Return whether no other machine takes part."""
    named = args.scheduler, args.cluster, args.cluster_settings
    return named == (None, None, None) and args.listen == LOOPBACK and not args.insecure

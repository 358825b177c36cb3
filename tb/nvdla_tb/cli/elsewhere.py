"""Clusters that a regression plays on: one that runs, one started here for others to join, or a batch system's."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from distributed.security import Security

from nvdla_models.errors import InputError
from nvdla_tb.cli.dut_options import BUILD_ROOT
from nvdla_tb.run import folders
from nvdla_tb.run.regress.batch import Batch, batch_cluster, read_settings
from nvdla_tb.run.regress.cluster import cluster
from nvdla_tb.run.regress.credentials import security_of
from nvdla_tb.run.regress.dask_pool import DaskPool

_JOBS_DIR = "jobs"
"""Folder of results for what jobs of batch systems print."""


def check(args: argparse.Namespace) -> None:
    """Check what the options say of a cluster.

    Raises:
        InputError: for options that contradict each other, and for settings and credentials that cannot be.
    """
    if _batch_of(args) is None:
        _credentials_of(args)


@contextmanager
def pool_of(args: argparse.Namespace, scratch: Path) -> Iterator[DaskPool]:
    """Give the workers of the cluster that the options name."""
    batch = _batch_of(args)
    if batch is not None:
        with batch_cluster(batch) as client:
            yield DaskPool(client)
    else:
        with cluster(args.scheduler, args.jobs, args.listen, scratch, security=_credentials_of(args)) as client:
            yield DaskPool(client)


def _batch_of(args: argparse.Namespace) -> Batch | None:
    """Return the batch system that the options name, or None."""
    if args.cluster is None:
        if args.cluster_settings is not None:
            raise InputError("--cluster-settings must come with --cluster")
        return None
    if args.scheduler is not None:
        raise InputError("--cluster must not come with --scheduler, which is a cluster of its own")
    batch = Batch(args.cluster, args.jobs, args.listen, read_settings(args.cluster_settings))
    batch.arguments()
    security = security_of(None, args.credentials, insecure=args.insecure)
    return replace(batch, security=security, logs=folders.made(BUILD_ROOT.resolve(), _JOBS_DIR))


def _credentials_of(args: argparse.Namespace) -> Security | None:
    """Return the credentials of a cluster that others may join, or that runs already, None for one that wants none.

    Raises:
        InputError: when it wants none although the user does, or the credentials cannot be used.
    """
    security = security_of(args.scheduler, args.credentials, insecure=args.insecure)
    return Security() if security is None and args.scheduler is None else security

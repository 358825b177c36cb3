"""Where clusters listen, and where their credentials lie, unless the user names something else."""

from __future__ import annotations

LOOPBACK = "127.0.0.1"

PORT = 8786
"""Where Dask's own commands look for a scheduler."""

FILE_NAME = "cluster.pem"
"""The file of credentials in the folder of results."""

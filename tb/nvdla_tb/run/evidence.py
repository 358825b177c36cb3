"""What results are evidence of: the device under test with its options, and the testbench, as they are now.

Evidence of another device, of RTL before a change or of an older testbench says nothing of what is there now, so each
result in a store carries the digest of what it was played on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

import msgspec

from nvdla_tb.run.cache import MODELS
from nvdla_tb.run.compile.recipe import recipe_of
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.systems import folders
from nvdla_tb.stimulus.result import Dut

OF_CONTENT = "RTL, configuration, ports, simulator, arguments or testbench"
"""What differs when the content of two results does."""

_OF_SIMULATOR = "+verilator+"
"""Begins arguments that are Verilator's own, such as the states in which levels begin: they select no other device."""

_CODE = (".py", ".toml", ".json", ".v", ".sv", ".cpp", ".h", ".f", ".vlt")


def with_evidence(dut: Dut, plusargs: Sequence[str]) -> Dut:
    """Return a device with the digest of what results on it are evidence of, with the user's plusargs.

    Raises:
        LaunchError: for RTL that cannot be read.
    """
    return msgspec.structs.replace(dut, evidence=evidence_of(dut, plusargs))


def evidence_of(dut: Dut, plusargs: Sequence[str]) -> str:
    """Return the digest of the content of RTL, configuration and ports, of simulator, arguments and testbench.

    Neither names nor places of files count. The testbench's own files do, those of the tests that it brings too.

    Raises:
        LaunchError: for RTL that cannot be read.
    """
    recipe = recipe_of(build_spec(dut, waves=False), MODELS)
    own = [text for text in plusargs if not text.startswith(_OF_SIMULATOR)]
    facts = (recipe.rtl_key, recipe.spec.config, recipe.port_map, dut.simulator, own, _code_key())
    return hashlib.sha256(repr(facts).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def check_unchanged(dut: Dut, plusargs: Sequence[str]) -> None:
    """Check that a device is still what results on it shall be evidence of.

    Raises:
        LaunchError: when it is not.
    """
    if dut.evidence and evidence_of(dut, plusargs) != dut.evidence:
        what = dut.rtl or "the embedded DUT"
        raise LaunchError(f"{what}, its configuration, ports or the testbench has changed since the run was started")


@cache
def _code_key() -> str:
    """Return a digest of the testbench: this process goes on with what it has loaded."""
    digest = hashlib.sha256()
    for folder in folders():
        for path in sorted(path for path in folder.rglob("*") if path.suffix in _CODE):
            digest.update(str(path.relative_to(folder)).encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()

"""Plans by name: those of the testbench, and files."""

from __future__ import annotations

from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import shown
from nvdla_tb.paths import PLANS

_NO_PLAN = "features"
"""The test plan, which lies beside the plans."""


def builtin_plans() -> dict[str, Path]:
    """Return the plans of the testbench, which a name without suffix means."""
    return {path.stem: path for path in sorted(PLANS.glob("*.toml")) if path.stem != _NO_PLAN}


def plan_file(text: str) -> Path:
    """Return the file of a plan: a built-in one for its name, else the file that the text names.

    Raises:
        InputError: for a name that is neither.
    """
    path, known = Path(text), builtin_plans()
    if path.suffix or len(path.parts) > 1:
        return path
    if text not in known:
        raise InputError(f"a plan must be a file, such as mine.toml, or one of {', '.join(known)}, not {shown(text)}")
    return known[text]

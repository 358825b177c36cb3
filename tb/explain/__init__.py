"""From wrong bytes to where, when and why: causes that predict what memory would look like, ranked."""

from tb.explain.evidence import Evidence, from_dumps, from_writes
from tb.explain.rank import Diagnosis, diagnose
from tb.explain.runs import MOST_LAYERS, explain_folder, explain_run, write_page
from tb.explain.text import Explanation, explain

__all__ = [
    "MOST_LAYERS",
    "Diagnosis",
    "Evidence",
    "Explanation",
    "diagnose",
    "explain",
    "explain_folder",
    "explain_run",
    "from_dumps",
    "from_writes",
    "write_page",
]

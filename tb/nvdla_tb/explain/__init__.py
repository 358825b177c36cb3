"""From wrong bytes to where, when and why: causes that predict what memory would look like, ranked."""

from nvdla_tb.explain.evidence import Evidence, from_dumps, from_writes
from nvdla_tb.explain.rank import Diagnosis, diagnose
from nvdla_tb.explain.runs import MOST_LAYERS, explain_run, write_page
from nvdla_tb.explain.text import Explanation, explain

__all__ = [
    "MOST_LAYERS",
    "Diagnosis",
    "Evidence",
    "Explanation",
    "diagnose",
    "explain",
    "explain_run",
    "from_dumps",
    "from_writes",
    "write_page",
]

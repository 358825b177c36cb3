"""From wrong bytes to where, when and why: causes that predict what memory would look like, ranked."""

from tb.explain.evidence import Evidence, from_dumps, from_writes
from tb.explain.rank import Diagnosis, diagnose
from tb.explain.text import Explanation

__all__ = ["Diagnosis", "Evidence", "Explanation", "diagnose", "from_dumps", "from_writes"]

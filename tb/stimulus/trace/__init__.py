"""Traces of the public format and measured layers: read as scenarios, and scenarios written as traces."""

from tb.stimulus.trace.errors import TraceError, TraceUnsupported
from tb.stimulus.trace.files import find_traces
from tb.stimulus.trace.reader import read
from tb.stimulus.trace.writer import write

__all__ = ["TraceError", "TraceUnsupported", "find_traces", "read", "write"]

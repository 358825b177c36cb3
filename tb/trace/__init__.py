"""Traces of the public format and measured layers: read as scenarios, and scenarios written as traces."""

from tb.trace.errors import TraceError, TraceUnsupported
from tb.trace.files import find_traces
from tb.trace.reader import read
from tb.trace.writer import write

__all__ = ["TraceError", "TraceUnsupported", "find_traces", "read", "write"]

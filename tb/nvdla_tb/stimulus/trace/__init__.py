"""Traces of the public format: read as scenarios, and scenarios written as traces."""

from nvdla_tb.stimulus.trace.errors import TraceError, TraceUnsupported
from nvdla_tb.stimulus.trace.files import find_traces
from nvdla_tb.stimulus.trace.reader import read
from nvdla_tb.stimulus.trace.writer import write

__all__ = ["TraceError", "TraceUnsupported", "find_traces", "read", "write"]

"""What language models send: streams of events and lines, their chunks, and the message that they make."""

from ._calls import ToolCall
from ._changes import MessageEvent, changes
from ._config import Config
from ._faults import Fault, MessageError
from ._formats.registry import deltas_for, detect
from ._gates import Gate, GateStatus
from ._message import MessageState, fail, finish, reduce, reduce_chunk, start, starts_another
from ._quirks import Diagnostic, Quirk
from ._stream import MessageStream
from ._wire import (
    NDJSONDecoder,
    SSEDecoder,
    SSEEvent,
    StreamError,
    aiter_lines,
    aiter_sse,
    encode_sse,
    iter_lines,
    iter_sse,
)

__all__ = [
    "Config",
    "Diagnostic",
    "Fault",
    "Gate",
    "GateStatus",
    "MessageError",
    "MessageEvent",
    "MessageState",
    "MessageStream",
    "NDJSONDecoder",
    "Quirk",
    "SSEDecoder",
    "SSEEvent",
    "StreamError",
    "ToolCall",
    "aiter_lines",
    "aiter_sse",
    "changes",
    "deltas_for",
    "detect",
    "encode_sse",
    "fail",
    "finish",
    "iter_lines",
    "iter_sse",
    "reduce",
    "reduce_chunk",
    "start",
    "starts_another",
]

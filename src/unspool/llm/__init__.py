"""What language models send: streams of events and lines, their chunks, and the message that they make."""

from .calls import ToolCall
from .changes import MessageEvent, changes
from .config import Config
from .faults import Fault, MessageError
from .formats.registry import deltas_for, detect
from .gates import Gate, GateStatus
from .message import MessageState, fail, finish, reduce, reduce_chunk, start, starts_another
from .quirks import Diagnostic, Quirk
from .stream import MessageStream

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
    "Quirk",
    "ToolCall",
    "changes",
    "deltas_for",
    "detect",
    "fail",
    "finish",
    "reduce",
    "reduce_chunk",
    "start",
    "starts_another",
]

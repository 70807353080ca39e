"""Messages of language models: streams of chunks, the deltas in them, and the message that they make."""

from ._calls import Gate, GateStatus, ToolCall
from ._changes import (
    ContentAdded,
    ContentValueChanged,
    MessageEvent,
    MessageFinished,
    MessageStarted,
    Noticed,
    ReasoningAdded,
    RefusalAdded,
    ToolArgumentsAdded,
    ToolCallCompleted,
    ToolCallFailed,
    ToolCallStarted,
    UsageCounted,
    changes,
)
from ._config import Config
from ._deltas import (
    BlockEnd,
    Delta,
    Finish,
    Ignored,
    Leaf,
    MessageStart,
    ProviderError,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
    Whole,
)
from ._diagnostics import Diagnostic, Fault, MessageError, Quirk
from ._formats.registry import deltas_for, detect
from ._message import MessageState, fail, finish, reduce, reduce_chunk, start, starts_another
from ._stream import MessageStream

__all__ = [
    "BlockEnd",
    "Config",
    "ContentAdded",
    "ContentValueChanged",
    "Delta",
    "Diagnostic",
    "Fault",
    "Finish",
    "Gate",
    "GateStatus",
    "Ignored",
    "Leaf",
    "MessageError",
    "MessageEvent",
    "MessageFinished",
    "MessageStart",
    "MessageStarted",
    "MessageState",
    "MessageStream",
    "Noticed",
    "ProviderError",
    "Quirk",
    "ReasoningAdded",
    "ReasoningDelta",
    "RefusalAdded",
    "RefusalDelta",
    "TextDelta",
    "ToolArgumentsAdded",
    "ToolCall",
    "ToolCallCompleted",
    "ToolCallDelta",
    "ToolCallFailed",
    "ToolCallStarted",
    "Usage",
    "UsageCounted",
    "Whole",
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

MessageError.__module__ = __name__  # tracebacks show the name that users import

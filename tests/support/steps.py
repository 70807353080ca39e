"""How much work something is: the steps of the interpreter inside the library, whatever else the machine does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unspool

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

LIBRARY = str(Path(unspool.__file__).parent)


def steps(work: Callable[[], object]) -> int:
    """The instructions that `work` runs in the interpreted modules of the library."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count

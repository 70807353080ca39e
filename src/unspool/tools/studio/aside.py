"""Work beside the event loop: in a thread, so that a large document does not block other requests.

Python in a browser has no threads. There the studio has one user, and works between two messages of the page.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HAS_THREADS", "aside"]

P = ParamSpec("P")
R = TypeVar("R")

HAS_THREADS: Final = not hasattr(sys, "_emscripten_info")


async def aside(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call the function in a thread, or at once where there are no threads."""
    if HAS_THREADS:
        return await asyncio.to_thread(function, *args, **kwargs)
    await asyncio.sleep(0)  # a turn of the loop, so that messages of the page are read in between
    return function(*args, **kwargs)

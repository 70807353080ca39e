"""Signatures of one provider inside of another's protocol: tagged texts, which come back with the next request.

A gateway that shows Gemini as Anthropic must get Gemini's signature back. The places are those in which a protocol has
secrets of its own, so that its clients send them back without a look. The tag names the format that the secret belongs
to: it must never reach another provider.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final, NamedTuple

from .._formats.registry import FORMATS
from .._parts import ReasoningPart

if TYPE_CHECKING:
    from .._calls import ToolCall
    from .machine import Step

__all__ = ["Carried", "carried", "secrets_of"]

TAG: Final = "unspool1"
KINDS: Final = ("signature", "encrypted", "bytes")


class Carried(NamedTuple):
    """A secret that came through another protocol: its own format, its kind, and its value."""

    format: str
    kind: str
    """ "signature" or "encrypted"."""
    value: str | bytes


def tagged(format: str, kind: str, value: str | bytes) -> str:
    """Return a secret as a tagged text."""
    if isinstance(value, bytes):
        kind, data = "bytes", value
    else:
        data = value.encode("utf-8", "surrogatepass")
    return f"{TAG}.{format}.{kind}.{base64.urlsafe_b64encode(data).decode('ascii')}"


def carried(text: str) -> Carried | None:
    """Return the secret in a tagged text; None for every other text. Requests to other providers must leave it out.

    >>> carried("unspool1.gemini.signature.c2lnbmVk")
    Carried(format='gemini', kind='signature', value='signed')
    >>> carried("EqQBCkYIBxgCKkD") is None
    True
    """
    words = text.split(".")
    if len(words) != len(Carried._fields) + 1 or words[0] != TAG or words[1] not in FORMATS or words[2] not in KINDS:
        return None
    try:
        data = base64.b64decode(words[3], altchars=b"-_", validate=True)
        if words[2] == "bytes":
            return Carried(words[1], "encrypted", data)
        return Carried(words[1], words[2], data.decode("utf-8", "surrogatepass"))
    except (binascii.Error, ValueError):
        return None


def secrets_of(step: Step, number: int, part: ReasoningPart | ToolCall, most: int = 2) -> list[str]:
    """Return the secrets of a part as tagged texts, and remember them as sent: nothing without `carry`.

    A place for one secret takes the signature first.
    """
    source = step.state.source
    if not step.state.settings.carry or source is None:
        return []
    found: list[str] = []
    signature, secret = part.signature, part.encrypted if isinstance(part, ReasoningPart) else None
    if signature:
        found.append(tagged(source, "signature", signature))
        step.mark(number, ("signature", signature))
    if secret and len(found) < most:
        found.append(tagged(source, "encrypted", secret))
        step.mark(number, ("encrypted", secret))
    return found

"""The former place of `MessageState`, until all importers use `_message`."""

from ._message import MessageState

__all__ = ["MessageState"]

"""The former place of `Fault` and `MessageError`, until all importers use `_diagnostics`."""

from ._diagnostics import Fault, MessageError

__all__ = ["Fault", "MessageError"]

"""The former place of `Diagnostic` and `Quirk`, until all importers use `_diagnostics`."""

from ._diagnostics import Diagnostic, Quirk

__all__ = ["Diagnostic", "Quirk"]

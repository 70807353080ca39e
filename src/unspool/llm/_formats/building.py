"""The former place of this function, until all importers use `chunks`."""

from .chunks import failure

__all__ = ["failure"]

"""The former place of these functions, until all importers use `chunks`."""

from .chunks import get, is_record, says, string

__all__ = ["get", "is_record", "says", "string"]

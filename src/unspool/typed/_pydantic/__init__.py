"""Pydantic types as shapes: `shapes` makes them, out of questions to `schema` and validators from `judge`."""

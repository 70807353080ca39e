"""What pydantic says about a type, piece by piece: `typed/from_pydantic.py` puts shapes together from these."""

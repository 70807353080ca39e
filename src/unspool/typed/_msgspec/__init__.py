"""What msgspec says about a type, piece by piece: `typed/from_msgspec.py` puts shapes together from these."""

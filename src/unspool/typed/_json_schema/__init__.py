"""What a JSON Schema says about a value, keyword by keyword: `typed/from_json_schema.py` puts shapes together."""

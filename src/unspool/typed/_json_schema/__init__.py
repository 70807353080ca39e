"""JSON Schema as shapes: `document` reads a schema, `merge` combines schemas, `shapes` describes values.

`judge` judges closed values, and `problems` finds the reasons.
"""

"""JSON Schema as shapes: `document` reads a schema, `merge` combines schemas, `shapes` and `judge` judge values."""

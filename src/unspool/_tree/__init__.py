"""The immutable tree: nodes, and the fold that grows them."""

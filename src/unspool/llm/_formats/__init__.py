"""Wire formats: one file for each, from a provider's chunk to deltas."""

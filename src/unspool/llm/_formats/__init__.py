"""Wire formats: one file per format, which turns a provider's chunks into deltas."""

"""The other direction: complete snapshots, or leaves with their paths, become fragments of text."""

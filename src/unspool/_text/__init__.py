"""Filters that stand before the reader."""

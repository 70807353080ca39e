"""The studio: a page on loopback that shows a stream while it unspools."""

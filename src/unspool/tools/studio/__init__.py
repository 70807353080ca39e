"""The studio: a page on loopback in which a stream is seen as it unspools."""

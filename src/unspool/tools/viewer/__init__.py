"""Views of a stream while it unspools, for the command and the studio."""

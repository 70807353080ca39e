"""What can be seen of a stream while it unspools: for the command and the studio, built on the public API alone."""

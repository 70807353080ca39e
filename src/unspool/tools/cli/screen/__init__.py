"""What people see in a terminal, drawn with rich, as a function of what was read so far."""

"""Random bytes against everything that always holds: `make fuzz`."""

"""The next request: one file per format, which writes a message as the provider wants it back."""

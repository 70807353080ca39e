"""The `unspool` command."""

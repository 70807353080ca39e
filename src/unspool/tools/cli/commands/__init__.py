"""The commands, one module each; `steps` and `recording` hold a family of them."""

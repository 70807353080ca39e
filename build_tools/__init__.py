"""Code that only the build uses."""

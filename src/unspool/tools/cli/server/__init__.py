"""A recording for the clients of a provider: the server behind `unspool replay --serve`."""

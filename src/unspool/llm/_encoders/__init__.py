"""Encoders: the events of a message in the protocol of a client. One file for each target."""

"""Texts of errors that calls get, the same from C and from Python."""

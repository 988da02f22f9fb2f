"""Wheels of this project: how they are built here, what has to be true of them, and how large they are."""

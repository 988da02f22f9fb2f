"""What callers may catch."""

from __future__ import annotations


class QuickError(RuntimeError):
    """Operators were not built or not registered; those that were there before are as they were. The text says the
    cause and what to do.
    """

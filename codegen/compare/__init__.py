"""What changed between two specs, and what of it breaks callers.

A change is breaking when a call that was right before can fail, mean something else or give something else. `change`
says what one is, `arguments` and `shapes` look at what calls pass, `operators` at everything else of an operator, and
`libraries` at the whole.
"""

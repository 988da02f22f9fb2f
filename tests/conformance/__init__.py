"""A library of small operators, each there for a feature of the language."""

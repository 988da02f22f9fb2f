"""How the names of a spec get their values from the arguments of a call."""

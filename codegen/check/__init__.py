"""Steps from the tree of ops.yaml to the model, each with all errors of its part."""

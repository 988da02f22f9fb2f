"""Whether some test fails when any one check of a generated operator is left out or turned round."""

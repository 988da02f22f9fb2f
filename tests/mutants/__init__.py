"""Whether the tests of the generator notice a change of it: mutants of codegen/, drawn by a fixed seed."""

"""Random specs: mutated ones, ones made up from the language, hostile texts in every field.

    python -m tests.fuzz --count 100000

examines that many. tests/codegen/test_fuzz.py runs a few thousand.
"""

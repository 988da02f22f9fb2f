"""The commands of python -m codegen, one module each. `project` and `report` are what they share: reading a spec, and
saying what is wrong with it to a person or to a program.
"""

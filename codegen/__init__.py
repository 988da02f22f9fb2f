"""Generator of operator libraries for PyTorch: ops.yaml in, C, CUDA entry points, Python and tests out
(python -m codegen).

The steps, in the order in which they run, and the modules that make them up:

    load      YAML to a tree with positions: load
    check     tree to model, every problem reported: check and check_*; reader and fields read nodes, parse_type and
              defaults types, expr_syntax and expr_parse expressions within a scope; names says what may be called
              how, supported refuses what is not built yet, bodies looks for csrc/<op>.c and .cu
    bind      what a call checks and binds, in order: bind and bind_*
    model     what the steps below see: model, contract, launches, rules (positions says where they look), expr
              (expr_fold and expr_value compute), types
    lower     model to final strings, one view for each generated file: lower/; expressions through expr_c, expr_python
              and expr_text, texts of errors through messages and messages_*
    render    views into templates/: render
    write     files that changed, or a diff: write

errors holds what all of them report to, keys every key of the language; schema makes codegen/ops.schema.json of it, for
editors. commands/ are the commands: describe says in words what explain and the documentation print, compare/ what
changed between two specs, edit adds to the text of one. Many operators are checked, lowered and rendered by several
processes: spread; frozen makes the dataclasses cheap.
"""

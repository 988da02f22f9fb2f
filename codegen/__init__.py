"""Generator of operator libraries for PyTorch: ops.yaml in, C, CUDA entry points, Python and tests out
(python -m codegen).

The steps, in the order in which they run, and the modules that make them up:

    load      YAML to a tree with positions: load
    check     tree to model, every problem reported: check/, from check/library.py on; reader and fields read nodes,
              parse_type and defaults types, expr/syntax and expr/parse expressions within a scope, presence what may be
              absent; names and synonyms say what may be called how, bodies looks for csrc/<op>.c and .cu
    bind      what a call checks and binds, in order: bind/, from bind/operator.py on
    model     what the steps below see: model, contract, launches, rules and assignments (positions says where they
              look), expr/tree (expr/fold and expr/value compute), types; elementwise/ derives gradients of formulas
    lower     model to final strings, one view for each generated file: lower/; expressions through expr/c, expr/python
              and expr/text, texts of errors through messages/ under the heads of steps; what follows from the model is
              worked out by autocast, batch, forward_mode, layouts, tags and tolerance; markdown quotes texts on
              pages
    render    views into templates/: render; wrap breaks the lines of Python that became too long
    write     files that changed, or a diff: write

errors holds what all of them report to, keys every key of the language; schema makes codegen/ops.schema.json of it, for
editors. commands/ are the commands: describe/ says in words what explain and the documentation print, compare/ what
changed between two specs, edit adds to the text of one, doctor/ looks at the machine, registered/ at operators that a
library has registered. Many operators are checked,
lowered and rendered by several processes: spread; frozen makes the dataclasses cheap.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - its grammar lacks what the modules are written in
    sys.exit("codegen needs Python 3.10 or newer, and this is {}.{}".format(*sys.version_info))

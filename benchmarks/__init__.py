"""What my_ops costs and how fast it is, measured beside the alternatives in one run.

    python -m benchmarks [build quick generate call direct cpu size elementwise models cuda triton operators]
                         [--device cpu|cuda] [--quick] [--dry-run]
    python -m benchmarks operators [--operators A,B] [--peers A,B] [--shapes A,B] [--budget SECONDS] [--missing]

Each group of figures is a module of that name with a function `measure`, and says what it measures and how. Common
rules: everything that is compared runs in one process and in turns (one repeat of each, then the next repeat of each),
so that a machine that slows down does so for all; a figure is a median and its quartiles; a ratio is the median of the
ratios of neighbouring repeats. Results go to benchmarks/results/: one JSON file per machine, and a table. The group
operators alone differs: there each peer has processes of its own, and runs are merged (operators/__init__.py).
"""

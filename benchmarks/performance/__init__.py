"""What the operators' results say, held against targets, in tables and drawings.

    python -m benchmarks.performance           write docs/performance.md and what belongs to it
    python -m benchmarks.performance --check   fail where that is not what the results say
    python -m benchmarks.performance FILE...   first merge results files from elsewhere

No PyTorch is needed; matplotlib draws.
"""

"""Stands in for the direct module, _C.abi3.so, where there is none or Python does not load it: its import says why."""

import sysconfig
from pathlib import Path

if Path(__file__).with_name("_C.abi3.so").exists():
    _why = f"this Python, {sysconfig.get_config_var('SOABI')}, loads no module of the stable ABI: use one that does"
else:
    _why = (
        "it was left out when my_ops was built, since Python.h was missing or the build was for another processor: "
        "install Python's headers (python3-dev) and build again"
    )
raise ImportError(f"my_ops._C, the direct calls, is not there: {_why}. All else of my_ops works without it.")

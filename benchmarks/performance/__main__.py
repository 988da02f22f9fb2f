"""The command line of this folder."""

import argparse
import sys
from pathlib import Path

from . import page, store


def main() -> int:
    parser = argparse.ArgumentParser(prog=page.COMMAND, description=f"Write {page.PAGE} from results.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="results to merge before, by their names")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where something is stale")
    arguments = parser.parse_args()
    if arguments.check and arguments.files:
        parser.error("--check merges nothing")
    missing = [path for path in arguments.files if not path.is_file()]
    if missing:
        parser.error(f"no file {missing[0]}")
    if arguments.check:
        stale = page.stale()
        for name in stale:
            print(f"{name} is not what benchmarks/results/operators says: {page.COMMAND}", file=sys.stderr)
        return 1 if stale else 0
    for path in arguments.files:
        store.merge_into(store.FOLDER / path.name, store.read(path))
    try:
        page.write()
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

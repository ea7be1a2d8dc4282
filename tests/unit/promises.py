#!/usr/bin/env python3
"""promises.py FOLDER BUILD: every promise of docs/security.md names a test that exists."""
import pathlib
import re
import subprocess
import sys


def promises(text):
    """(promise, tests) of each row of a table whose head is "promise"."""
    held = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            held = False
        elif cells[0] == "promise":
            held = True
        elif held and not set(cells[0]) <= {"-"}:
            yield cells[0], re.findall("`([a-z0-9_]+/[a-z0-9_]+)`", cells[-1])


def main():
    folder, build = pathlib.Path(sys.argv[1]), sys.argv[2]
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True, check=True).stdout
    tests = set(re.findall(r"Test +#\d+: (\S+)", listed))
    rows = list(promises((folder / "docs/security.md").read_text()))
    wrong = [f"no test is named: {promise}" for promise, named in rows if not named]
    wrong += [f"there is no test {name}: {promise}" for promise, named in rows for name in named if name not in tests]
    print(*wrong, f"{len(rows)} promises, {len(wrong)} without a test that exists", sep="\n")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""exports.py FOLDER LIBRARY...: each library shows exactly the functions that the headers of the folder declare."""
import pathlib
import re
import subprocess
import sys


def declared(folder):
    text = "".join(header.read_text() for header in sorted(pathlib.Path(folder).glob("*.h")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    return set(re.findall(r"\b(cugen_\w+)\s*\(", text))


def shown(library):
    kind = ["-D"] if ".so" in library else []
    command = ["nm", *kind, "-g", "--defined-only", library]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in output.stdout.splitlines() if len(line.split()) == 3}


def main():
    wanted, wrong = declared(sys.argv[1]), 0
    if not wanted:
        sys.exit("no function found in the headers")
    for library in sys.argv[2:]:
        found = shown(library)
        for name in sorted(wanted - found):
            print(f"{library}: {name} is declared but not there")
        for name in sorted(found - wanted):
            print(f"{library}: {name} is shown but not declared")
        wrong += found != wanted
    print(f"{len(wanted)} functions declared")
    return 1 if wrong else 0


sys.exit(main())

#!/usr/bin/env python3
"""run.py MODULES ARGUMENTS...: runs Python with these arguments, the first one that has the modules ("numpy,mypy"): this one or the system's.
Without one it prints why and exits with 77."""
import os
import subprocess
import sys


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def main():
    module, arguments = sys.argv[1], sys.argv[2:]
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        if os.path.exists(python) and has(python, module):
            os.execv(python, [python, *arguments])
    print(f"skipped: no Python here has {module} (pip; on Debian and Ubuntu python3-numpy, mypy)")
    sys.exit(77)


main()

#!/usr/bin/env python3
"""conformance.py TEST...: runs the C tests of the cache on a PostgreSQL server. What is about the file, or changes tables with SQLite's SQL, they
skip; the rest holds of any engine."""
import os
import re
import subprocess
import sys

from server import Server


def main():
    failed = 0
    with Server(options=["fsync=off"]) as server:
        for test in sys.argv[1:]:
            environment = dict(os.environ, CUGEN_TEST_CACHE=server.address())
            done = subprocess.run([test], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            passed = re.search(r"\[  PASSED  \] (\d+) test", done.stdout)
            count = int(passed.group(1)) if passed else 0
            print(f"{os.path.basename(test)}: {count} passed, {done.stdout.count('SKIPPED ] ') // 2} about SQLite alone")
            if done.returncode or not count:
                failed = 1
                print(done.stdout)
    return failed


sys.exit(main())

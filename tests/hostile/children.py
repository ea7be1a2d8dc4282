#!/usr/bin/env python3
"""children.py COMMAND...: runs it, as the process that orphans come to, and says whether one of its processes outlives it."""
import ctypes
import os
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
print("exit code", subprocess.run(sys.argv[1:]).returncode, flush=True)
end = time.monotonic() + 20
while True:
    try:
        gone, _ = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print("none is left")
        break
    if not gone and time.monotonic() > end:
        print("some are left:", open(f"/proc/self/task/{os.getpid()}/children").read())
        break
    if not gone:
        time.sleep(0.05)

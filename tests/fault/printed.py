#!/usr/bin/env python3
"""printed.py BUILD LIBRARY: runs commands of which one allocation fails (LIBRARY, fake_memory.c): each of the first 4,000, or one of so
many as COMMANDS says. A command that ends with 0 prints no fewer lines than without a failure."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1]).resolve() / "cugen"
TURN = "docs/examples/turn/turn"
COMMANDS = {  # and the step from one allocation that fails to the next
    "devices": 1,
    "devices --json": 2,
    f"new {TURN}.cu --json": 1,
    f"show {TURN}.lua --device model:H200 --json": 37,
    f"space {TURN}.lua --device model:H200": 53,
    f"layout {TURN}.lua --device model:H200": 61,
}
OUT_OF_MEMORY = 12
AFTER = 24  # runs without a failure behind the last allocation


def run(command, **environment):
    return subprocess.run([PROGRAM, *command.split()], cwd=ROOT, env=dict(os.environ, CUGEN_CACHE="none", **environment),
                          capture_output=True, text=True, check=False)


def lost(command, step):
    """Returns the numbers of the allocations whose failure nobody noticed, though something is missing."""
    whole = run(command)
    assert whole.returncode == 0 and whole.stdout, whole
    found, number, same, failures = [], 0, 0, 0
    while same < AFTER and number < 4000:
        failed = run(command, LD_PRELOAD=sys.argv[2], FAIL_ALLOCATION=str(number))
        if failed.returncode == 0 and len(failed.stdout.splitlines()) < len(whole.stdout.splitlines()):
            found.append(number)
        failures += failed.returncode == OUT_OF_MEMORY
        same = same + 1 if failed.returncode == 0 else 0
        number += step
    assert failures, f"{command}: no allocation failed"
    return found


def main():
    problems = {command: found for command, step in COMMANDS.items() if (found := lost(command, step))}
    for command, found in problems.items():
        print(f"WRONG: cugen {command} prints less, and ends with 0, when these allocations fail: {found}")
    return bool(problems)


sys.exit(main())

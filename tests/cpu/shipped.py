#!/usr/bin/env python3
"""shipped.py CUGEN: `cugen check` of all that ships finds nothing, and the variants that it has run take every branch of every
template, by the rule of tests/golden/coverage.py."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
from coverage import expanded_lines, points_reached  # noqa: E402

NOT_HERE_TEMPLATES = ("_reference",)  # they run, but are not what is checked
NOT_HERE_BRANCHES = {"templates/lib/mma.cuh": "m16n8k${f64_k}"}  # of sm_90


def not_here(name, line):
    """The branch is one that the device has not: its instruction stands in this line or the three before."""
    text = NOT_HERE_BRANCHES.get(name)
    lines = (ROOT / name).read_text().splitlines()[max(line - 4, 0):line]
    return any(part in name for part in NOT_HERE_TEMPLATES) or text and any(text in one for one in lines)


def expand(cugen, kernel, ran):
    settings = [word for setting in ran["problem"].split() for word in ("-s", setting)]
    run = subprocess.run([cugen, "gen", kernel, "-d", "cpu", "--cache", "none", "--variant", ran["variant"], *settings],
                         capture_output=True, text=True, check=True, timeout=600)
    return expanded_lines(run.stdout)


def main():
    cugen = sys.argv[1]
    run = subprocess.run([cugen, "check", "--cache", "none", "--json", "-q", "--no-traffic"], capture_output=True, text=True, check=False)
    print(run.stderr, end="")
    kernels = json.loads(run.stdout).get("kernels", [])
    failed, cases = run.returncode != 0 or not kernels, {}
    for kernel in kernels:
        print(f"{kernel['kernel']}: {kernel['variants']} variants, {kernel['problems']} problems, {kernel['runs']} runs, {kernel['seconds']:.1f} s")
        for finding in kernel["findings"]:
            print(f"  {finding['file']}:{finding['line']}: {finding['kind']}: {finding['message']}\n    {finding['variant']}; {finding['problem']}")
        for skip in kernel["not_checked"]:
            print(f"  not checked: {skip['what']}: {skip['why']}")
            failed = True
        for ran in kernel["ran"]:
            cases[kernel["kernel"], ran["variant"], ran["problem"]] = expand(cugen, kernel["kernel"], ran)
    for (name, line, out), by in points_reached(ROOT, cases).items():
        if by or not_here(name, line):
            continue
        failed = True
        print(f"{name}:{line}: {'not in any' if out else 'in every'} variant that `cugen check` of all that ships has run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

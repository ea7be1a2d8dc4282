#!/usr/bin/env python3
"""What exploring while serving costs and gains, by simulation: the sets of a file of wisdom, with the times recorded there.

    tools/bench/explore.py WISDOM[.xz] [BENCH]        (BENCH: build/bench_explore)

A set is a kernel, problem and device. Its fastest records are what a plan chooses from; in the application each takes another time
(see tools/bench/explore.c)."""
import json
import lzma
import subprocess
import sys

LAUNCHES = 10000


def sets(path):
    found = {}
    opened = lzma.open if path.endswith(".xz") else open
    with opened(path, "rt") as file:
        for line in file:
            record = json.loads(line)
            if record.get("outcome") != 0 or "variant" not in record:
                continue
            key = tuple(record[name] for name in ("device", "config", "problem", "options"))
            found.setdefault(key, []).append(record["seconds"])
    return [sorted(times) for times in found.values() if len(times) > 1]


def main():
    bench = sys.argv[2] if len(sys.argv) > 2 else "build/bench_explore"
    lines = "".join(" ".join(map(repr, times[:64])) + "\n" for times in sets(sys.argv[1]))
    print(f"{len(lines.splitlines())} sets, 20 draws each, {LAUNCHES} launches; all in %, over the fastest there")
    print(" share change noise   tuned  worst  explor  worst  in end  chang settled   used  open")
    for change in (0, 0.02, 0.05, 0.10, 0.20):
        for noise in (0.01, 0.05):
            for share in (0.01, 0.05, 0.20):
                done = subprocess.run([bench, "simulate", str(LAUNCHES), str(share), str(change), str(noise)],
                                      input=lines, capture_output=True, text=True, check=True)
                print(done.stdout, end="", flush=True)


if __name__ == "__main__":
    main()

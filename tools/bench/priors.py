#!/usr/bin/env python3
"""priors.py HUB [--seeds 10] [--pairs REGEX] [--build build]: what a prior is worth on recorded spaces of AutoTuningAssociation/benchmark_hub, of
which HUB is a clone. Of each pair of GPUs the first is tuned without a prior, with the best of the second (bench_replay --prior), and with
one that contradicts: the first one's own slowest. For each: the score, and the median of the variants until one is within 5 % of the optimum."""
import argparse
import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from replay_hub import MILO, OLD, git

NVIDIA = ["A100", "A4000", "A6000"]
PAIRS = [(MILO, kernel, to, of) for kernel in ("convolution", "dedispersion") for to in NVIDIA for of in NVIDIA if to != of]
PAIRS += [(MILO, "dedispersion", "A100", "MI250X"), (MILO, "dedispersion", "W7800", "W6600"), (OLD, "gemm", "3090", "2080_Ti"),
          (OLD, "pnpoly", "3090", "2080_Ti")]


def read(options, pattern, kernel, device):
    return json.loads(gzip.decompress(git(options.hub, "show", "HEAD:" + pattern.format(kernel, device))))


def reverse(space):
    """Times turned over: the slowest variant is the best."""
    for one in space["cache"].values():
        if not isinstance(one["time"], str) and one["time"] < 1e20:
            one["time"] = 1 / one["time"]
    return space


def best_time(space):
    return min(one["time"] for one in space["cache"].values() if not isinstance(one["time"], str)) / 1e3


def tries(run, enough):
    """How many until one is good enough; all of them and more, where none is."""
    for count, one in enumerate(run["tried"], 1):
        if one["seconds"] and one["seconds"] <= enough:
            return count
    return float("inf")


def replay(options, space, prior, enough):
    runs = space + ".runs"
    command = [options.build + "/bench_replay", space, "--json", "--seeds", str(options.seeds), "-o", runs]
    done = subprocess.run(command + (["--prior", prior] if prior else []), check=True, capture_output=True)
    score = json.loads(done.stdout)["spaces"][0]["strategies"][0]["score"]
    with open(runs, encoding="utf-8") as file:
        counts = [tries(json.loads(line), enough) for line in file]
    return score, statistics.median(counts)


def score_pair(options, folder, pattern, kernel, to, of):
    space = read(options, pattern, kernel, to)
    enough = 1.05 * best_time(space)

    def write(name, content):
        path = os.path.join(folder, name + ".json")
        pathlib.Path(path).write_text(json.dumps(content), encoding="utf-8")
        return path

    path, prior = write("space", space), write("prior", read(options, pattern, kernel, of))
    return [replay(options, path, one, enough) for one in (None, prior, write("reversed", reverse(space)))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hub")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--pairs", default="")
    parser.add_argument("--build", default="build")
    options = parser.parse_args()
    commit = git(options.hub, "rev-parse", "--short", "HEAD").decode().strip()
    print(f"seeds {options.seeds}, benchmark_hub {commit}; P, and variants until within 5 % of the optimum")
    print(f"{'space':22s} {'prior':8s} {'without':>14s} {'with':>14s} {'contradicting':>14s}")
    for pattern, kernel, to, of in PAIRS:
        if not re.search(options.pairs, f"{kernel} {to} {of}"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            cells = [f"{score:6.3f} {count:7.0f}" for score, count in score_pair(options, folder, pattern, kernel, to, of)]
        print(f"{kernel + ' ' + to:22s} {of:8s}", *cells, flush=True)


if __name__ == "__main__":
    main()

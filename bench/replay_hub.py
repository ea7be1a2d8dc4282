#!/usr/bin/env python3
"""replay_hub.py HUB [--strategy NAMES] [--in-flight 0,6,34] [--seeds 25] [--build build]: strategies on recorded spaces of
AutoTuningAssociation/benchmark_hub, of which HUB is a clone. Prints a line for each space as soon as it is scored, then the means.

The surrogate's constants were chosen with the first list of spaces. The second was looked at afterwards."""
import argparse
import concurrent.futures
import gzip
import json
import os
import subprocess
import tempfile

MILO = "cachefiles/{}_milo/{}.json.gz"
OLD = "currently_unused/cachefiles/KernelTuner data/{}/RTX_{}.json.gz"
DEVELOPED = [(MILO, "convolution", "A100"), (MILO, "convolution", "MI250X"), (MILO, "dedispersion", "A100"),
             (MILO, "dedispersion", "MI250X"), (MILO, "dedispersion", "W7800"), (OLD, "convolution", "2080_Ti"),
             (OLD, "gemm", "2080_Ti"), (OLD, "pnpoly", "2080_Ti"), (OLD, "pnpoly", "Titan")]
KEPT = [(MILO, "convolution", "A4000"), (MILO, "convolution", "A6000"), (MILO, "dedispersion", "A4000"),
        (MILO, "dedispersion", "A6000"), (MILO, "dedispersion", "W6600"), (OLD, "convolution", "Titan"),
        (OLD, "convolution", "3090"), (OLD, "gemm", "Titan"), (OLD, "gemm", "3090"), (OLD, "pnpoly", "3090")]


def git(hub, *arguments):
    where = "--git-dir=" + hub if os.path.exists(os.path.join(hub, "HEAD")) else "--git-dir=" + os.path.join(hub, ".git")
    return subprocess.run(["git", where, *arguments], check=True, capture_output=True).stdout


def score(options, space):
    """The scores, for each in flight and strategy."""
    pattern, kernel, device = space
    text = gzip.decompress(git(options.hub, "show", "HEAD:" + pattern.format(kernel, device)))
    scores = []
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text)
        file.flush()
        for in_flight in options.in_flight.split(","):
            done = subprocess.run([options.build + "/cugen", "replay", file.name, "--json", "-q", "--strategy",
                                   options.strategy, "--seeds", options.seeds, "--in-flight", in_flight], check=True,
                                  capture_output=True)
            scores += [one["score"] for one in json.loads(done.stdout)["spaces"][0]["strategies"]]
    return scores


def print_row(name, scores):
    print(f"{name:24s}", *(f"{one:14.3f}" for one in scores), flush=True)


def print_means(name, rows):
    print_row("mean of " + name, [sum(column) / len(rows) for column in zip(*rows)])
    print_row("lowest of " + name, [min(column) for column in zip(*rows)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hub")
    parser.add_argument("--strategy", default="surrogate")
    parser.add_argument("--in-flight", default="0,6,34")
    parser.add_argument("--seeds", default="25")
    parser.add_argument("--build", default="build")
    options = parser.parse_args()
    commit = git(options.hub, "rev-parse", "--short", "HEAD").decode().strip()
    print(f"seeds {options.seeds}, benchmark_hub {commit}; P of strategies with so many results in flight")
    strategies = [name for name in ["surrogate", "portfolio", "local", "evolutionary", "random", "exhaustive"]
                  if name in options.strategy.split(",")]
    print(f"{'space':24s}", *(f"{name + ' ' + n:>14s}" for n in options.in_flight.split(",") for name in strategies))
    rows = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for space, scores in zip(DEVELOPED + KEPT, pool.map(lambda one: score(options, one), DEVELOPED + KEPT)):
            print_row(f"{space[1]} {space[2]}", scores)
            rows.append(scores)
    print_means("9 developed with", rows[:len(DEVELOPED)])
    print_means("10 kept aside", rows[len(DEVELOPED):])
    print_means("all 19", rows)


if __name__ == "__main__":
    main()

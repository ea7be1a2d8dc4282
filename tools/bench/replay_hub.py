#!/usr/bin/env python3
"""replay_hub.py HUB [--strategy NAMES] [--in-flight 0,6,34] [--seeds 25] [--spaces REGEX] [--build build]: strategies on
recorded spaces of AutoTuningAssociation/benchmark_hub, of which HUB is a clone. Prints a line for each space as soon as it is scored,
then the means. --spaces "dedispersion|A100" takes those whose name it matches.

With --kernel-tuner NAMES they are strategies of Kernel Tuner instead, in its own simulation mode, with the same budgets and scored
by the methodology's own package. This needs a Python with kernel_tuner 1.5.0 and autotuning_methodology 1.1.0.

The surrogate's constants were chosen with the first list of spaces. The second was looked at afterwards."""
import argparse
import concurrent.futures
import gzip
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

THREADS = 2
HERE = pathlib.Path(__file__).resolve().parent
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


def replay(options, path, *arguments):
    done = subprocess.run([options.build + "/bench_replay", path, "--json", *arguments], check=True,
                          capture_output=True)
    return json.loads(done.stdout)["spaces"][0]


def score_cugen(options, path):
    """The scores, for each in flight and strategy."""
    scores = []
    for in_flight in options.in_flight.split(","):
        space = replay(options, path, "--strategy", options.strategy, "--seeds", options.seeds, "--in-flight", in_flight)
        scores += [one["score"] for one in space["strategies"]]
    return scores


def score_kernel_tuner(options, path):
    """A strategy that ends with an error has no score."""
    seconds = str(replay(options, path, "--strategy", "random", "--seeds", "1")["budget_seconds"])
    names, scores = options.kernel_tuner.split(","), {}
    for name in names:
        ran = subprocess.run([sys.executable, HERE / "replay_kernel_tuner.py", path, seconds, name, options.seeds],
                             capture_output=True)
        if ran.returncode != 0:
            continue
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as runs:
            runs.write(ran.stdout)
            runs.flush()
            scored = subprocess.run([sys.executable, HERE / "score-runs", path, runs.name], check=True,
                                    capture_output=True, text=True)
        scores[name] = float(scored.stdout.split()[1])
    return [scores.get(name, math.nan) for name in names]


def score(options, space):
    pattern, kernel, device = space
    text = gzip.decompress(git(options.hub, "show", "HEAD:" + pattern.format(kernel, device)))
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text)
        file.flush()
        return (score_kernel_tuner if options.kernel_tuner else score_cugen)(options, file.name)


def print_row(name, scores):
    print(f"{name:24s}", *(f"{one:14.3f}" for one in scores), flush=True)


def print_means(name, rows):
    columns = [[one for one in column if not math.isnan(one)] for column in zip(*rows)]
    print_row("mean of " + name, [sum(column) / len(column) if column else math.nan for column in columns])
    print_row("lowest of " + name, [min(column, default=math.nan) for column in columns])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hub")
    parser.add_argument("--strategy", default="surrogate")
    parser.add_argument("--in-flight", default="0,6,34")
    parser.add_argument("--seeds", default="25")
    parser.add_argument("--spaces", default="")
    parser.add_argument("--build", default="build")
    parser.add_argument("--kernel-tuner", metavar="NAMES")
    options = parser.parse_args()
    commit = git(options.hub, "rev-parse", "--short", "HEAD").decode().strip()
    print(f"seeds {options.seeds}, benchmark_hub {commit}; "
          + ("P of Kernel Tuner's strategies" if options.kernel_tuner else "P of strategies with so many results in flight"))
    strategies = options.strategy.split(",")
    columns = options.kernel_tuner.split(",") if options.kernel_tuner else [
        name + " " + n for n in options.in_flight.split(",") for name in strategies]
    print(f"{'space':24s}", *(f"{name[-22:]:>14s}" for name in columns))
    lists = [[space for space in spaces if re.search(options.spaces, f"{space[1]} {space[2]}")] for spaces in (DEVELOPED, KEPT)]
    chosen, rows = lists[0] + lists[1], []
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for space, scores in zip(chosen, pool.map(lambda one: score(options, one), chosen)):
            print_row(f"{space[1]} {space[2]}", scores)
            rows.append(scores)
    for name, some in [("developed with", rows[:len(lists[0])]), ("kept aside", rows[len(lists[0]):]), ("all", rows)]:
        if some:
            print_means(f"{len(some)} {name}", some)


if __name__ == "__main__":
    main()

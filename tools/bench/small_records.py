#!/usr/bin/env python3
"""How far records of small kernels, made while compilers keep the processors busy, are from quiet ones.

    tools/bench/small_records.py CUGEN [--device ID...] [--variants N] [--quiet RUNS]
                                 [--load PROCESSES]

Tunes problems whose kernels take some 2 to 10 us, N variants each, by a random search with a fixed
seed. The first run goes beside PROCESSES that compile without end; the quiet runs measure the same
variants again. With several devices each problem has one of them in all runs, and the devices work
at the same time. A record is compared with the median of its quiet runs. Prints the number of
records after each quiet run, a line for each record that is more than 15 % off, and a summary. No
Python package is needed.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

PROBLEMS = [
    ("matmul", "M=32 N=32 K=224 dtype=f16"),
    ("matmul", "M=480 N=32 K=8 dtype=bf16"),
    ("matmul", "M=128 N=128 K=128 dtype=f32"),
    ("matmul", "M=256 N=192 K=320 dtype=bf16"),
    ("matmul", "M=16 N=1024 K=512 dtype=f16 layout_b=col"),
    ("transpose", "rows=512 cols=384 batch=1 dtype=f32"),
    ("transpose", "rows=1024 cols=256 batch=1 dtype=bf16"),
    ("transpose", "rows=96 cols=2000 batch=3 dtype=f32"),
]
SOURCE = "template <int N> struct f { enum { v = f<N - 1>::v ^ f<N - 2>::v ^ N }; };\n" \
    "template <> struct f<1> { enum { v = 1 }; }; template <> struct f<0> { enum { v = 0 }; };\n" \
    "int g() { return f<800>::v; }\n"


def tune(options, at, cache, again):
    """The seconds of each variant of a problem that was right, by its text."""
    config, settings = PROBLEMS[at]
    device = options.device[at % len(options.device)]
    command = [options.cugen, "tune", config, "--device", device, "--strategy", "random",
               "--seed", "7", "--budget", str(options.variants), "--patience", "none",
               "--no-library", "--cache", cache, "--json"] + ["--again"] * again
    for setting in settings.split():
        command += ["--set", setting]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: {ended.returncode} {ended.stdout} {ended.stderr}")
    return {record["variant"]: record["seconds"] for record in json.loads(ended.stdout)["records"]
            if record["outcome"] == "ok"}


def tune_all(options, caches, again):
    """The seconds of all problems' variants, by problem; each device has one problem at a time."""
    found = {}

    def work(first):
        for at in range(first, len(PROBLEMS), len(options.device)):
            found[at] = tune(options, at, caches[at], again)

    with ThreadPoolExecutor(len(options.device)) as pool:
        list(pool.map(work, range(len(options.device))))
    return found


def compare(record, runs):
    """(problem, variant, the loud seconds, the quiet ones) of each kernel of 2 to 10 us."""
    for at, variants in record.items():
        for variant, seconds in variants.items():
            again = [run[at][variant] for run in runs if variant in run[at]]
            if len(again) == len(runs) and 2e-6 <= statistics.median(again) <= 10e-6:
                yield PROBLEMS[at], variant, seconds, again


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cugen")
    parser.add_argument("--device", nargs="+", default=["cuda:0"])
    parser.add_argument("--variants", type=int, default=260)
    parser.add_argument("--quiet", type=int, default=5)
    parser.add_argument("--load", type=int, default=16)
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    caches = [os.path.join(folder, f"{at}.db") for at in range(len(PROBLEMS))]
    loop = f"while :; do printf '%s' '{SOURCE}' | g++ -x c++ -S -o /dev/null - ; done"
    load = [subprocess.Popen(["sh", "-c", loop], start_new_session=True)
            for _ in range(options.load)]
    begin = time.monotonic()
    try:
        loud = tune_all(options, caches, False)
    finally:
        for process in load:
            os.killpg(process.pid, signal.SIGKILL)
    print(f"beside {options.load} compilers: {time.monotonic() - begin:.0f} s", flush=True)
    quiet = []
    for _ in range(options.quiet):
        quiet.append(tune_all(options, caches, True))
        far = [abs(seconds / statistics.median(again) - 1) > 0.15
               for _, _, seconds, again in compare(loud, quiet)]
        print(f"quiet run {len(quiet)}: {len(far)} records of 2 to 10 us, {sum(far)} more than "
              f"15 % off, {time.monotonic() - begin:.0f} s", flush=True)
    shutil.rmtree(folder)
    ratios, quiet_ratios = [], []
    for (config, settings), variant, seconds, again in compare(loud, quiet):
        middle = statistics.median(again)
        ratios.append(seconds / middle)
        quiet_ratios += [one / middle for one in again]
        if abs(seconds / middle - 1) > 0.15:
            print(f"{config} {settings}: {variant}: {seconds * 1e6:.2f} us, quiet "
                  + " ".join(f"{one * 1e6:.2f}" for one in again))
    for name, values in ("loud", ratios), ("quiet", quiet_ratios):
        if not values:
            continue
        off = sum(abs(value - 1) > 0.15 for value in values)
        print(f"{name}: {len(values)} records of 2 to 10 us, {off} more than 15 % off, "
              f"least {min(values):.3f}, most {max(values):.3f}")
    print(f"{time.monotonic() - begin:.0f} s in all")


if __name__ == "__main__":
    main()

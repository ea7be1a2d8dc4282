#!/usr/bin/env python3
"""How far records of small kernels, made while compilers keep the processors busy, are from quiet ones.

    tools/bench/small_records.py CUGEN [--device ID] [--variants N] [--quiet RUNS] [--load PROCESSES]

Tunes problems whose kernels take some 2 to 10 us, N variants each, by a random search with a fixed
seed. The first run goes beside PROCESSES that compile without end; the quiet runs measure the same
variants again. A record is compared with the median of its quiet runs. Prints a line for each
record that is more than 15 % off, and a summary. No Python package is needed.
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


def tune(options, config, settings, cache, again):
    """The seconds of each variant that was right, by its text."""
    command = [options.cugen, "tune", config, "--device", options.device, "--strategy", "random",
               "--seed", "7", "--budget", str(options.variants), "--patience", "none",
               "--no-library", "--cache", cache, "--json"] + ["--again"] * again
    for setting in settings.split():
        command += ["--set", setting]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: {ended.returncode} {ended.stdout} {ended.stderr}")
    return {record["variant"]: record["seconds"] for record in json.loads(ended.stdout)["records"]
            if record["outcome"] == "ok"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cugen")
    parser.add_argument("--device", default="cuda:0")
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
        loud = [tune(options, *problem, cache, False) for problem, cache in zip(PROBLEMS, caches)]
    finally:
        for process in load:
            os.killpg(process.pid, signal.SIGKILL)
    print(f"beside {options.load} compilers: {time.monotonic() - begin:.0f} s", flush=True)
    quiet = [[tune(options, *problem, cache, True) for _ in range(options.quiet)]
             for problem, cache in zip(PROBLEMS, caches)]
    shutil.rmtree(folder)
    ratios, quiet_ratios = [], []
    for (config, settings), record, runs in zip(PROBLEMS, loud, quiet):
        for variant, seconds in record.items():
            again = [run[variant] for run in runs if variant in run]
            if len(again) < options.quiet or not 2e-6 <= statistics.median(again) <= 10e-6:
                continue
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

#!/usr/bin/env python3
"""predict.py BUILD OUTPUT model:A100,model:RTX4090 [--seconds 80] [--sizes 28] [--jobs 1] [--threads 2] [--only NAMES] [--ship FOLDER]: portfolios of GPUs that
nobody has measured, learnt from what the model predicts.

For each of them and each class of bench/run_portfolios.py, but copies, `cugen tune --device model:... --portfolio 8` predicts random sizes; --jobs run side by side. OUTPUT
gets NAME-GPU/cache.db with all predictions, beside its log. --ship writes NAME-GPU.txt of those that are better than the config alone: portfolios/ is made so, for GPUs that have
no measured one of their compute capability. What ships had 60 s and 28 sizes a class, f32 products 200 s and 48. Nothing runs on a GPU."""
import argparse
import concurrent.futures
import os
import pathlib
import random
import subprocess

import portfolio
from learn_portfolios import REACH, ROOT, words_of
from run_portfolios import BF16, FAMILIES

KERNELS = "8"
# What does not ship: by predictions alone the config's suggestion was as good or better on an H200 (bench/predicted.py), and of 8-bit floats these GPUs have no tensor cores.
LEFT_TO_CONFIG = ("filter-f32", "reduce-all-f32", "reduce-all-f16")
NO_TENSOR_CORES = {"matmul-e4m3-nt": ("model:T4", "model:A100", "model:RTX3090")}
SEED = 7
LATE = 60 # seconds more than 1.6 times the budget: then it is stopped


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("devices")
    parser.add_argument("--seconds", type=float, default=80, help="of each class and GPU")
    parser.add_argument("--sizes", type=int, default=28)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2, help="of each job")
    parser.add_argument("--only", default="", help="these classes: matmul-f32,sum-f32")
    parser.add_argument("--ship", type=pathlib.Path)
    return parser.parse_args()


def learn(given, name, words, device):
    """What the run said last; its folder has the portfolio."""
    parsed = portfolio.options(["-", *words])
    folder = given.output / f"{name}-{device.split(':')[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    problems = portfolio.draw(parsed, given.sizes, random.Random(SEED), [])
    (folder / "problems").write_text("".join(" ".join(f"{key}={value}" for key, value in one.items()) + "\n" for one in problems), encoding="utf-8")
    command = [str(given.build.resolve() / "cugen"), "tune", parsed.config, "--device", device, *(word for one in parsed.set for word in ("--set", one)),
               "--problems", str(folder / "problems"), "--portfolio", KERNELS, "--budget", f"{given.seconds}s", "--verify", "none", "--threads",
               str(given.threads), "--top", "0", "--cache", str(folder / "cache.db")]
    with open(folder / "log", "w", encoding="utf-8") as log:
        try:
            subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False, timeout=1.6 * given.seconds + LATE,
                           env=dict(os.environ, XDG_STATE_HOME=str(folder / "state")))
        except subprocess.TimeoutExpired:
            log.write("stopped: it took too long\n")
    return [line for line in (folder / "log").read_text(encoding="utf-8").splitlines() if line.startswith(("On these", "Tried", "cugen:", "stopped"))]


def ship(given, name, folder):
    _, classes = words_of(name)
    words = [word for one in classes for word in ("--class", one)] + ([] if name.startswith("matmul") else ["--reach", str(REACH)])
    done = subprocess.run([str(ROOT / "tools/ship-portfolio"), str(folder / "cache.db"), name, "--folder", str(given.ship), *words],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"  {done.stdout.strip()}", flush=True)


def main():
    given = options()
    only = given.only.split(",") if given.only else []
    jobs = [(name, words, device) for device in given.devices.split(",") for name, _, words in [BF16, *FAMILIES]
            if not name.startswith("copy") and (not only or name in only)]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for (name, _, device), said in zip(jobs, pool.map(lambda job: learn(given, *job), jobs)):
            print(name, device, *said, flush=True)
            if given.ship and name not in LEFT_TO_CONFIG and device not in NO_TENSOR_CORES.get(name, ()):
                ship(given, name, given.output / f"{name}-{device.split(':')[1]}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""predict.py BUILD OUTPUT model:A100,model:RTX4090 [--seconds 80] [--sizes 28] [--jobs 1] [--threads 2] [--only NAMES] [--ship FOLDER]: portfolios of GPUs that
nobody has measured, learnt from what the model predicts.

For each of them and each class of tools/bench/run_portfolios.py, but copies, `cugen tune --device model:... --portfolio 8` predicts random sizes; --jobs run side by side. OUTPUT
gets NAME-GPU/cache.db with all predictions, beside its log; --seconds 0 goes on with what is there. --ship writes NAME-GPU.txt of each that is faster than the config alone by the model, on those sizes: portfolios/
is made so, for GPUs that have no measured one of their compute capability. Nothing runs on a GPU."""
import argparse
import concurrent.futures
import math
import os
import pathlib
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import portfolio
from learn_portfolios import ROOT, read_records, untuned, words_of, write_file
from predicted import Portfolio
from run_portfolios import BF16, FAMILIES

KERNELS = "8"
REACH = "256" # times the largest size that was learnt from: beyond, a config suggests what was fast on an H200, which may not fit another GPU
# What does not ship: by predictions alone the config's suggestion was as good or better on an H200 (tools/bench/predicted.py), and of 8-bit floats these GPUs have no tensor cores.
LEFT_TO_CONFIG = ("filter-f32", "reduce-all-f32", "reduce-all-f16")
NO_TENSOR_CORES = {"matmul-e4m3-nt": ("model:T4", "model:A100", "model:RTX3090")}
SEED = 7
BETTER = 0.99 # times the config alone: what is not better does not ship
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


def is_learnt(given, parsed, folder, device):
    """Whether the portfolio is there, and of sizes that all have a variant."""
    if given.seconds == 0:
        return (folder / "cache.db").is_file()
    folder.mkdir(parents=True, exist_ok=True)
    problems = portfolio.draw(parsed, given.sizes, random.Random(SEED), [])
    (folder / "problems").write_text("".join(" ".join(f"{key}={value}" for key, value in one.items()) + "\n" for one in problems), encoding="utf-8")
    with open(folder / "log", "w", encoding="utf-8") as log:
        try:
            return tune(given, parsed, folder, device, log, folder / "problems", "--portfolio", KERNELS, "--budget", f"{given.seconds}s") == 0
        except subprocess.TimeoutExpired:
            log.write("stopped: it took too long\n")
            return False


def tune(given, parsed, folder, device, log, problems, *words):
    command = [str(given.build.resolve() / "cugen"), "tune", parsed.config, "--device", device, *(word for one in parsed.set for word in ("--set", one)),
               "--problems", str(problems), "--verify", "none", "--threads", str(given.threads), "--top", "0", "--cache", str(folder / "cache.db"), *words]
    return subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False, timeout=1.6 * given.seconds + LATE,
                          env=dict(os.environ, XDG_STATE_HOME=str(folder / "state"))).returncode


def against_config(given, parsed, folder, device, configs):
    """The portfolio's time by the config's suggestion, of each problem of which both are predicted."""
    rule, times = Portfolio(folder / "cache.db"), read_records(folder / "cache.db")
    alone = {problem: untuned(given.build.resolve() / "cugen", device, configs / f"{parsed.config}.lua", problem) for problem in times}
    missing = {}
    for problem, variant in alone.items():
        if variant and variant not in times[problem]:
            missing.setdefault(variant, []).append(problem)
    for variant, problems in missing.items():
        (folder / "alone").write_text("".join(f"{problem}\n" for problem in problems), encoding="utf-8")
        tune(given, parsed, folder, device, subprocess.DEVNULL, folder / "alone", "--variant", variant, "--budget", "none")
    times = read_records(folder / "cache.db")
    ratios = []
    for problem, found in times.items():
        named = next((variant for variant in rule.order(problem) if variant in found), None)
        if named and alone.get(problem) in found:
            ratios.append(found[named] / found[alone[problem]])
    return ratios


def learn(given, configs, name, words, device):
    """The folder, and what is to be said of it; None: there is nothing to ship."""
    parsed = portfolio.options(["-", *words])
    folder = given.output / f"{name}-{device.split(':')[1]}"
    if not is_learnt(given, parsed, folder, device):
        return None, "not learnt, or not for all sizes: see its log"
    try:
        ratios = against_config(given, parsed, folder, device, configs)
    except (StopIteration, ValueError, sqlite3.Error) as error:
        return None, f"no portfolio: {error}"
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else 1
    said = f"{mean:.3f} times the config's suggestion by the model, at worst {max(ratios, default=1):.2f}, of {len(ratios)} sizes"
    return folder if mean < BETTER else None, said


def read_jobs(given):
    families = [(name, words) for name, _, words in [BF16, *FAMILIES] if not name.startswith("copy")]
    only = given.only.split(",") if given.only else [name for name, _ in families]
    unknown = [name for name in only if name not in dict(families)]
    strange = [device for device in given.devices.split(",") if not re.fullmatch(r"model:\w+", device)]
    if unknown or strange:
        sys.exit(f"{unknown[0]}: no class of tools/bench/run_portfolios.py" if unknown else f"{strange[0]}: a described GPU is expected, such as model:A100")
    return [(name, words, device) for device in given.devices.split(",") for name, words in families if name in only]


def main():
    given = options()
    jobs = read_jobs(given)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        configs = pathlib.Path(shutil.copytree(ROOT / "configs", pathlib.Path(scratch) / "configs"))
        for (name, _, device), (folder, said) in zip(jobs, pool.map(lambda job: learn(given, configs, *job), jobs)):
            print(f"{name} {device}: {said}", flush=True)
            if given.ship and folder and name not in LEFT_TO_CONFIG and device not in NO_TENSOR_CORES.get(name, ()):
                print(f"  {write_file(given.ship, name, folder / 'cache.db', words_of(name)[1], ['--reach', REACH])}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""replay_kernel_tuner.py SPACE SECONDS STRATEGY,... SEEDS: Kernel Tuner's strategies on a recorded space (its cache file), in its
own simulation mode. Writes runs as 'bench_replay SPACE -o' does, so that tools/bench/score-runs scores both alike. SECONDS is the
budget that 'bench_replay SPACE --json' prints. It needs kernel_tuner 1.5.0:

    build/bench_replay A100.json --json --strategy surrogate -o runs.jsonl | grep budget_seconds
    tools/bench/replay_kernel_tuner.py A100.json 1050 greedy_ils,genetic_algorithm 10 >>runs.jsonl
    tools/bench/score-runs A100.json runs.jsonl
"""
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import warnings

import kernel_tuner
import numpy
from constraint import FunctionConstraint
from kernel_tuner.runners.simulation import SimulationRunner


WITH_ITERATIONS = ["genetic_algorithm", "pso", "diff_evo", "firefly_algorithm"]


class Visited(set):
    """What was tried, in order."""

    def __init__(self):
        super().__init__()
        self.order = []

    def add(self, key):
        if key not in self:
            self.order.append(key)
        super().add(key)


last = []
opening = SimulationRunner.__init__


def open_runner(self, *arguments, **named):
    opening(self, *arguments, **named)
    self.visited_results = Visited()
    last[:] = [self]


SimulationRunner.__init__ = open_runner


def text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def run(space, path, seconds, strategy, seed):
    """The keys that the strategy tried, in order."""
    random.seed(seed)
    numpy.random.seed(seed)
    names = space["tune_params_keys"]
    wanted = space["cache"]

    def recorded(*values):
        return ",".join(map(str, values)) in wanted

    domains = {name: list(dict.fromkeys(one[name] for one in wanted.values())) for name in names}
    # Defaults, but that no other limit than the budget's ends a run.
    options = {"time_limit": 1.1 * seconds, "max_fevals": len(wanted)}
    if strategy in WITH_ITERATIONS:
        options["maxiter"] = 1000
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        kernel_tuner.tune_kernel(space["kernel_name"], "__global__ void k() {}", (1, 1), [], domains, lang="CUDA",
                                 restrictions=[FunctionConstraint(recorded)],
                                 strategy=strategy, strategy_options=options, cache=path,
                                 simulation_mode=True, quiet=True, block_size_names=["none_x", "none_y", "none_z"])
    return last[0].visited_results.order


def main(path, seconds, strategies, seeds):
    with open(path, encoding="utf-8") as file:
        space = json.load(file)
    names = space["tune_params_keys"]
    wide = [name for name in names if len({text(one[name]) for one in space["cache"].values()}) > 1]
    space["problem_size"] = [1, 1]
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "space.json")
        with open(copy, "w", encoding="utf-8") as file:
            json.dump(space, file)
        for strategy in strategies.split(","):
            for seed in range(1, int(seeds) + 1):
                tried = [{"variant": " ".join(f"{name}={text(space['cache'][key][name])}" for name in wide)}
                         for key in run(space, copy, float(seconds), strategy, seed)]
                print(json.dumps({"file": path, "strategy": strategy, "seed": seed, "tried": tried}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""portfolio.py BUILD [--budget 25m] [--problems 200] [--held-out 20] [...]: how well few kernels serve many sizes, against a bar.

It draws sizes at random (log-uniform), has `cugen tune --portfolio` tune them within the budget, and then tunes other sizes, each for
itself, that the portfolio never saw. There the portfolio's variant, the variant of the nearest tuned problem and the default are timed
beside the best one, in turn, by `cugen run`. Prints a table and what of the bar is met; the exit code is 0 if all of it is.

On a GPU, 40 minutes:       bench/portfolio.py build
A rehearsal without one:    bench/portfolio.py build --config tests/configs/sizes.lua --sizes n --set dtype=f32 --device cpu \
                              --low 64 --high 300000 --problems 12 --held-out 4 --budget none --held-budget none"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

BAR = {"kernels": 8, "tuned_mean": 1.03, "tuned_worst": 1.10, "held_mean": 1.05, "seconds": 1800}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--config", default="matmul")
    parser.add_argument("--set", action="append", default=None, help="of all problems (default: dtype=bf16)")
    parser.add_argument("--sizes", default="M,N,K")
    parser.add_argument("--low", type=int, default=8)
    parser.add_argument("--high", type=int, default=8192)
    parser.add_argument("--mix", action="store_true", help="of three problems one has any sizes, one multiples of 64, one large multiples of 128")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--held-out", type=int, default=20)
    parser.add_argument("--most", type=int, default=BAR["kernels"])
    parser.add_argument("--budget", default="25m")
    parser.add_argument("--held-budget", default=None, help="of all held-out sizes (default: 20 s each)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default=None)
    parser.add_argument("--cache", default=None, help="go on with what was measured before")
    parser.add_argument("--output", default=None, help="keep the table here, too")
    return parser.parse_args()


class Bench:
    def __init__(self, given, folder):
        self.given = given
        self.cugen = os.path.join(given.build, "cugen")
        self.cache = given.cache or os.path.join(folder, "portfolio.db")
        self.shared = [word for setting in given.set or ["dtype=bf16"] for word in ("--set", setting)]
        self.device = ["--device", given.device] if given.device else []
        self.lines = []

    def say(self, text=""):
        print(text, flush=True)
        self.lines.append(text)

    def run(self, *words, check=True):
        cache = [] if "--cache" in words else ["--cache", self.cache]
        command = [self.cugen, *words, *cache, *self.device]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check and done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr}{done.stdout[-2000:]}")
        return done

    def json(self, *words):
        return json.loads(self.run(*words, "--json").stdout)

    def time_of(self, problem, variant):
        """Seconds of the variant; None: it is none there, or it failed."""
        done = self.run("run", self.given.config, *self.shared, *settings(problem), "--variant", variant, "--json",
                        check=False)
        if done.returncode:
            return None
        return json.loads(done.stdout)["record"]["seconds"]

    def is_valid(self, problem, variant):
        return self.run("gen", self.given.config, *self.shared, *settings(problem), "--variant", variant, "-q",
                        check=False).returncode == 0

    def choice(self, problem, *words):
        """What a plan would take now: how, which."""
        answer = self.json("gen", self.given.config, *self.shared, *settings(problem), *words)
        return answer["choice"]["how"], answer["variant"]

    def untuned(self, problem):
        """What it takes where nothing is remembered."""
        answer = self.json("gen", self.given.config, *self.shared, *settings(problem), "--cache", "none")
        return answer["variant"]


def settings(problem):
    return [word for name, value in problem.items() for word in ("--set", f"{name}={value}")]


def draw(given, count, state, known):
    """Sizes that differ from those known, log-uniform; in a mix those of two in three are rounded up to multiples."""
    problems, names = [], given.sizes.split(",")
    while len(problems) < count:
        step, low = [(1, given.low), (64, given.low), (128, 512)][len(problems) % 3] if given.mix else (1, given.low)
        problem = {name: round(math.exp(state.uniform(math.log(low), math.log(given.high)))) for name in names}
        problem = {name: -(-size // step) * step for name, size in problem.items()}
        if problem not in known and problem not in problems:
            problems.append(problem)
    return problems


def write(path, problems):
    path.write_text("".join(" ".join(f"{name}={value}" for name, value in p.items()) + "\n" for p in problems))
    return str(path)


def ask(rule, problem):
    """The rule's answer; it is an expression of configs, of sizes alone."""
    python = re.sub(r"~=", "!=", rule)

    def select(*words):
        for condition, value in zip(words[:-1:2], words[1::2]):
            if condition:
                return value
        return words[-1]

    names = {"select": select, "ceil_div": lambda a, b: -(-a // b), "__builtins__": {}}
    return eval(python, names, dict(problem))  # pylint: disable=eval-used


def serve(bench, portfolio, problem):
    """The variant that the portfolio gives a problem: the rule's, else the first that is valid."""
    variants = [variant["variant"] for variant in portfolio["variants"]]
    says = ask(portfolio["rule"], problem)
    order = [says] + [i for i in range(len(variants)) if i != says]
    return next((variants[i] for i in order if i < len(variants) and bench.is_valid(problem, variants[i])), None)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def tune(bench, problems, folder):
    begin = time.monotonic()
    answer = bench.json("tune", bench.given.config, *bench.shared, "--problems", write(folder / "sizes.txt", problems),
                        "--portfolio", str(bench.given.most), "--budget", bench.given.budget)
    return answer, time.monotonic() - begin


def time_in_turn(bench, problem, variants):
    """The least of three times of each variant, in turn."""
    times = {variant: [] for variant in variants if variant}
    for _ in range(3):
        for variant, seen in times.items():
            seconds = bench.time_of(problem, variant)
            if seconds:
                seen.append(seconds)
    return {variant: min(seen) for variant, seen in times.items() if seen}


def hold_out(bench, portfolio, problems, folder):
    """How much slower than its own best each held-out problem is: by the portfolio, by what a plan takes without it."""
    chosen = [(serve(bench, portfolio, p), *bench.choice(p), bench.untuned(p)) for p in problems]
    budget = bench.given.held_budget or f"{20 * len(problems)}s"
    bench.run("tune", bench.given.config, *bench.shared, "--problems", write(folder / "held.txt", problems),
              "--budget", budget, "-q", check=False)
    rows = []
    for problem, (ours, how, other, untuned) in zip(problems, chosen):
        best = bench.choice(problem)
        if best[0] != "exact":
            bench.say(f"held out {problem}: not one variant came out right")
            continue
        times = time_in_turn(bench, problem, {best[1], ours, other, untuned})
        least = min(times.values())
        rows.append((problem, *(times.get(variant, math.inf) / least for variant in (ours, other, untuned)), how, ours))
    return rows


def percent(ratio):
    return f"{100 * (ratio - 1):.1f} %" if math.isfinite(ratio) else "-"


def print_held(bench, rows):
    bench.say(f"\n{'held out':<32}{'portfolio':>10}{'a plan without':>16}{'empty cache':>13}")
    for problem, ours, other, untuned, how, variant in rows:
        sizes = " ".join(f"{name}={value}" for name, value in problem.items())
        bench.say(f"{sizes:<32}{percent(ours):>10}{percent(other) + ' ' + how:>16}{percent(untuned):>13}  {variant}")


def judge(bench, portfolio, rows, seconds):
    """The table against the bar."""
    held = [row[1] for row in rows]
    without = [row[2] for row in rows if math.isfinite(row[2])]
    figures = [("kernels", len(portfolio["variants"]), BAR["kernels"], str),
               ("tuned sizes, geometric mean", portfolio["mean"], BAR["tuned_mean"], percent),
               ("tuned sizes, worst", portfolio["worst"], BAR["tuned_worst"], percent),
               ("held-out sizes, geometric mean", mean(held), BAR["held_mean"], percent),
               ("tuning, seconds", seconds, BAR["seconds"], lambda value: f"{value:.0f}")]
    good = True
    bench.say(f"\n{'':<34}{'is':>10}{'bar':>10}")
    for name, value, bar, shown in figures:
        met = value is not None and value <= bar
        good = good and met
        bench.say(f"{name:<34}{shown(value):>10}{shown(bar):>10}  {'met' if met else 'NOT MET'}")
    bench.say(f"{'held out, worst':<34}{percent(max(held, default=math.nan)):>10}")
    bench.say(f"{'held out, by cross-validation':<34}{percent(portfolio['held_out_mean'] or math.nan):>10}")
    bench.say(f"{'held out, a plan without it':<34}{percent(mean(without)):>10}")
    untuned = [row[3] for row in rows if math.isfinite(row[3])]
    bench.say(f"{'held out, with an empty cache':<34}{percent(mean(untuned)):>10}, worst {percent(max(untuned, default=math.nan))}")
    return good


def main():
    given = options()
    state = random.Random(given.seed)
    problems = draw(given, given.problems, state, [])
    held = draw(given, given.held_out, state, problems)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bench = Bench(given, name)
        answer, seconds = tune(bench, problems, folder)
        portfolio = answer["portfolios"][0]
        bench.say(f"{given.config} on {portfolio['device']}: {len(problems)} sizes in {seconds:.0f} s, "
                  f"{sum(p['run']['tried'] for p in answer['problems'])} variants measured")
        for i, variant in enumerate(portfolio["variants"]):
            bench.say(f"  {i}: serves {variant['serves']}, loses {percent(variant['mean'] or math.nan)}: {variant['variant']}")
        bench.say(f"  rule: {portfolio['rule']}")
        rows = hold_out(bench, portfolio, held, folder)
        print_held(bench, rows)
        good = judge(bench, portfolio, rows, seconds)
        if given.output:
            pathlib.Path(given.output).write_text("\n".join(bench.lines) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""portfolio.py BUILD [--limit 9m] [--problems 200] [--held-out 20] [...]: how well few kernels serve many sizes, against a bar.

It draws sizes at random (log-uniform). `cugen tune --portfolio` tunes part of them, and then the others, which the portfolio is not learnt
from: there every candidate and a search of their own are measured, too. Printed is what the portfolio loses on both, by the records; and, as
far as the time goes, of the held-out ones timed in turn by `cugen run`, beside what a plan takes with an empty cache. The exit code is 0 if
all of the bar is met.

With --gpus 0,1,2,3 each GPU tunes a part of the sizes, on one cache. --ship NAME writes configs/portfolios/NAME-GPU.txt beside --output, and
--wisdom FILE what was measured: from that all can be learnt again.

Four GPUs, 9 minutes:       tools/bench/portfolio.py build --gpus 0,1,2,3 --mix --held-out 40
A rehearsal without one:    tools/bench/portfolio.py build --config tests/configs/sizes.lua --sizes n:64:300000 --set dtype=f32 --device cpu \
                              --problems 12 --held-out 4 --limit 40"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import queue
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BAR = {"kernels": 8, "tuned_mean": 1.03, "tuned_worst": 1.10, "held_mean": 1.05, "seconds": 1800}


def seconds_of(text):
    units = {"s": 1, "m": 60, "h": 3600}
    return float(text[:-1]) * units[text[-1]] if text[-1] in units else float(text)


def options(words=None):
    """words: None, those of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--config", default="matmul")
    parser.add_argument("--set", action="append", default=[], help="of all problems, such as dtype=bf16")
    parser.add_argument("--sizes", default="M,N,K", help="names, each with its own bounds if it has others, or its values: rows:1:4096,cols,size=3/5/7")
    parser.add_argument("--low", type=int, default=8)
    parser.add_argument("--high", type=int, default=8192)
    parser.add_argument("--most", type=float, default=math.inf, help="of the product of all sizes")
    parser.add_argument("--mix", action="store_true", help="of three problems one has any sizes, one multiples of 64, one large multiples of 128")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--held-out", type=int, default=20)
    parser.add_argument("--kernels", type=int, default=BAR["kernels"])
    parser.add_argument("--limit", type=seconds_of, default=540, help="of the whole run: 90s, 9m")
    parser.add_argument("--shares", default="0.64,0.16", help="of the limit: for the tuned sizes, for the held-out ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default=None)
    parser.add_argument("--gpus", default="", help="numbers, as of CUDA_VISIBLE_DEVICES")
    parser.add_argument("--threads", type=int, default=0, help="compile threads of each GPU (default: the processors by the GPUs)")
    parser.add_argument("--cache", default=None, help="go on with what was measured before")
    parser.add_argument("--output", default=None, help="keep the table here, too")
    parser.add_argument("--ship", default=None, metavar="NAME")
    parser.add_argument("--class", dest="classes", action="append", default=[], help="as of tools/bench/ship-portfolio")
    parser.add_argument("--wisdom", default=None, metavar="FILE")
    return parser.parse_args(words)


class Bench:
    def __init__(self, given, folder):
        self.given = given
        self.begin = time.monotonic()
        self.folder = folder
        self.cugen = os.path.join(given.build, "cugen")
        self.cache = given.cache or str(folder / "portfolio.db")
        self.shared = [word for setting in given.set for word in ("--set", setting)]
        self.gpus = given.gpus.split(",") if given.gpus else [None]
        self.threads = given.threads or max((os.cpu_count() or 1) // len(self.gpus), 1)
        self.lines = []

    def say(self, text=""):
        print(text, flush=True)
        self.lines.append(text)

    def left(self):
        return self.given.limit - (time.monotonic() - self.begin)

    def start(self, gpu, *words, output=subprocess.PIPE, cache=None):
        environment = dict(os.environ, **({"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}))
        device = ["--device", self.given.device] if self.given.device else []
        command = [self.cugen, *words, "--cache", cache or self.cache, *device]
        return subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True, env=environment)

    def run(self, gpu, *words, cache=None):
        """(exit code, what it printed); what takes too long is stopped."""
        process = self.start(gpu, *words, cache=cache)
        try:
            printed, failed = process.communicate(timeout=max(self.left() + 20, 20))
        except subprocess.TimeoutExpired:
            process.kill()
            printed, failed = process.communicate()
        return process.returncode, printed, failed

    def json(self, gpu, *words, cache=None):
        code, printed, failed = self.run(gpu, *words, "--json", cache=cache)
        if code:
            print(f"{' '.join(words)[:200]}: {failed.strip()[:400]}", file=sys.stderr, flush=True)
            return None
        return json.loads(printed)

    def problem(self, problem):
        return [self.given.config, *self.shared, *settings(problem)]

    def has(self, problem, variant):
        """Whether it is a variant there, which compiles nothing."""
        code, _, _ = self.run(None, "gen", *self.problem(problem), "--variant", variant, "-q", "-o", os.devnull)
        return code == 0

    def time_of(self, gpu, problem, variant):
        """Seconds of the variant; None: it is none there, or it failed."""
        answer = self.json(gpu, "run", *self.problem(problem), "--variant", variant)
        return answer["record"]["seconds"] if answer else None

    def untuned(self, gpu, problem):
        """What a plan takes where nothing is remembered."""
        answer = self.json(gpu, "gen", *self.problem(problem), cache="none")
        return answer["variant"] if answer else None


def settings(problem):
    return [word for name, value in problem.items() for word in ("--set", f"{name}={value}")]


def text_of(problem):
    return " ".join(f"{name}={value}" for name, value in problem.items())


def draw_size(part, given, step, least, state):
    """A name and its value."""
    name, *values = part.split("=")
    if values:
        return name, int(state.choice(values[0].split("/")))
    name, *bounds = part.split(":")
    low, high = map(int, bounds) if bounds else (given.low, given.high)
    size = round(math.exp(state.uniform(math.log(min(max(low, least), high)), math.log(high))))
    return name, -(-size // step) * step if high >= step else size


def draw(given, count, state, known):
    """Sizes that differ from those known, log-uniform; in a mix those of two in three are rounded up to multiples."""
    problems = []
    for _ in range(1000 * count):
        if len(problems) == count:
            break
        step, least = [(1, 1), (64, 1), (128, 512)][len(problems) % 3] if given.mix else (1, 1)
        problem = dict(draw_size(part, given, step, least, state) for part in given.sizes.split(","))
        if problem not in known and problem not in problems and math.prod(problem.values()) <= given.most:
            problems.append(problem)
    return problems


def write(path, problems):
    path.write_text("".join(text_of(problem) + "\n" for problem in problems))
    return str(path)


# ---- Measuring ------------------------------------------------------------------------------------------------------


def tune(bench, what, problems, seconds, portfolio=True, late=None):
    """Each GPU its part, side by side; how many variants they tried. Without a portfolio each problem is searched by itself. What is so many
    seconds late is interrupted."""
    running = []
    for i, gpu in enumerate(bench.gpus):
        part = problems[i::len(bench.gpus)]
        if not part:
            continue
        output = open(bench.folder / f"{what}-{i}.json", "w+", encoding="utf-8")
        few = ["--portfolio", str(bench.given.kernels)] if portfolio else []
        process = bench.start(gpu, "tune", bench.given.config, *bench.shared, "--problems", write(bench.folder / f"{what}-{i}.txt", part),
                              *few, "--budget", f"{seconds:.0f}s", "--threads", str(bench.threads), "--json", "-q", output=output)
        running.append((process, output))
    end = time.monotonic() + seconds + (0.15 * seconds + 10 if late is None else late)
    for process, _ in running:
        try:
            process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
    return sum(take_tried(bench, process, output) for process, output in running)


def take_tried(bench, process, output):
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
    failed = process.stderr.read()
    output.seek(0)
    text = output.read()
    if process.wait():
        bench.say(f"cugen tune ended with {process.returncode}: {failed.strip()[-400:]}")
    try:
        return sum(problem["run"]["tried"] for problem in json.loads(text)["problems"])
    except (ValueError, KeyError):
        return 0


def learn(bench, problems):
    answer = bench.json(None, "tune", bench.given.config, *bench.shared, "--problems", write(bench.folder / "tuned.txt", problems),
                        "--portfolio", str(bench.given.kernels), "--budget", "0")
    if not answer:
        sys.exit("nothing could be learnt")
    return answer["portfolios"][0]


def read_records(bench):
    """Of each problem, as cugen prints it in full, the seconds of each variant; infinite: it failed."""
    database = sqlite3.connect(f"file:{bench.cache}?mode=ro", uri=True)
    records = {}
    rows = database.execute("SELECT problem, variant, outcome, seconds FROM record JOIN space ON space.id = space_id WHERE superseded = 0")
    for problem, variant, outcome, seconds in rows:
        records.setdefault(problem, {})[variant] = seconds if outcome == 0 else math.inf
    database.close()
    return records


def find_records(records, problem, given):
    wanted = {f"{name}={value}" for name, value in problem.items()} | set(given.set)
    for text, found in records.items():
        if wanted <= set(text.split()):
            return found
    return {}


# ---- What the rule says ---------------------------------------------------------------------------------------------


def ask(rule, problem):
    """The rule's answer; it is an expression of configs, of sizes alone."""
    python = re.sub(r"~=", "!=", rule)

    def select(*words):
        for condition, value in zip(words[:-1:2], words[1::2]):
            if condition:
                return value
        return words[-1]

    names = {"select": select, "ceil_div": lambda a, b: -(-a // b), "batch": 1, "depth": 1, "__builtins__": {}}
    return eval(python, names, dict(problem))  # pylint: disable=eval-used


def serve(bench, portfolio, problem, found):
    """As a plan: the rule's, else the first that is a variant there. One without a record may be one that was not measured."""
    variants = [variant["variant"] for variant in portfolio["variants"]]
    says = ask(portfolio["rule"], problem)
    order = [says] + [i for i in range(len(variants)) if i != says]
    return next((variants[i] for i in order if i < len(variants) and (variants[i] in found or bench.has(problem, variants[i]))), None)


# ---- Timed in turn --------------------------------------------------------------------------------------------------


def time_in_turn(bench, gpu, problem, variants):
    """The least of two times of each variant, there and back."""
    times = {}
    order = [variant for variant in dict.fromkeys(variants) if variant]
    for variant in order + order[::-1]:
        seconds = bench.time_of(gpu, problem, variant)
        if seconds:
            times[variant] = min(times.get(variant, math.inf), seconds)
    return times


def time_held(bench, problems, chosen, keep):
    """[problem] = (portfolio's, empty cache's) over the best, as far as the time goes."""
    waiting, done = queue.SimpleQueue(), {}
    for problem in problems:
        waiting.put(problem)

    def work(gpu):
        while bench.left() > keep:
            try:
                problem = waiting.get_nowait()
            except queue.Empty:
                return
            ours, best = chosen[text_of(problem)]
            untuned = bench.untuned(gpu, problem)
            times = time_in_turn(bench, gpu, problem, [best, ours, untuned])
            if best in times:
                least = min(times.values())
                done[text_of(problem)] = tuple(times.get(variant, math.inf) / least for variant in (ours, untuned))

    with concurrent.futures.ThreadPoolExecutor(len(bench.gpus)) as pool:
        list(pool.map(work, bench.gpus))
    return done


# ---- The table ------------------------------------------------------------------------------------------------------


def mean(values):
    values = [value for value in values if math.isfinite(value)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def percent(ratio):
    return f"{100 * (ratio - 1):.1f} %" if math.isfinite(ratio) else "-"


def ratios(bench, problems, records, portfolio):
    """[(problem, by the rule, by the best of the portfolio, the rule's variant, the best variant)] of what has a right record. By the rule:
    NAN where its variant was not measured."""
    rows = []
    for problem in problems:
        found = find_records(records, problem, bench.given)
        least = min(found.values(), default=math.inf)
        if not math.isfinite(least):
            continue
        ours = serve(bench, portfolio, problem, found)
        own = [found[v["variant"]] for v in portfolio["variants"] if v["variant"] in found]
        rows.append((problem, found.get(ours, math.nan if ours else math.inf) / least, min(own, default=math.inf) / least, ours,
                     min(found, key=lambda variant: (found[variant], variant))))
    return rows


def print_portfolio(bench, portfolio):
    for i, variant in enumerate(portfolio["variants"]):
        bench.say(f"  {i}: serves {variant['serves']}, loses {percent(variant['mean'] or math.nan)}: {variant['variant']}")
    bench.say(f"  rule: {portfolio['rule']}")


def print_held(bench, rows, turns):
    bench.say(f"\n{'held out':<32}{'by records':>11}{'its best':>10}{'in turn':>10}{'empty cache':>13}")
    for problem, ours, own, variant, _ in rows:
        turn = turns.get(text_of(problem), (math.nan, math.nan))
        bench.say(f"{text_of(problem):<32}{percent(ours):>11}{percent(own):>10}{percent(turn[0]):>10}{percent(turn[1]):>13}  {variant}")


def worst(values):
    return max((value for value in values if math.isfinite(value)), default=math.nan)


def print_mean(bench, name, values):
    unmeasured = sum(map(math.isnan, values))
    unserved = sum(map(math.isinf, values))
    bench.say(f"{name:<44}{percent(mean(values)):>9}, worst {percent(worst(values)):>8}, of {len(values)}"
              + (f", {unmeasured} not measured" if unmeasured else "") + (f", {unserved} not served" if unserved else ""))


def judge(bench, portfolio, tuned, held, turns, seconds):
    """The table against the bar."""
    figures = [("kernels", len(portfolio["variants"]), BAR["kernels"], str),
               ("tuned sizes, geometric mean", portfolio["mean"], BAR["tuned_mean"], percent),
               ("tuned sizes, worst", portfolio["worst"], BAR["tuned_worst"], percent),
               ("held-out sizes, geometric mean", mean([row[1] for row in held]), BAR["held_mean"], percent),
               ("tuning, seconds", seconds, BAR["seconds"], lambda value: f"{value:.0f}")]
    good = True
    bench.say(f"\n{'':<34}{'is':>10}{'bar':>10}")
    for name, value, bar, shown in figures:
        met = value is not None and value <= bar
        good = good and met
        bench.say(f"{name:<34}{shown(value):>10}{shown(bar):>10}  {'met' if met else 'NOT MET'}")
    bench.say()
    print_mean(bench, "tuned sizes, the best of its kernels for each", [row[2] for row in tuned])
    print_mean(bench, "held out, by records", [row[1] for row in held])
    print_mean(bench, "held out, the best of its kernels for each", [row[2] for row in held])
    print_mean(bench, "held out, in turn", [turn[0] for turn in turns.values()])
    print_mean(bench, "held out, with an empty cache, in turn", [turn[1] for turn in turns.values()])
    bench.say(f"{'by cross-validation':<44}{percent(portfolio['held_out_mean'] or math.nan):>9}")
    return good


def keep_files(bench, problems):
    given = bench.given
    output = pathlib.Path(given.output).parent if given.output else pathlib.Path(".")
    if given.ship:
        classes = [word for one in given.classes for word in ("--class", one)]
        done = subprocess.run([ROOT / "tools/bench/ship-portfolio", bench.cache, given.ship, "--folder", output, "--problems",
                               write(bench.folder / "tuned.txt", problems), *classes], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        bench.say(done.stdout.strip())
    if given.wisdom:
        code, printed, failed = bench.run(None, "cache", "export", "-o", given.wisdom)
        bench.say((printed if code == 0 else failed).strip())


def measure(bench, problems, held):
    shares = [float(share) * bench.given.limit for share in bench.given.shares.split(",")]
    tried = tune(bench, "tuned", problems, shares[0])
    seconds = time.monotonic() - bench.begin
    tried += tune(bench, "held", held, shares[1]) if held else 0
    portfolio = learn(bench, problems)
    bench.say(f"{bench.given.config} {' '.join(bench.given.set)} on {portfolio['device']}: {len(problems)} sizes in {seconds:.0f} s on "
              f"{len(bench.gpus)} GPU(s), {tried} variants measured with those of {len(held)} held-out sizes")
    print_portfolio(bench, portfolio)
    return portfolio, seconds


def main():
    given = options()
    state = random.Random(given.seed)
    problems = draw(given, given.problems, state, [])
    held = draw(given, given.held_out, state, problems)
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(given, pathlib.Path(name))
        portfolio, seconds = measure(bench, problems, held)
        keep_files(bench, problems)
        records = read_records(bench)
        tuned_rows, held_rows = (ratios(bench, part, records, portfolio) for part in (problems, held))
        chosen = {text_of(row[0]): (row[3], row[4]) for row in held_rows}
        unmeasured_first = sorted(held_rows, key=lambda row: not math.isnan(row[1]))
        turns = time_held(bench, [row[0] for row in unmeasured_first], chosen, 0.04 * given.limit)
        print_held(bench, held_rows, turns)
        good = judge(bench, portfolio, tuned_rows, held_rows, turns, seconds)
        bench.say(f"{time.monotonic() - bench.begin:.0f} s in all")
        if given.output:
            pathlib.Path(given.output).write_text("\n".join(bench.lines) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""predicted.py BUILD DEVICE PREDICTED FRESH OUTPUT [--gpus 0,1] [--seconds 60]: how good portfolios are that were learnt from predictions alone.

PREDICTED has NAME/cache.db of `cugen tune --device model:... --portfolio` (tools/bench/predict.py), FRESH has NAME.retimed.jsonl, sizes that were searched and timed in turn on
that GPU (tools/bench/run_portfolios.py dense --fresh). On each of these sizes are timed in turn, by bench_retime in BUILD: the fastest there, what the predicted
portfolio names, and what the config suggests alone. DEVICE describes the GPU: model:H100. OUTPUT gets a line of JSON for each pair, stdout the table.

predicted.py first FOLDER...: the model's first choice by the best that was measured, of kernels whose caches are in each FOLDER: NAME.db of
`cugen tune --device model:...` and of `cugen tune` on that GPU, in one cache. A column for each FOLDER, its predictions; all their
measurements count. The first choice is the fastest prediction among the variants that were measured, all that the model names being
measured first by `cugen tune`; variants that came out wrong are refuted by the verification of the first."""
import argparse
import ast
import concurrent.futures
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

from learn_portfolios import ROOT, read_in_turn, untuned

LEAST = -1 # a rule's word: the variant of the least time
PARTS = 3 # of what is compiled for a class, side by side
NAMED = 3 # of the portfolio's variants: the first one that is valid counts
def select(*parts):
    """As in a config: the first whose condition is true, else the last."""
    return next((parts[i + 1] for i in range(0, len(parts) - 1, 2) if parts[i]), parts[-1])


NAMES = {"select": select, "ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "least": LEAST,
         "true": True, "false": False}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("device")
    parser.add_argument("predicted", type=pathlib.Path)
    parser.add_argument("fresh", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--gpus", default="0")
    parser.add_argument("--seconds", type=float, default=60, help="of timing in turn, of all classes together")
    return parser.parse_args()


class Portfolio:
    """Of a body as a cache has it."""
    def __init__(self, cache):
        database = sqlite3.connect(f"file:{cache}?mode=ro", uri=True)
        (body,), = database.execute("SELECT body FROM portfolio ORDER BY learnt_at DESC, id DESC LIMIT 1").fetchall()
        lines = body.splitlines()
        self.rule = parse(next(line[5:] for line in lines if line.startswith("rule ")))
        self.variants = [line.split(" ", 3)[3] for line in lines if line.startswith("variant ")]
        self.times = [parse(line[5:]) for line in lines if line.startswith("time ")]

    def order(self, problem):
        values = {**NAMES, **values_of(problem)}
        times = [evaluate(time, values) for time in self.times] if len(self.times) == len(self.variants) else list(range(len(self.variants)))
        by_time = sorted(range(len(self.variants)), key=lambda i: times[i])
        named = evaluate(self.rule, values)
        first = by_time if named == LEAST else [named, *by_time]
        return [self.variants[i] for i in dict.fromkeys(first) if 0 <= i < len(self.variants)]


def parse(text):
    return compile(ast.parse(text.strip().replace("~=", "!="), mode="eval"), "rule", "eval")


def evaluate(code, values):
    return eval(code, {"__builtins__": {}}, values) # pylint: disable=eval-used


def values_of(problem):
    pairs = (word.split("=", 1) for word in problem.split())
    return {name: int(value) if re.fullmatch(r"-?\d+", value) else {"true": True, "false": False}.get(value, value) for name, value in pairs}


class Class:
    """The sizes of one, and the variants on each."""
    def __init__(self, given, folder, fresh, configs):
        self.name = fresh.name.split(".retimed")[0]
        self.config = re.split("-", self.name)[0]
        portfolio = Portfolio(folder / "cache.db")
        self.fastest = {problem: min(times, key=times.get) for problem, times in read_in_turn(fresh).items()}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            alone = pool.map(lambda problem: untuned(given.build / "cugen", given.device, configs / f"{self.config}.lua", problem), self.fastest)
            self.alone = dict(zip(self.fastest, alone))
        self.named = {problem: portfolio.order(problem)[:NAMED] for problem in self.fastest}
        self.times = {}
        self.cache = configs / f"{self.name}.db"

    def lines(self):
        return ["\t".join([problem, *dict.fromkeys(one for one in (self.fastest[problem], *self.named[problem], self.alone[problem]) if one)])
                for problem in self.fastest]

    def run(self, given, gpu, seconds, lines):
        """What bench_retime says of the lines; images are kept in a cache of the class."""
        words = [str(given.build / "bench_retime"), self.config, f"{seconds:.3f}"]
        done = subprocess.run(words, input="".join(f"{line}\n" for line in lines), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env=dict(os.environ, CUDA_VISIBLE_DEVICES=gpu, CUGEN_CACHE=str(self.cache)))
        if done.returncode:
            print(f"{self.name}: bench_retime ended with {done.returncode}: {done.stderr.strip()[-300:]}", flush=True)
        return done.stdout

    def compiles(self):
        """Parts of what is to be compiled: each variant once."""
        first = {}
        for line in self.lines():
            problem, *variants = line.split("\t")
            for variant in variants:
                first.setdefault(variant, f"{problem}\t{variant}")
        return [part for part in (list(first.values())[i::PARTS] for i in range(PARTS)) if part]

    def retime(self, given, gpu, seconds):
        for line in self.run(given, gpu, seconds, self.lines()).splitlines():
            if line.endswith("}"):
                one = json.loads(line)
                self.times.setdefault(one["problem"], {})[one["variant"]] = one["seconds"]

    def losses(self):
        """By predictions, and by the config alone: of the sizes where both were timed."""
        found = []
        for problem, times in self.times.items():
            named = next((one for one in self.named[problem] if one in times), None)
            if named and self.alone[problem] in times:
                found.append((times[named] / min(times.values()), times[self.alone[problem]] / min(times.values())))
        return [list(column) for column in zip(*found)] or [[], []]


def shown(losses):
    return f"{len(losses):5} {math.exp(statistics.fmean(map(math.log, losses))):7.3f} {max(losses):7.2f}" if losses else f"{0:5} {'-':>7} {'-':>7}"


def find_classes(given, configs):
    for fresh in sorted(given.fresh.glob("*.retimed.jsonl")):
        for folder in sorted(given.predicted.glob(f"{fresh.name.split('.retimed')[0]}-*[!-]")):
            if folder.name.rsplit("-", 1)[0] + ".retimed.jsonl" == fresh.name and (folder / "cache.db").is_file():
                try:
                    yield Class(given, folder, fresh, configs)
                except (ValueError, sqlite3.Error) as error:
                    print(f"{folder.name}: no portfolio: {error}")


def read_times(cache):
    """(predicted, measured) of all variants."""
    found = {}, {}
    if not cache.is_file():
        return found
    database = sqlite3.connect(f"file:{cache}?mode=ro", uri=True)
    rows = database.execute("SELECT device, variant, seconds FROM record JOIN space ON space.id = space_id WHERE superseded = 0 AND outcome = 0")
    for device, variant, seconds in rows:
        found[0 if device.startswith("predicted ") else 1][variant] = seconds
    return found


def print_first_choices(folders):
    """A row for each kernel of the last folder."""
    names = sorted(path.stem for path in pathlib.Path(folders[-1]).glob("*.db"))
    means = [[] for _ in folders]
    print(f"{'kernel':22}{'best':>12}{'measured':>10}" + "".join(f"{'predicted':>12}{'first':>8}" for _ in folders))
    for name in names:
        times = [read_times(pathlib.Path(folder) / f"{name}.db") for folder in folders]
        measured = {variant: seconds for _, one in times for variant, seconds in one.items()}
        row = f"{name:22}{1e3 * min(measured.values()):9.4f} ms{len(measured):10}"
        for mean, (predicted, _) in zip(means, times):
            known = [variant for variant in sorted(predicted, key=predicted.get) if variant in measured]
            ratio = measured[known[0]] / min(measured.values()) if known else math.nan
            mean.extend([ratio] if known else [])
            row += f"{len(predicted):12}{ratio:8.3f}"
        print(row)
    print(f"{'mean':44}" + "".join(f"{'':12}{statistics.fmean(mean):8.3f}" for mean in means))


def main():
    if sys.argv[1:2] == ["first"] and len(sys.argv) > 2:
        return print_first_choices(sys.argv[2:])
    given = options()
    given.build = given.build.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        configs = pathlib.Path(shutil.copytree(ROOT / "configs", pathlib.Path(scratch) / "configs"))
        classes = list(find_classes(given, configs))
        sizes = sum(len(one.fastest) for one in classes)
        gpus = given.gpus.split(",")
        parts = [(one, part) for one in classes for part in one.compiles()]
        with concurrent.futures.ThreadPoolExecutor(max(len(os.sched_getaffinity(0)) // 2, 1)) as pool:
            list(pool.map(lambda i: parts[i][0].run(given, gpus[i % len(gpus)], 0, parts[i][1]), range(len(parts))))
        print(f"{len(classes)} classes, {sizes} sizes", flush=True)
        with concurrent.futures.ThreadPoolExecutor(len(gpus)) as pool:
            list(pool.map(lambda i: [one.retime(given, gpus[i], given.seconds * len(gpus) / max(sizes, 1)) for one in classes[i::len(gpus)]],
                          range(len(gpus))))
    given.output.write_text("".join(json.dumps({"problem": problem, "times": times, "named": one.named[problem], "alone": one.alone[problem], "class": one.name}) + "\n"
                                    for one in classes for problem, times in one.times.items()), encoding="utf-8")
    print(f"{'class':16}  by predictions alone   the config alone\n{'':16} sizes  slower   worst  sizes  slower   worst")
    every = [[], []]
    for one in classes:
        losses = one.losses()
        for of, more in zip(every, losses):
            of.extend(more)
        print(f"{one.name:16} {shown(losses[0])}  {shown(losses[1])}")
    print(f"{'all':16} {shown(every[0])}  {shown(every[1])}")


if __name__ == "__main__":
    sys.exit(main())

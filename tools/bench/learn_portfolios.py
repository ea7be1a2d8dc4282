#!/usr/bin/env python3
"""learn_portfolios.py BUILD NAME.wisdom[.xz] [...] [--kernels 2,3,4,6,8,12,16,24] [--ship FOLDER]: portfolios learnt from what was measured before, and how
good they are for sizes that they were not learnt from. It needs no GPU.

Each file is what tools/bench/run_portfolios.py kept of one class: NAME tells which. Its records go into a scratch cache, and `cugen tune
--portfolio --budget 0` learns from all of its sizes, the held-out ones, too. Held out is by cross-validation: ten times, kernels and rule are
learnt without a tenth of the sizes. Of several limits of kernels that one is taken which is best there; a time that is not known counts as 75 %
too slow in this choice alone. Few sizes know few kernels. Beside it stands what is taken where nothing is remembered: by what ships in BUILD, and by the config
alone. All are compared on the same sizes, those of which all the times are known. --ship writes NAME-GPU.txt into FOLDER for each class
that is better than what ships, and than the config alone by 1 % of the geometric mean, and whose worst is at most double: configs/portfolios/ is made so.

Where NAME.retimed.jsonl lies beside it (tools/bench/dense.py), times taken in turn replace the records' of the same pairs, and a pair that has no
record, nor one of a failure, gets one (build/bench_remember). The other records of such
a size are scaled by the median of what the pairs changed by, and none counts as faster than the fastest in turn. A size counts if
its fastest in turn has a record, or where none was timed in turn, if it has 20 records. The last lines are of pairs timed in turn alone."""
import argparse
import concurrent.futures
import json
import lzma
import math
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

from run_portfolios import BF16, FAMILIES, ROOT


LEAST_RECORDS, TIE, MARGIN = 20, 1.005, 1.01
# Times the largest learnt from. On sizes drawn anew, a little larger than those, the config's suggestions for transposes and particles took
# 1.9 to 26 times as long as the fastest (tools/bench/results/2026-11-27-h200-untuned-plans.txt). Those for products were chosen at large sizes.
REACH = 4
NOT_SHIPPED = ["copy-f32"]  # copies of one row, which are most, were not measured
# Where `wgmma` pads: other kernels lead there, and the same ones take another time. Learnt apart, and shipped as one.
APART = {"matmul-bf16": "N % 8 ~= 0 or K % 8 ~= 0", "matmul-bf16-nt": "N % 8 ~= 0 or K % 8 ~= 0",
         "matmul-e4m3-nt": "N % 8 ~= 0 or K % 16 ~= 0", "matmul-i8-nt": "N % 4 ~= 0 or K % 16 ~= 0"}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("wisdom", type=pathlib.Path, nargs="+")
    parser.add_argument("--kernels", type=lambda text: [int(word) for word in text.split(",")], default=[2, 3, 4, 6, 8, 12, 16, 24])
    parser.add_argument("--device", default="model:H200")
    parser.add_argument("--ship", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--force", action="store_true", help="ship all: what ships was learnt from fewer sizes, of which these are many")
    return parser.parse_args()


class Learner:
    def __init__(self, given, scratch):
        self.given = given
        self.scratch = scratch
        self.cugen = str(given.build.resolve() / "cugen")
        shutil.copytree(ROOT / "configs", scratch / "configs")

    def run(self, *words):
        done = subprocess.run([self.cugen, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        return done.stdout if done.returncode == 0 else sys.exit(f"{' '.join(map(str, words))[:300]}: {done.stderr.strip()}")

    def untuned(self, config, problem):
        return untuned(self.cugen, self.given.device, config, problem) or sys.exit(f"{config} {problem}: a plan takes nothing")

    def remember(self, config, cache, pairs):
        """How many of the pairs have a record now."""
        lines = ["\t".join([problem, *(word for variant, seconds in timed.items() for word in (variant, repr(seconds)))]) for problem, timed in pairs.items()]
        done = subprocess.run([str(self.given.build.resolve() / "bench_remember"), config, str(cache)], input="".join(f"{line}\n" for line in lines),
                              stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ, CUGEN_DEVICE=self.given.device))
        return int(done.stdout)

    def learn(self, config, cache, problems, most):
        return json.loads(self.run("tune", config, "--problems", problems, "--device", self.given.device, "--portfolio", most,
                                   "--budget", "0", "--cache", cache, "--json", "-q"))["portfolios"][0]

    def read(self, name, config, wisdom):
        """The records that are to be learnt from, the times in turn, and the cache that has both."""
        cache = self.scratch / f"{name}.db"
        self.run("cache", "import", unpack(wisdom, self.scratch / f"{name}.wisdom"), "--cache", cache)
        in_turn = read_in_turn(wisdom.with_name(f"{name}.retimed.jsonl"))
        replace_times(cache, in_turn)
        print(f"  {self.remember(config, cache, missing_pairs(cache, in_turn))} pairs that were timed in turn had no record")
        every = read_records(cache)
        records = well_known(every, in_turn) if in_turn else every
        if len(records) < len(every):
            print(f"  {len(every) - len(records)} of {len(every)} sizes are left out: their fastest is not known")
        return records, in_turn, cache

    def learn_best(self, config, cache, records):
        """With the limit that is best for those left out; the cache has that portfolio as its last one."""
        problems = cache.with_suffix(".txt")
        problems.write_text("".join(f"{problem}\n" for problem in records), encoding="utf-8")
        held = {most: [problem["held_out_loss"] for problem in self.learn(config, cache, problems, most)["problems"]] for most in self.given.kernels}
        for most, losses in held.items():
            print(f"  at most {most:2} kernels: held out {shown(losses, len(losses))}")
        best = min(held, key=lambda most: (sum(math.log(loss or 1.75) for loss in held[most]), most))
        return self.learn(config, cache, problems, best)


def read_records(cache):
    """Of each problem the seconds of its right variants; a problem that has none is left out."""
    database = sqlite3.connect(cache)
    rows = database.execute("SELECT problem, variant, seconds FROM record JOIN space ON space.id = space_id WHERE superseded = 0 AND outcome = 0")
    records = {}
    for problem, variant, seconds in rows:
        records.setdefault(problem, {})[variant] = seconds
    database.close()
    return records


def unpack(wisdom, path):
    if wisdom.suffix != ".xz":
        return wisdom
    path.write_bytes(lzma.decompress(wisdom.read_bytes()))
    return path


def read_in_turn(path):
    """As read_records: of what bench_retime wrote; nothing, if it has not."""
    records = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        one = json.loads(line)
        records.setdefault(one["problem"], {})[one["variant"]] = one["seconds"]
    return records


def corrected(found, timed):
    """A size's times, of its records, with those taken in turn in place of its own."""
    changes = [timed[variant] / found[variant] for variant in timed if variant in found]
    change, least = statistics.median(changes) if changes else 1, min(timed.values())
    return {variant: timed.get(variant, max(seconds * change, least)) for variant, seconds in found.items()}


def replace_times(cache, in_turn):
    """In the records that learning reads."""
    records = {problem: corrected(found, in_turn[problem]) for problem, found in read_records(cache).items() if problem in in_turn}
    database = sqlite3.connect(cache)
    database.executemany("UPDATE record SET seconds = ?, seconds_min = ?, seconds_p20 = ?, seconds_p80 = ? WHERE superseded = 0 AND outcome = 0 AND "
                         "variant = ? AND space_id IN (SELECT id FROM space WHERE problem = ?)",
                         [(*[seconds] * 4, variant, problem) for problem, found in records.items() for variant, seconds in found.items()])
    database.commit()
    database.close()


def missing_pairs(cache, in_turn):
    """Of each problem the variants that were timed in turn and have no record, nor one of a failure, and the seconds."""
    database = sqlite3.connect(cache)
    have = set(database.execute("SELECT problem, variant FROM record JOIN space ON space.id = space_id WHERE superseded = 0"))
    database.close()
    missing = {problem: {variant: seconds for variant, seconds in timed.items() if (problem, variant) not in have} for problem, timed in in_turn.items()}
    return {problem: timed for problem, timed in missing.items() if timed}


def well_known(records, in_turn):
    """A size whose search was cut short says nothing: the fastest in turn has no record, or none was timed in turn and few have one."""
    return {problem: found for problem, found in records.items()
            if (min(found.values()) <= TIE * min(in_turn[problem].values()) if problem in in_turn else len(found) >= LEAST_RECORDS)}


def words_of(name):
    """Its config, and the other classes that its file is to serve."""
    for family, _, words in [*FAMILIES, BF16]:
        if family == name:
            return words[words.index("--config") + 1], [word for flag, word in zip(words, words[1:]) if flag == "--class"]
    sys.exit(f"{name}: no class of tools/bench/run_portfolios.py")


def loss(found, variant):
    return found[variant] / min(found.values()) if variant in found else math.nan


def known(values):
    return [value for value in values if value and not math.isnan(value)]


def summary(values):
    """Geometric mean and worst, and of how many."""
    values = known(values)
    return (math.exp(sum(map(math.log, values)) / len(values)), max(values), len(values)) if values else (math.nan, math.nan, 0)


def shown(values, of):
    mean, worst, count = summary(values)
    return f"{100 * (mean - 1):8.1f} %{worst:7.2f}" + (f"  ({of - count} unknown)" if count < of else "")


def untuned(cugen, device, config, problem):
    """What a plan takes where nothing is remembered; None: nothing. A config's copy has nothing that ships."""
    words = [word for setting in problem.split() for word in ("--set", setting)]
    more = ["--template-dir", str(ROOT / "templates")] if str(config).endswith(".lua") else []
    done = subprocess.run([str(cugen), "gen", str(config), "--device", device, "--cache", "none", "-q", "--json", *more, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return json.loads(done.stdout)["variant"] if done.returncode == 0 else None


def evaluate(learner, config, portfolio, records, in_turn):
    """[(title, losses of the problems)], and of these titles some by times in turn alone"""
    problems = portfolio["problems"]
    kernels = [variant["variant"] for variant in portfolio["variants"]]
    of = [records.get(problem["problem"], {}) for problem in problems]
    texts = [problem["problem"] for problem in problems]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        shipped = list(pool.map(lambda text: learner.untuned(config, text), texts))
        default = list(pool.map(lambda text: learner.untuned(learner.scratch / "configs" / f"{config}.lua", text), texts))
    columns = {"all sizes learnt from: the best of the kernels": [min(known([loss(found, k) for k in kernels]), default=math.nan) for found in of],
               "all sizes learnt from: by the rule": [problem["loss"] or math.nan for problem in problems],
               "held out: by the rule": [problem["held_out_loss"] or math.nan for problem in problems],
               "untuned now": [loss(found, variant) for found, variant in zip(of, shipped)],
               "the config alone": [loss(found, variant) for found, variant in zip(of, default)]}
    return columns, judge_in_turn(problems, in_turn, {"untuned now": shipped, "the config alone": default}) if in_turn else {}


def seconds_held_out(problem, timed):
    """What it takes with the rule of the fold that left it out, where that variant is one timed in turn."""
    loss, best = problem["held_out_loss"], problem["best_seconds"]
    if not loss or not best:
        return math.nan
    if loss == 1:
        return timed.get(problem["best"], math.nan)
    return next((seconds for seconds in timed.values() if abs(seconds / (loss * best) - 1) < 1e-6), math.nan)


def judge_in_turn(problems, in_turn, chosen):
    """As columns of evaluate, of pairs timed in turn alone. chosen: titles, and the variant of each problem."""
    timed = [in_turn.get(problem["problem"], {}) for problem in problems]
    columns = {"held out: by the rule": [seconds_held_out(problem, own) / min(own.values()) if own else math.nan for problem, own in zip(problems, timed)]}
    for title, variants in chosen.items():
        columns[title] = [loss(own, variant) for own, variant in zip(timed, variants)]
    return columns


def print_in_turn(columns):
    for title, losses in columns.items():
        mean, worst, count = summary(losses)
        print(f"  in turn: {title:<37}{100 * (mean - 1):8.1f} %{worst:7.2f}  of {count} sizes")


def sizes_of(problem):
    return [int(value) for value in (word.split("=", 1)[1] for word in problem.split()) if value.isdigit() and value != "0"]


def config_beyond(portfolio, columns):
    """The product of sizes beyond which the config's default is better where all that vary are multiples of 8, and those problems; None, []:
    of fewer than 8 nothing is said."""
    rows = []
    varying = [len(set(column)) > 1 for column in zip(*(sizes_of(problem["problem"]) for problem in portfolio["problems"]))]
    for i, problem in enumerate(portfolio["problems"]):
        sizes = sizes_of(problem["problem"])
        pair = columns["held out: by the rule"][i], columns["the config alone"][i]
        if all(size % 8 == 0 for size, varies in zip(sizes, varying) if varies) and not any(map(math.isnan, pair)):
            rows.append((math.prod(sizes), i, math.log(pair[0] / pair[1])))
    rows.sort(reverse=True)
    gains = [sum(row[2] for row in rows[:count]) for count in range(len(rows) + 1)]
    best = max(range(len(gains)), key=gains.__getitem__)
    if best < 8 or best == len(rows):
        return None, []
    return rows[best][0], [row[1] for row in rows[:best]]


def leave_to_config(portfolio, columns, turns):
    """What is learnt stays; the config serves where it is better. That product of sizes, or None."""
    beyond, problems = config_beyond(portfolio, columns)
    if beyond:
        held, default = columns["held out: by the rule"], columns["the config alone"]
        ours, theirs = (summary([column[i] for i in problems])[0] for column in (held, default))
        print(f"  {len(problems)} multiples of 8 whose product is beyond {beyond} are left to the config: held out {100 * (ours - 1):.1f} %, "
              f"the config {100 * (theirs - 1):.1f} %")
        for table in (columns, turns):
            for i in problems if table else []:
                table["held out: by the rule"][i] = table["the config alone"][i]
    return beyond


def compare(columns):
    """Whether held out is better than both others, each on the sizes where both are known. What ships may have been learnt from these very
    sizes: being better than that is enough."""
    held, better = columns["held out: by the rule"], True
    for other, margin in (("untuned now", 1), ("the config alone", MARGIN)):
        pairs = [(a, b) for a, b in zip(held, columns[other]) if not math.isnan(a) and not math.isnan(b)]
        (ours, our_worst, count), (theirs, their_worst, _) = summary([a for a, _ in pairs]), summary([b for _, b in pairs])
        print(f"  on {count} common sizes: held out {100 * (ours - 1):.1f} %, worst {our_worst:.2f}; {other} {100 * (theirs - 1):.1f} %, worst {their_worst:.2f}")
        better = better and margin * ours < theirs and our_worst <= 2 * their_worst
    return better


def ship(folder, name, cache, classes, beyond, apart):
    """The file. apart: a condition, and the file that serves where it is false."""
    words = ["--problems", str(cache.with_suffix(".txt"))] + (["--config-beyond", str(beyond)] if beyond else [])
    words += [] if name.startswith("matmul") else ["--reach", str(REACH)]
    words += ["--where", apart[0], "--else", str(apart[1])] if apart else []
    return write_file(folder, name, cache, classes, words)


def write_file(folder, name, cache, classes, words):
    words = [word for one in classes for word in ("--class", one)] + words
    done = subprocess.run([str(ROOT / "tools/bench/ship-portfolio"), str(cache), name, "--folder", str(folder), *words], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(done.stdout.strip())


def holds(condition, problem):
    values = dict(word.split("=", 1) for word in problem.split())
    return eval(condition.replace("~=", "!="), {name: int(value) for name, value in values.items() if value.isdigit()}) # pylint: disable=eval-used


def parts_of(name, records):
    """[(title, condition, problems)]: those that are learnt apart; the last one's condition is true of its own problems alone"""
    if name not in APART:
        return [("", None, records)]
    apart = {problem for problem in records if holds(APART[name], problem)}
    return [("  where not: ", None, {problem: found for problem, found in records.items() if problem not in apart}),
            (f"  where {APART[name]}: ", APART[name], {problem: found for problem, found in records.items() if problem in apart})]


def learn_part(learner, config, cache, records, in_turn):
    """The columns of all its problems, those of times in turn, and the product of sizes beyond which the config serves"""
    portfolio = learner.learn_best(config, cache, records)
    columns, turns = evaluate(learner, config, portfolio, records, in_turn)
    count = len(portfolio["problems"])
    print(f"  {count} sizes, {len(portfolio['variants'])} kernels, a rule of {portfolio['rule'].count('<=') + portfolio['rule'].count('~=') + 1} branches")
    for title, losses in columns.items():
        print(f"  {title:<46}{shown(losses, count)}")
    return columns, turns, leave_to_config(portfolio, columns, turns)


def still_better(name, columns):
    """The file that ships, where it is better on the very sizes that both were learnt from, or None."""
    pairs = [(ours, theirs) for ours, theirs in zip(columns["all sizes learnt from: by the rule"], columns["untuned now"])
             if not math.isnan(ours) and not math.isnan(theirs)]
    file = next((ROOT / "configs" / "portfolios").glob(f"{name}-*.txt"), None)
    return file if file and summary([pair[1] for pair in pairs])[0] < summary([pair[0] for pair in pairs])[0] else None


def add_columns(columns, more):
    for title, losses in more.items():
        columns.setdefault(title, []).extend(losses)


def learn_class(learner, name, wisdom):
    config, classes = words_of(name)
    records, in_turn, cache = learner.read(name, config, wisdom)
    columns, turns, path = {}, {}, None
    for title, condition, part in parts_of(name, records):
        if title:
            print(title.rstrip())
        of_part, of_turns, beyond = learn_part(learner, config, cache, part, in_turn)
        if title and not condition and not learner.given.force and (path := still_better(name, of_part)):
            print(f"  what ships stays there: {path.name}")
            for table in (of_part, of_turns):
                table["held out: by the rule"] = table.get("untuned now", [])
        else:
            path = ship(learner.scratch / "shipped", name, cache, classes, beyond, (condition, path) if condition else None)
        add_columns(columns, of_part)
        add_columns(turns, of_turns)
    better = compare(columns)
    print_in_turn(turns)
    print(f"  {'better' if better else 'NOT better'} than what is taken without it", flush=True)
    if (better or learner.given.force) and learner.given.ship and name not in NOT_SHIPPED:
        learner.given.ship.mkdir(parents=True, exist_ok=True)
        print(f"  {shutil.copy(path, learner.given.ship)}")


def main():
    given = options()
    with tempfile.TemporaryDirectory() as folder:
        learner = Learner(given, pathlib.Path(folder))
        for wisdom in given.wisdom:
            name = wisdom.name.split(".wisdom")[0]
            print(f"{name}:")
            learn_class(learner, name, wisdom)


if __name__ == "__main__":
    main()

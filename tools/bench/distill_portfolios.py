#!/usr/bin/env python3
"""distill_portfolios.py BUILD TIMES.tsv[.xz] CLASS [...] [--also FILE] [--kernels 10] [--synthetic 260] [--output FOLDER]: portfolios for
products of which the few measured times of single classes are too little to learn from. It needs no GPU, and scikit-learn from PyPI.

TIMES has a line for each time: dtype, layout_a, layout_b, layout_c, M, N, K, variant, seconds, with tabs between (layout_c may be left out: row).
CLASS is dtype,layout_a,layout_b, with C by rows; a time with C by columns counts for the transposed product. Gradient-boosted trees over features of
problem and variant learn from the times of all types and layouts at once, and from those of --also, which were taken in another way (with inputs that
stay in the L2 cache, say), as such. They fill in what was not measured: of the measured problems and of others, drawn at random (the least of M, N
and K at most 64, or at most 132 tiles of 128 x 128 in C; --all: any), the times of the candidates that were near the fastest somewhere.
`cugen tune --portfolio --budget 0` chooses its kernels and learns their times from both. The rule is then a tree of conditions that loses least by the
trees' times on 2,000 problems drawn at random, where a variant serves only if it is valid. All is kept in FOLDER/DTYPE-LAYOUTS.db, from which
tools/bench/ship-portfolio writes what ships:

  tools/bench/ship-portfolio OUT/f32-row-col.db matmul-f32-nt --reach 64 --else matmul-f32-H200.txt \\
    --where 'min(M, N, K) <= 64 or ceil_div(M, 128) * ceil_div(N, 128) <= 132' --mirror layout_c=col

--check tells instead how much slower than the best measured variant the trees' choice is, for problems that they were not fitted to."""
import argparse
import collections
import lzma
import math
import os
import pathlib
import random
import re
import sqlite3
import subprocess

import numpy
from sklearn.ensemble import HistGradientBoostingRegressor

BYTES = {"f32": 4, "tf32": 4, "f64": 8, "bf16": 2, "f16": 2, "e4m3": 1, "i8": 1}
RESULT_BYTES = dict(BYTES, e4m3=2, i8=4)
FLOPS = {"f32": 60e12, "tf32": 350e12, "f64": 60e12, "bf16": 700e12, "f16": 700e12, "e4m3": 1400e12, "i8": 1400e12}  # of an H200
BYTES_A_SECOND, LAUNCH = 4.2e12, 2e-6
MULTIPROCESSORS = 132
IMPLEMENTATIONS = ["naive", "skinny", "tiled", "blocked", "pipelined", "packed", "mma", "wgmma_stream", "wgmma"]
CANDIDATES, FOLDS, MODELS = 60, 5, 4
ALIKE = {"f16": "bf16", "e5m2": "e4m3"}  # types whose products take the same time
# The words that change places if a product is transposed.
EXCHANGE = dict(zip("M N BM BN WM WN TM TN rows cols x y".split(), "N M BN BM WN WM TN TM cols rows y x".split()))
OTHER = {"row": "col", "col": "row"}

Problem = collections.namedtuple("Problem", "dtype layout_a layout_b M N K")


def read_times(path):
    text = (lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8")).read()
    return [read_time(line.split("\t")) for line in text.splitlines()]


def exchange(text):
    return re.sub(r"\w+", lambda word: EXCHANGE.get(word[0], word[0]), text)


def read_time(row):
    layout_c = row.pop(3) if len(row) == 9 else "row"
    dtype, layout_a, layout_b, *sizes = ALIKE.get(row[0], row[0]), row[1], row[2], *map(int, row[3:6])
    if layout_c == "row":
        return Problem(dtype, layout_a, layout_b, *sizes), row[6], float(row[7])
    return Problem(dtype, OTHER[layout_b], OTHER[layout_a], sizes[1], sizes[0], sizes[2]), exchange(row[6]), float(row[7])


def bytes_of(p):
    return (p.M * p.K + p.K * p.N) * BYTES[p.dtype] + p.M * p.N * RESULT_BYTES[p.dtype]


def roofline(p):
    """Seconds, roughly: times are learnt relative to this."""
    p = p._replace(dtype=p.dtype.rstrip("*"))
    return LAUNCH + bytes_of(p) / BYTES_A_SECOND + 2.0 * p.M * p.N * p.K / FLOPS[p.dtype]


# ---- Features ----------------------------------------------------------------------------------------------------------


def number(settings, name, other=0.0):
    value = settings.get(name)
    if value in ("true", "false"):
        return float(value == "true")
    return float(value) if value is not None and re.fullmatch(r"-?[\d.]+", value) else other


def log2(value):
    return math.log2(max(value, 1e-3))


def skinny_features(p, of):
    """configs/matmul/skinny.lua derives the same."""
    x_is_a, slice_ = p.M >= p.N, 16 // BYTES[p.dtype]
    along_k = p.layout_a == "row" if x_is_a else p.layout_b == "col"
    count_x, count_y = max(p.M, p.N), min(p.M, p.N)
    block_x = (16 if along_k else 8 * slice_) * of("units") * of("warps_x")
    blocks = -(-count_x // int(block_x))
    chunks = -(-p.K // int(4 * (2 * slice_ if along_k else slice_) * of("unroll")))
    turns = chunks / (of("warps_k") * of("split"))
    threads = 32 * of("warps_k") * of("warps_x")
    own = [of("units"), of("warps_k"), of("warps_x"), of("unroll"), of("ahead"), log2(of("split")),
           count_y if p.dtype == "f32" else -(-count_y // 8), block_x, log2(threads * blocks * of("split") / 32),
           of("units") * of("unroll") * (2 if of("ahead") else 1), log2(turns), math.ceil(turns), math.ceil(turns) / max(turns, 1e-3)]
    return block_x, count_y, count_x / (blocks * block_x), blocks * of("split"), threads, own


def tile_features(p, of, implementation, settings):
    rows = of("BM") or of("tile") or of("block_y", 1)
    columns = of("BN") or of("tile") or of("block_x", 1)
    if settings.get("swap") == "true" or settings.get("columns_along") == "y":
        rows, columns = columns, rows
    split = of("split_k") or of("split") or 1
    tiles_m, tiles_n = -(-p.M // int(rows)), -(-p.N // int(columns))
    threads = rows * columns
    if implementation.startswith("wgmma"):
        threads = 128 * (of("consumers") + 1)
    elif of("TM"):
        threads = of("BM") / of("TM") * of("BN") / of("TN")
    elif of("WM"):
        threads = 32 * of("BM") / of("WM") * of("BN") / of("WN")
    own = [of("consumers"), of("pingpong"), of("cluster_x", 1), of("cluster_y", 1), of("swap"), log2(split), of("stages"), of("k_bytes"),
           of("BK"), of("pad"), log2(p.K / split), of("group"), of("vec")]
    return rows, columns, p.M * p.N / (tiles_m * rows * tiles_n * columns), tiles_m * tiles_n * split, threads, own


def features(p, variant):
    """A type that ends with * is that of a time that was taken in another way."""
    also = p.dtype.endswith("*")
    p = p._replace(dtype=p.dtype.rstrip("*"))
    implementation, *words = variant.split()
    settings = dict(word.split("=") for word in words)

    def of(name, other=0.0):
        return number(settings, name, other)

    tile = skinny_features(p, of) if implementation == "skinny" else tile_features(p, of, implementation, settings)
    rows, columns, efficiency, blocks, threads, own = tile
    x_is_a = p.M >= p.N
    waves = blocks / MULTIPROCESSORS
    return [log2(p.M), log2(p.N), log2(p.K), log2(max(p.M, p.N)), log2(min(p.M, p.N)), x_is_a,
            p.layout_a == "row" if x_is_a else p.layout_b == "col", p.layout_b == "col" if x_is_a else p.layout_a == "row",
            BYTES[p.dtype], *[min(size & -size, 16) for size in (p.M, p.N, p.K)], log2(bytes_of(p)), log2(p.M * p.N * p.K), log2(p.M * p.N),
            *[p.dtype == name for name in FLOPS], *[implementation == name for name in IMPLEMENTATIONS],
            log2(rows), log2(columns), efficiency, log2(blocks), math.ceil(waves), waves / max(math.ceil(waves), 1), log2(threads),
            log2(p.M * p.N * p.K / efficiency / max(min(blocks, 8 * MULTIPROCESSORS), 1)), also, *own]


# ---- The trees ---------------------------------------------------------------------------------------------------------


class Times:
    """also: further times, of problems that are numbered behind the others."""

    def __init__(self, rows, also=()):
        self.own = len({p for p, _, _ in rows})
        self.rows = rows = [*rows, *((p._replace(dtype=p.dtype + "*"), variant, seconds) for p, variant, seconds in also)]
        self.x = numpy.array([features(p, variant) for p, variant, _ in rows], dtype=numpy.float32)
        self.y = numpy.array([math.log(seconds / roofline(p)) for p, _, seconds in rows])
        self.numbers = {}
        self.problem = numpy.array([self.numbers.setdefault(p, len(self.numbers)) for p, _, _ in rows])
        self.best = numpy.full(len(self.numbers), math.inf)
        numpy.minimum.at(self.best, self.problem, self.y)

    def fit(self, chosen, seed):
        """From the chosen problems. Variants near a problem's best count most: they are chosen among."""
        of = chosen[self.problem]
        model = HistGradientBoostingRegressor(max_iter=300, learning_rate=0.08, min_samples_leaf=8, l2_regularization=1.0, random_state=seed)
        weight = numpy.exp(-2 * (self.y - self.best[self.problem]))
        return model.fit(self.x[of], self.y[of], sample_weight=weight[of])


def check(times):
    fold = numpy.random.RandomState(0).permutation(len(times.numbers)) % FOLDS
    fold[times.own:] = FOLDS
    predicted = numpy.zeros(len(times.y))
    for k in range(FOLDS):
        left_out = fold[times.problem] == k
        predicted[left_out] = times.fit(fold != k, k).predict(times.x[left_out])
    losses = collections.defaultdict(list)
    for p, i in list(times.numbers.items())[:times.own]:
        own = numpy.where(times.problem == i)[0]
        losses[p[:3]].append(times.y[own[numpy.argmin(predicted[own])]] - times.best[i])
    for name, all_ in losses.items():
        print(f"{','.join(name):16} {len(all_):4} problems: {math.exp(numpy.mean(all_)):.3f} times the best, at worst {math.exp(max(all_)):.2f}")


# ---- Filling in --------------------------------------------------------------------------------------------------------


def is_small(sizes):
    return min(sizes) <= 64 or math.ceil(sizes[0] / 128) * math.ceil(sizes[1] / 128) <= MULTIPROCESSORS


def draw(seed, count, of, any_size):
    """Log-uniform sizes, a quarter of them odd; not so large that a product takes milliseconds."""
    r, out = random.Random(seed), {}
    while len(out) < count:
        step = r.choice([1, 8, 8, 16])
        sizes = [round(math.exp(r.uniform(0, math.log(16384)))) for _ in range(3)]
        sizes = [size if size < 2 * step else size // step * step for size in sizes]
        if 3e4 <= math.prod(sizes) <= (2e9 if of[0] == "f64" else 1e10) and (any_size or is_small(sizes)):
            out[Problem(*of, *sizes)] = None
    return list(out)


def choose(near, predicted):
    """Indices of candidates, one after the other that which gains most over all problems."""
    cost, chosen = numpy.full(len(predicted), 0.5), []
    while len(chosen) < min(CANDIDATES, len(near)):
        gains = numpy.maximum(cost[:, None] - predicted, 0).sum(axis=0)
        best = int(numpy.argmax(gains))
        if gains[best] < 1e-3:
            break
        chosen.append(best)
        cost = numpy.minimum(cost, predicted[:, best])
    return chosen


def fill(times, models, of, given):
    """Of each problem the variants and their seconds: measured ones, and predicted ones that are never faster than the fastest measured."""
    measured, near = collections.defaultdict(dict), collections.Counter()
    for (p, variant, seconds), y in zip(times.rows, times.y):
        if p.dtype.rstrip("*") != of[0]:
            continue
        if p[:3] == of:
            measured[p][variant] = seconds
        near[variant] += (1 if p[:3] == of else 0.3) * (y <= times.best[times.numbers[p]] + math.log(1.15))
    candidates = [variant for variant, count in near.most_common(150) if count]
    problems = [*measured, *(p for p in draw(900, given.synthetic, of, given.all) if p not in measured)]
    rows = numpy.array([features(p, variant) for p in problems for variant in candidates], dtype=numpy.float32)
    predicted = sum(model.predict(rows) for model in models).reshape(len(problems), -1) / len(models)
    chosen = choose(candidates, predicted - predicted.min(axis=1, keepdims=True))
    out = {}
    for p, row in zip(problems, predicted):
        known = measured.get(p, {})
        both = [math.log(known[variant] / roofline(p)) - y for variant, y in zip(candidates, row) if variant in known]
        scale, least = math.exp(numpy.median(both)) if both else 1, min(known.values(), default=0) * 1.02
        out[p] = dict(known, **{candidates[j]: max(math.exp(row[j]) * roofline(p) * scale, least) for j in chosen if candidates[j] not in known})
    return out


def settings_of(of):
    return [f"{key}={value}" for key, value in zip(Problem._fields, of)]


def remember(given, of, cache, pairs):
    """Stores the times of those variants that are valid. Without a cache, returns for each problem which ones are: "1" or "0"."""
    if cache:
        cache.unlink(missing_ok=True)
    lines = ["\t".join([" ".join([f"M={p.M} N={p.N} K={p.K}", *settings_of(of)]),
                        *(word for variant, seconds in timed.items() for word in (variant, repr(seconds)))]) for p, timed in pairs.items()]
    done = subprocess.run([given.build.resolve() / "bench_remember", "matmul", cache or "none"], input="".join(f"{line}\n" for line in lines),
                          stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ, CUGEN_DEVICE=given.device))
    return done.stdout.splitlines()


# ---- The rule ----------------------------------------------------------------------------------------------------------


DRAWN, HELD, LEAVES, LEAST_LEAF, DEEPEST = 2000, 400, 100, 10, 25
INVALID = math.log(8)  # what a variant that is not valid counts as, times the best
SIZES = ["M", "N", "K", "M * N", "M * K", "N * K", "M * N * K", "max(M, N)", "min(M, N)"] + \
    [f"ceil_div(M, {side}) * ceil_div(N, {side})" for side in (16, 64, 128)]
REMAINDERS = [f"{size} % {step} ~= 0" for step in (16, 8, 4, 2) for size in "MNK"] + \
    [f"M % {step} ~= 0 or N % {step} ~= 0 or K % {step} ~= 0" for step in (16, 8, 4, 2)]


def rule_features(problems):
    names = {"M": [p.M for p in problems], "N": [p.N for p in problems], "K": [p.K for p in problems]}
    names = {name: numpy.array(values, dtype=numpy.int64) for name, values in names.items()}
    names.update(max=numpy.maximum, min=numpy.minimum, ceil_div=lambda size, by: -(-size // by))
    python = [text.replace("~=", "!=").replace(" or ", ") | (") for text in SIZES + REMAINDERS]
    return numpy.array([eval(f"({text})", {"__builtins__": {}}, names) for text in python], dtype=numpy.int64).T


def between(low, high):
    """A number from low to below high with few digits."""
    for digits in range(1, 20):
        unit = 10 ** max(len(str(high)) - digits, 0)
        value = (high - 1) // unit * unit
        if value >= low:
            return value
    return low


def split(x, cost, own):
    """(gain, feature, limit) of the condition by which two variants for two parts lose least."""
    best = (0.0, None, None)
    whole = cost[own].sum(axis=0)
    for feature in range(x.shape[1]):
        order = own[numpy.argsort(x[own, feature], kind="stable")]
        values = x[order, feature]
        sums = numpy.cumsum(cost[order], axis=0)[:-1]
        gains = whole.min() - sums.min(axis=1) - (whole - sums).min(axis=1)
        gains[(values[1:] == values[:-1])] = 0
        gains[:LEAST_LEAF - 1] = gains[len(gains) - LEAST_LEAF + 1:] = 0
        at = int(numpy.argmax(gains))
        if gains[at] > best[0]:
            best = (float(gains[at]), feature, between(int(values[at]), int(values[at + 1])))
    return best


def grow(x, cost):
    """A tree: a variant's number, or (feature, limit, tree where at most the limit, tree elsewhere). The leaf that gains most is split next."""
    root = {"own": numpy.arange(len(x)), "depth": 0}
    root["split"] = split(x, cost, root["own"])
    leaves, least = [root], 1e-4 * len(x)
    while len(leaves) < LEAVES:
        leaf = max(leaves, key=lambda leaf: leaf["split"][0])
        gain, feature, limit = leaf["split"]
        if gain < least:
            break
        below = x[leaf["own"], feature] <= limit
        leaf["parts"] = [{"own": leaf["own"][side], "depth": leaf["depth"] + 1} for side in (below, ~below)]
        for part in leaf["parts"]:
            enough = len(part["own"]) >= 2 * LEAST_LEAF and part["depth"] < DEEPEST
            part["split"] = split(x, cost, part["own"]) if enough else (0.0, None, None)
        leaves = [other for other in leaves if other is not leaf] + leaf["parts"]

    def tree(node):
        if "parts" in node:
            return (*node["split"][1:], tree(node["parts"][0]), tree(node["parts"][1]))
        return int(numpy.argmin(cost[node["own"]].sum(axis=0)))

    return tree(root)


def print_rule(tree):
    if isinstance(tree, int):
        return str(tree)
    feature, limit, below, above = tree
    below, above = print_rule(below), print_rule(above)
    if below == above:
        return below
    if feature >= len(SIZES):
        return f"select({REMAINDERS[feature - len(SIZES)]}, {above}, {below})"
    return f"select({SIZES[feature]} <= {limit}, {below}, {above})"


def ask(tree, row):
    while not isinstance(tree, int):
        tree = tree[2] if row[tree[0]] <= tree[1] else tree[3]
    return tree


def costs(given, of, models, problems, variants):
    """log of a variant's time over the least one's, for each problem by the trees; INVALID where it is not valid."""
    valid = remember(given, of, None, {p: {variant: 1e-3 for variant in variants} for p in problems})
    x = numpy.array([features(p, variant) for p in problems for variant in variants], dtype=numpy.float32)
    cost = (sum(model.predict(x) for model in models) / len(models)).reshape(len(problems), -1)
    cost[numpy.array([[letter == "0" for letter in line] for line in valid])] = math.inf
    return numpy.minimum(cost - cost.min(axis=1, keepdims=True), INVALID)


def learn_rule(given, of, models, cache):
    """Replaces the rule of the portfolio by a tree, and what it loses by what the tree loses on the drawn problems and on others."""
    with sqlite3.connect(cache) as database:
        number, body = database.execute("SELECT id, body FROM portfolio ORDER BY learnt_at DESC, id DESC LIMIT 1").fetchone()
        variants = [line.split(" ", 3)[3] for line in body.splitlines() if line.startswith("variant ")]
        problems = draw(901, DRAWN + HELD, of, given.all)
        x, cost = rule_features(problems), costs(given, of, models, problems, variants)
        tree = grow(x[:DRAWN], cost[:DRAWN])
        lost = numpy.array([cost[i, ask(tree, row)] for i, row in enumerate(x)])
        lines = [f"rule {print_rule(tree)}", f"problems {DRAWN}"]
        for word, part in (("tuned", lost[:DRAWN]), ("held", lost[DRAWN:])):
            lines.append(f"{word} {math.exp(part.mean()):.6f} {math.exp(part.max()):.6f}")
            print(f"  {word}: {lines[-1]}, {(part >= INVALID).sum()} not valid", flush=True)
        body = "\n".join(lines + [line for line in body.splitlines() if line.startswith(("variant ", "time ", "at "))]) + "\n"
        database.execute("UPDATE portfolio SET body = ? WHERE id = ?", (body, number))


def learn(given, of, models, pairs):
    """Stores the times, has cugen learn from them, and replaces the rule."""
    name, build = "-".join(of), given.build.resolve()
    cache, problems = given.output / f"{name}.db", given.output / f"{name}.txt"
    settings = settings_of(of)
    remember(given, of, cache, pairs)
    problems.write_text("".join(f"M={p.M} N={p.N} K={p.K}\n" for p in pairs), encoding="utf-8")
    sets = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([build / "cugen", "tune", "matmul", "--problems", problems, *sets, "--device", given.device, "--portfolio", str(given.kernels),
                           "--budget", "0", "--cache", cache, "--no-library"], stdout=subprocess.PIPE, text=True, check=True)
    print(f"{name}: {next((line for line in done.stdout.splitlines() if line.startswith('On these')), 'nothing learnt')}", flush=True)
    learn_rule(given, of, models, cache)


def read_class(text):
    words = tuple(text.split(","))
    if len(words) != 3 or words[0] not in FLOPS:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form bf16,row,col")
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("times", type=pathlib.Path)
    parser.add_argument("--also", type=pathlib.Path, metavar="FILE", help="times that were taken in another way")
    parser.add_argument("classes", nargs="*", type=read_class, metavar="CLASS")
    parser.add_argument("--kernels", type=int, default=10, help="of a portfolio, at most (default: 10)")
    parser.add_argument("--synthetic", type=int, default=260, metavar="N", help="problems drawn for each class (default: 260)")
    parser.add_argument("--all", action="store_true", help="draws problems of any size")
    parser.add_argument("--device", default="model:H200")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--check", action="store_true", help="tells how well the trees choose, and learns nothing")
    given = parser.parse_args()
    times = Times(read_times(given.times), read_times(given.also) if given.also else ())
    print(f"{len(times.rows)} times of {len(times.numbers)} problems")
    if given.check:
        return check(times)
    given.output.mkdir(exist_ok=True)
    r = numpy.random.RandomState(1)
    models = [times.fit(r.permutation(len(times.numbers)) < 0.85 * len(times.numbers), seed) for seed in range(MODELS)]
    for of in given.classes:
        learn(given, of, models, fill(times, models, of, given))
    return None


if __name__ == "__main__":
    main()

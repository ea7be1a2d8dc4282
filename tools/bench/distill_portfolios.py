#!/usr/bin/env python3
"""distill_portfolios.py BUILD TIMES.tsv[.xz] CLASS [...] [--kernels 10] [--synthetic 260] [--output FOLDER]: portfolios for products of
which the few measured times of single classes are too little to learn from. It needs no GPU, and scikit-learn from PyPI.

TIMES has a line for each time: dtype, layout_a, layout_b, M, N, K, variant, seconds, with tabs between. CLASS is dtype,layout_a,layout_b:
bf16,row,col. Gradient-boosted trees over features of problem and variant learn from the times of all types and layouts at once. They fill in
what was not measured: of the measured problems and of others, drawn at random (the least of M, N and K at most 64, or at most 132 tiles of
128 x 128 in C; --all: any), the times of the candidates that were near the fastest somewhere. `cugen tune --portfolio --budget 0` learns
its rule from both; it is kept in FOLDER/DTYPE-LAYOUTS.db, from which tools/bench/ship-portfolio writes what ships:

  tools/bench/ship-portfolio OUT/f32-row-col.db matmul-f32-nt --reach 64 --else matmul-f32-H200.txt --mirror \\
    --where 'min(M, N, K) <= 64 or ceil_div(M, 128) * ceil_div(N, 128) <= 132'

--check tells instead how much slower than the best measured variant the trees' choice is, for problems that they were not fitted to."""
import argparse
import collections
import lzma
import math
import os
import pathlib
import random
import re
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

Problem = collections.namedtuple("Problem", "dtype layout_a layout_b M N K")


def read_times(path):
    text = (lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8")).read()
    rows = [line.split("\t") for line in text.splitlines()]
    return [(Problem(*row[:3], *map(int, row[3:6])), row[6], float(row[7])) for row in rows]


def bytes_of(p):
    return (p.M * p.K + p.K * p.N) * BYTES[p.dtype] + p.M * p.N * RESULT_BYTES[p.dtype]


def roofline(p):
    """Seconds, roughly: times are learnt relative to this."""
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
            log2(p.M * p.N * p.K / efficiency / max(min(blocks, 8 * MULTIPROCESSORS), 1)), *own]


# ---- The trees ---------------------------------------------------------------------------------------------------------


class Times:
    def __init__(self, rows):
        self.rows = rows
        self.x = numpy.array([features(p, variant) for p, variant, _ in rows], dtype=numpy.float32)
        self.y = numpy.array([math.log(seconds / roofline(p)) for p, _, seconds in rows])
        self.numbers = {}
        self.problem = numpy.array([self.numbers.setdefault(p, len(self.numbers)) for p, _, _ in rows])
        self.best = numpy.full(len(self.numbers), math.inf)
        numpy.minimum.at(self.best, self.problem, self.y)

    def fit(self, chosen, seed):
        """From the chosen problems. Variants near a problem's best count most: they are chosen among."""
        of = chosen[self.problem]
        model = HistGradientBoostingRegressor(max_iter=200, learning_rate=0.1, min_samples_leaf=8, l2_regularization=1.0, random_state=seed)
        weight = numpy.exp(-2 * (self.y - self.best[self.problem]))
        return model.fit(self.x[of], self.y[of], sample_weight=weight[of])


def check(times):
    fold = numpy.random.RandomState(0).permutation(len(times.numbers)) % FOLDS
    predicted = numpy.zeros(len(times.y))
    for k in range(FOLDS):
        left_out = fold[times.problem] == k
        predicted[left_out] = times.fit(fold != k, k).predict(times.x[left_out])
    losses = collections.defaultdict(list)
    for p, i in times.numbers.items():
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
        # Not those of `naive`: which way its blocks lie decides, so that for another layout of C, which the portfolio serves, too, they took
        # up to eight times as long as the best.
        if p[:3] == of and not variant.startswith("naive "):
            measured[p][variant] = seconds
            near[variant] += y <= times.best[times.numbers[p]] + math.log(1.15)
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


def learn(given, of, pairs):
    """Stores the times and has cugen learn from them."""
    name, build = "-".join(of), given.build.resolve()
    cache, problems = given.output / f"{name}.db", given.output / f"{name}.txt"
    cache.unlink(missing_ok=True)
    settings = [f"{key}={value}" for key, value in zip(Problem._fields, of)]
    lines = ["\t".join([" ".join([f"M={p.M} N={p.N} K={p.K}", *settings]), *(word for variant, seconds in timed.items() for word in (variant, repr(seconds)))])
             for p, timed in pairs.items()]
    subprocess.run([build / "bench_remember", "matmul", cache], input="".join(f"{line}\n" for line in lines), stdout=subprocess.DEVNULL, text=True, check=True,
                   env=dict(os.environ, CUGEN_DEVICE=given.device, CUGEN_CACHE=str(cache)))
    problems.write_text("".join(f"M={p.M} N={p.N} K={p.K}\n" for p in pairs), encoding="utf-8")
    sets = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([build / "cugen", "tune", "matmul", "--problems", problems, *sets, "--device", given.device, "--portfolio", str(given.kernels),
                           "--budget", "0", "--cache", cache, "--no-library"], stdout=subprocess.PIPE, text=True, check=True)
    print(f"{name}: {next((line for line in done.stdout.splitlines() if line.startswith('On these')), 'nothing learnt')}", flush=True)


def read_class(text):
    words = tuple(text.split(","))
    if len(words) != 3 or words[0] not in FLOPS:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form bf16,row,col")
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("times", type=pathlib.Path)
    parser.add_argument("classes", nargs="*", type=read_class, metavar="CLASS")
    parser.add_argument("--kernels", type=int, default=10, help="of a portfolio, at most (default: 10)")
    parser.add_argument("--synthetic", type=int, default=260, metavar="N", help="problems drawn for each class (default: 260)")
    parser.add_argument("--all", action="store_true", help="draws problems of any size")
    parser.add_argument("--device", default="model:H200")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--check", action="store_true", help="tells how well the trees choose, and learns nothing")
    given = parser.parse_args()
    times = Times(read_times(given.times))
    print(f"{len(times.rows)} times of {len(times.numbers)} problems")
    if given.check:
        return check(times)
    given.output.mkdir(exist_ok=True)
    r = numpy.random.RandomState(1)
    models = [times.fit(r.permutation(len(times.numbers)) < 0.85 * len(times.numbers), seed) for seed in range(MODELS)]
    for of in given.classes:
        learn(given, of, fill(times, models, of, given))
    return None


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""distill_portfolios.py BUILD TIMES.tsv[.xz] CLASS [...] [--variants 16] [--output FOLDER]: portfolios for products of which the few measured
times of single classes are too little to learn from. It needs no GPU, and NumPy and scikit-learn from PyPI.

TIMES has a line for each time: dtype, layout_a, layout_b, layout_c, M, N, K, variant, seconds, with tabs between. CLASS is
dtype,layout_a,layout_b of products with C by rows: bf16,row,col. A product with C by columns counts as the transposed product.

1. Gradient-boosted trees over features of problem and variant learn from the times of all types and layouts at once: half of them the time,
   half of them how much slower than the product's best a variant is. Together they choose better than either.
2. Of sizes drawn at random (the least of M, N and K at most 64, or at most 132 tiles of 128 x 128 in C) they say the times of the variants
   that were near the fastest of some product. The variants by which these sizes lose least are the portfolio's.
3. Each variant gets a formula of its time, by least squares without negative terms. The rule is a tree of variants, grown where they differ
   most, in which `least` takes the place of each part that the formulas choose as well.

The portfolio is kept in FOLDER/DTYPE-LAYOUTS.db, from which tools/bench/ship-portfolio writes what ships:

  tools/bench/ship-portfolio OUT/f32-row-col.db matmul-f32-nt --reach 64 --else matmul-f32-nt-H200.txt --mirror \\
    --where 'min(M, N, K) <= 64 or ceil_div(M, 128) * ceil_div(N, 128) <= 132'

(A class that had no portfolio takes what served it elsewhere: --else matmul-f32-H200.txt --turn-else for f32,col,col.)

--check does all of this on four fifths of the products five times and tells how much slower than the best known the choice is for the others.
A chosen variant that was not timed there gets a time by trees that know that product's other times; it counts apart, too."""
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

from matmul_valid import ceil_div, valid

BYTES = {"f32": 4, "tf32": 4, "f64": 8, "bf16": 2, "f16": 2, "e4m3": 1, "i8": 1}
RESULT_BYTES = dict(BYTES, e4m3=2, i8=4)
FLOPS = {"f32": 60e12, "tf32": 350e12, "f64": 60e12, "bf16": 700e12, "f16": 700e12, "e4m3": 1400e12, "i8": 1400e12}  # of an H200
BYTES_A_SECOND, LAUNCH, MULTIPROCESSORS = 4.2e12, 2e-6, 132
IMPLEMENTATIONS = ["naive", "skinny", "tiled", "blocked", "pipelined", "packed", "mma", "wgmma_stream", "wgmma"]
ALIKE = {"f16": "bf16"}  # types whose products take the same time

Class = collections.namedtuple("Class", "dtype layout_a layout_b")
Product = collections.namedtuple("Product", "of M N K")  # with C by rows


# ---- Times -------------------------------------------------------------------------------------------------------------


# Names and values that change places for the transposed product, but where the tile is of the transpose already: as in ship-portfolio.
PAIRS = "M N BM BN WM WN TM TN rows cols x y".split()
EXCHANGE = {**dict(zip(PAIRS[::2], PAIRS[1::2])), **dict(zip(PAIRS[1::2], PAIRS[::2]))}
OTHER = {"row": "col", "col": "row"}


def mirrored(variant):
    return variant if variant.startswith("wgmma") else re.sub(r"\w+", lambda word: EXCHANGE.get(word[0], word[0]), variant)


def sorted_words(variant):
    """Of two variants that are the same the same text."""
    implementation, *words = variant.split()
    return " ".join([implementation, *sorted(words)])


def read_times(path):
    """(product, variant, seconds) of products with C by rows."""
    text = (lzma.open(path, "rt") if path.suffix == ".xz" else open(path, encoding="utf-8")).read()
    texts, out = {}, []
    for line in text.splitlines():
        dtype, a, b, c, m, n, k, variant, seconds = line.split("\t")
        product = Product(Class(dtype, a, b), int(m), int(n), int(k))
        if c == "col":
            product, variant = Product(Class(dtype, OTHER[b], OTHER[a]), int(n), int(m), int(k)), mirrored(variant)
        out.append((product, texts.setdefault(sorted_words(variant), variant), float(seconds)))
    return out


# ---- Features ----------------------------------------------------------------------------------------------------------


SETTINGS = ("BM BN WM WN TM TN BK tile block_x block_y consumers pingpong cluster_x cluster_y split_k split swap group store_buffers deferred promote "
            "k_bytes stages min_blocks f64_rows f64_k pad vec units warps_k warps_x unroll ahead lanes_m bursts double_buffer aligned").split()
WORDS = {"true": 1, "false": 0, "down": 1, "right": 2, "hilbert": 3, "rows": 1, "cols": 2, "x": 0, "y": 1}


def settings_of(variant):
    implementation, *words = variant.split()
    named = dict(word.split("=") for word in words)
    values = [named.get(name, 0) for name in [*SETTINGS, "order", "columns_along"]]
    return [IMPLEMENTATIONS.index(implementation), *(float(WORDS.get(value, value)) for value in values)]


def log2(values):
    return numpy.log2(numpy.maximum(values, 1e-3))


def bytes_of(product):
    return ((product.M * product.K + product.K * product.N) * BYTES[product.of.dtype] + product.M * product.N * RESULT_BYTES[product.of.dtype])


def roofline(product):
    """Seconds, roughly: times are learnt relative to this."""
    return LAUNCH + bytes_of(product) / BYTES_A_SECOND + 2.0 * product.M * product.N * product.K / FLOPS[product.of.dtype]


def lowest_bit(values):
    """What values are multiples of, at most 16."""
    values = values.astype(numpy.int64)
    return numpy.minimum(values & -values, 16)


def features(products, variants):
    """Of each product and the variant beside it, as rows."""
    m, n, k = (numpy.array([getattr(product, size) for product in products], dtype=float) for size in "MNK")
    dtypes = numpy.array([list(BYTES).index(ALIKE.get(product.of.dtype, product.of.dtype)) for product in products])
    size, result = (numpy.array([table[product.of.dtype] for product in products], dtype=float) for table in (BYTES, RESULT_BYTES))
    a_along_k = numpy.array([product.of.layout_a == "row" for product in products])
    b_along_k = numpy.array([product.of.layout_b == "col" for product in products])
    table = {variant: settings_of(variant) for variant in set(variants)}
    columns = numpy.array([table[variant] for variant in variants]).T
    implementation, of = columns[0].astype(int), dict(zip([*SETTINGS, "order", "columns_along"], columns[1:]))
    tensor, skinny = implementation >= IMPLEMENTATIONS.index("wgmma_stream"), implementation == IMPLEMENTATIONS.index("skinny")

    # The block's tile of C, its threads, how much of all tiles is inside C.
    rows = numpy.maximum.reduce([of["BM"], of["tile"], of["block_y"], numpy.ones_like(m)])
    cols = numpy.maximum.reduce([of["BN"], of["tile"], of["block_x"], numpy.ones_like(m)])
    turned = (of["swap"] > 0) | (of["columns_along"] > 0)
    rows, cols = numpy.where(turned, cols, rows), numpy.where(turned, rows, cols)
    split = numpy.maximum.reduce([of["split_k"], of["split"], numpy.ones_like(m)])
    blocks = numpy.ceil(m / rows) * numpy.ceil(n / cols) * split
    inside = m * n * split / (blocks * rows * cols)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        threads = numpy.where(tensor, 128 * (of["consumers"] + 1), rows * cols)
        threads = numpy.where(of["TM"] > 0, of["BM"] / of["TM"] * of["BN"] / of["TN"], threads)
        threads = numpy.where(of["WM"] > 0, 32 * of["BM"] / of["WM"] * of["BN"] / of["WN"], threads)

    # configs/matmul/skinny.lua derives the same.
    x_is_a, slice_, many, few = m >= n, 16 // size, numpy.maximum(m, n), numpy.minimum(m, n)
    x_along_k, y_along_k = numpy.where(x_is_a, a_along_k, b_along_k), numpy.where(x_is_a, b_along_k, a_along_k)
    block_x = numpy.maximum(numpy.where(x_along_k, 16, 8 * slice_) * of["units"] * of["warps_x"], 1)
    lines = numpy.ceil(many / block_x)
    chunks = numpy.ceil(k / numpy.maximum(4 * numpy.where(x_along_k, 2 * slice_, slice_) * of["unroll"], 1))
    turns = numpy.where(skinny, chunks / numpy.maximum(of["warps_k"] * of["split"], 1), 0)
    rows, cols = numpy.where(skinny, block_x, rows), numpy.where(skinny, few, cols)
    inside, blocks = numpy.where(skinny, many / (lines * block_x), inside), numpy.where(skinny, lines * split, blocks)
    threads = numpy.where(skinny, 32 * of["warps_k"] * of["warps_x"], threads)

    waves = numpy.ceil(blocks / MULTIPROCESSORS)
    aligned = [lowest_bit(numpy.where(a_along_k, k, m) * size), lowest_bit(numpy.where(b_along_k, k, n) * size), lowest_bit(n * result)]
    padded = [tensor * (bytes_ < 16) for bytes_ in aligned]  # operands of which wgmma takes copies
    copied = padded[0] * m * k * size + padded[1] * k * n * size + padded[2] * m * n * result
    per_k = k / split
    step = numpy.where(tensor, 128, numpy.maximum(of["k_bytes"], numpy.where(of["BK"] > 0, of["BK"] * size, 32)))
    all_bytes = (m * k + k * n) * size + m * n * result
    out = [log2(m), log2(n), log2(k), log2(many), log2(few), x_is_a, x_along_k, y_along_k, a_along_k, b_along_k, size,
           lowest_bit(m), lowest_bit(n), lowest_bit(k), *aligned, log2(all_bytes), log2(m * n * k), log2(m * n), *(dtypes == i for i in range(len(BYTES))),
           *(implementation == i for i in range(len(IMPLEMENTATIONS))), implementation,
           log2(rows), log2(cols), inside, log2(blocks), numpy.minimum(waves, 64), blocks / MULTIPROCESSORS / numpy.maximum(waves, 1), log2(threads),
           log2(m * n * k / inside / numpy.maximum(numpy.minimum(blocks, 8 * MULTIPROCESSORS), 1)), log2(waves * rows * cols * per_k),
           log2(waves * (rows + cols) * per_k * size), log2(numpy.ceil(per_k * size / step)), log2(per_k), log2(2 * copied + 1), sum(padded), log2(split),
           cols / numpy.maximum(numpy.where(skinny, cols, n), 1), rows / numpy.maximum(m, 1),
           numpy.where(skinny, numpy.where(dtypes == list(BYTES).index("f32"), few, numpy.ceil(few / 8)), 0), log2(turns), numpy.ceil(turns),
           numpy.ceil(turns) / numpy.maximum(turns, 1e-3), log2(numpy.where(skinny, threads * blocks / 32, 1)),
           numpy.maximum(of["cluster_x"], 1) * numpy.maximum(of["cluster_y"], 1), *of.values()]
    return numpy.array(out, dtype=numpy.float32).T


# ---- The trees ---------------------------------------------------------------------------------------------------------


SLOW, ROUNDS, SEEDS = 2.0, 200, 2  # log of a ratio beyond which it does not matter how slow a variant is


class Times:
    def __init__(self, rows):
        self.products, self.variants = [row[0] for row in rows], [row[1] for row in rows]
        self.x = features(self.products, self.variants)
        self.y = numpy.log([row[2] / roofline(row[0]) for row in rows])
        self.numbers = {}
        self.product = numpy.array([self.numbers.setdefault(product, len(self.numbers)) for product in self.products])
        self.best = numpy.full(len(self.numbers), math.inf)
        numpy.minimum.at(self.best, self.product, self.y)
        self.slower = self.y - self.best[self.product]


class Trees:
    """Fitted to the chosen rows. Variants near a product's best count most: they are chosen among."""

    def __init__(self, times, chosen, seed=0):
        weight = numpy.exp(-2 * times.slower[chosen])
        self.pairs = [[self.model(2 * (seed + i) + j).fit(times.x[chosen], y[chosen], sample_weight=weight)
                       for j, y in enumerate((times.y, numpy.minimum(times.slower, SLOW)))] for i in range(SEEDS)]

    @staticmethod
    def model(seed):
        return HistGradientBoostingRegressor(max_iter=ROUNDS, learning_rate=0.1, min_samples_leaf=8, l2_regularization=1.0, max_bins=64,
                                             max_features=0.25, random_state=seed)

    def both(self, x):
        """The mean of what each kind says: log of the time over the roofline's, and over the best's."""
        return [numpy.mean([pair[j].predict(x) for pair in self.pairs], axis=0) for j in range(2)]

    def times(self, of, sizes, variants):
        """log of the seconds of each size and variant, infinite where it is not valid."""
        good = valid(*of, variants, sizes)
        products = [Product(of, *map(int, row)) for row in sizes]
        rows, columns = numpy.where(good)
        both = self.both(features([products[row] for row in rows], [variants[column] for column in columns]))
        time, rank = numpy.full(good.shape, math.inf), numpy.full(good.shape, math.inf)
        time[rows, columns], rank[rows, columns] = both[0], (both[0] + both[1]) / 2
        level = numpy.log([roofline(product) for product in products]) + time.min(axis=1)
        return level[:, None] + rank - rank.min(axis=1, keepdims=True)


# ---- Variants of a portfolio -------------------------------------------------------------------------------------------


DRAWN, HELD, FIRST, CANDIDATES, MOST_FIRST = 2500, 500, 220, 36, 100
INVALID = math.log(8)  # what a variant that is not valid counts as, times the best


def is_small(m, n, k):
    return min(m, n, k) <= 64 or ceil_div(m, 128) * ceil_div(n, 128) <= MULTIPROCESSORS


def draw(seed, count):
    """Log-uniform sizes, a quarter of them odd; not so large that a product takes milliseconds."""
    r, out = random.Random(seed), {}
    while len(out) < count:
        step = r.choice([1, 8, 8, 16])
        sizes = [round(math.exp(r.uniform(0, math.log(16384)))) for _ in range(3)]
        sizes = [size if size < 2 * step else size // step * step for size in sizes]
        if 3e4 <= math.prod(sizes) <= 1.5e10 and is_small(*sizes):
            out[tuple(sizes)] = None
    return numpy.array(list(out), dtype=numpy.int64)


def alike(dtype):
    return [name for name in BYTES if ALIKE.get(name, name) == ALIKE.get(dtype, dtype)]


def list_near(times, chosen, of):
    """Variants that were near the fastest of a product of the type, those of the class first."""
    near = collections.Counter()
    for row in numpy.where(chosen & (times.slower <= math.log(1.15)))[0]:
        other = times.products[row].of
        if other.dtype in alike(of.dtype):
            near[times.variants[row]] += 1 if other[1:] == of[1:] else 0.3
    return [variant for variant, _ in near.most_common(MOST_FIRST)]


def losses(times):
    return numpy.minimum(times - times.min(axis=1, keepdims=True), INVALID)


def choose(lost, most, least_gain):
    """Indices of variants, one after the other that which gains most over all sizes."""
    cost, chosen = numpy.full(len(lost), INVALID), []
    while len(chosen) < min(most, lost.shape[1]):
        gains = numpy.maximum(cost[:, None] - lost, 0).sum(axis=0)
        best = int(numpy.argmax(gains))
        if gains[best] < least_gain * len(lost):
            break
        chosen.append(best)
        cost = numpy.minimum(cost, lost[:, best])
    return chosen


# ---- Formulas ----------------------------------------------------------------------------------------------------------


def tile_of(variant):
    settings = dict(word.split("=") for word in variant.split()[1:])
    rows = settings.get("BM") or settings.get("tile") or settings.get("block_y")
    cols = settings.get("BN") or settings.get("tile") or settings.get("block_x")
    return (cols, rows) if settings.get("swap") == "true" or settings.get("columns_along") == "y" else (rows, cols)


def terms(of, variant):
    """What a time may be a sum of: expressions of configs."""
    implementation = variant.split()[0]
    parts = re.search(r" split(?:_k)?=(\d+)", variant)
    tiles = "ceil_div(max(M, N), 64)" if implementation == "skinny" else "ceil_div(M, {}) * ceil_div(N, {})".format(*tile_of(variant))
    tiles += " * batch" + (f" * {parts[1]}" if parts and parts[1] != "1" else "")
    waves = f"ceil_div({tiles}, {MULTIPROCESSORS})"
    out = ["1", "K", "M * K * batch", "N * K * batch", "M * N * batch", tiles, waves, f"{waves} * K"]
    if implementation == "skinny":
        out.append("M * N * K * batch")
    if implementation.startswith("wgmma") or implementation in ("mma", "skinny"):
        slice_ = 16 // BYTES[of.dtype]
        a, b = (f"{'K' if of.layout_a == 'row' else 'M'} % {slice_} ~= 0", f"{'K' if of.layout_b == 'col' else 'N'} % {slice_} ~= 0")
        out += [f"select({a}, M * K * batch, 0)", f"select({b}, N * K * batch, 0)", f"select({a if a == b else f'{a} or {b}'}, 1, 0)"]
        if implementation.startswith("wgmma"):
            out.append(f"select(N % {16 // RESULT_BYTES[of.dtype]} ~= 0, M * N * batch, 0)")
    return out


def evaluate(text, sizes):
    """Of an expression whose conditions are remainders and bounds, for all sizes."""
    names = {"M": sizes[:, 0], "N": sizes[:, 1], "K": sizes[:, 2], "batch": 1, "max": numpy.maximum, "min": numpy.minimum, "ceil_div": ceil_div,
             "select": numpy.where, "__builtins__": {}}
    python = re.sub(r"(\w+ % \d+) ~= 0", r"(\1 != 0)", text).replace(" or ", " | ")
    return numpy.broadcast_to(eval(python, names), len(sizes))


def fit(columns, weight):
    """The numbers of 0 or more by which the columns add up to 1, nearly."""
    scale = numpy.sqrt((columns ** 2).sum(axis=0)) + 1e-300
    columns = columns / scale * weight[:, None]
    products, wanted, out = columns.T @ columns, columns.T @ weight, numpy.zeros(len(scale))
    for _ in range(400):
        for j in range(len(out)):
            out[j] = max(0.0, out[j] + (wanted[j] - products[j] @ out) / products[j, j]) if products[j, j] > 1e-9 else 0
    return out / scale


class Formula:
    """Microseconds."""

    def __init__(self, of, variant, sizes, microseconds, lost):
        given = terms(of, variant)
        columns = numpy.array([evaluate(text, sizes) for text in given], dtype=float).T / microseconds[:, None]
        self.terms = [(factor, text) for factor, text in zip(fit(columns, numpy.exp(-lost)), given) if factor > 0]

    def text(self):
        return " + ".join(f"{factor:.4g}" if text == "1" else f"{factor:.4g} * {text}" for factor, text in self.terms)

    def at(self, sizes):
        return sum(factor * evaluate(text, sizes) for factor, text in self.terms)


# ---- The rule ----------------------------------------------------------------------------------------------------------


LEAVES, LEAST_LEAF, DEEPEST, LEAST_GAIN, A_LEAF = 150, 8, 20, 2e-4, 0.3
SIZES = ["M", "N", "K", "M * N", "M * K", "N * K", "M * N * K", "max(M, N)", "min(M, N)"] + \
    [f"ceil_div(M, {rows}) * ceil_div(N, {cols})" for rows, cols in ((16, 16), (32, 32), (64, 64), (128, 128), (64, 128), (128, 64))] + \
    ["M // N", "N // M", "K // M", "K // N", "M // K", "N // K"]
REMAINDERS = [f"{size} % {step} ~= 0" for step in (16, 8, 4, 2) for size in "MNK"] + \
    [f"M % {step} ~= 0 or N % {step} ~= 0 or K % {step} ~= 0" for step in (16, 8, 4, 2)]


def rule_features(sizes):
    return numpy.array([evaluate(text, sizes) for text in SIZES + REMAINDERS], dtype=numpy.int64).T


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
    best, whole = (0.0, None, None), cost[own].sum(axis=0)
    for feature in range(x.shape[1]):
        order = own[numpy.argsort(x[own, feature], kind="stable")]
        values = x[order, feature]
        cuts = numpy.where(values[1:] != values[:-1])[0]
        cuts = cuts[(cuts >= LEAST_LEAF - 1) & (cuts < len(own) - LEAST_LEAF)]
        if len(cuts):
            sums = numpy.cumsum(cost[order], axis=0)[cuts]
            gains = whole.min() - sums.min(axis=1) - (whole - sums).min(axis=1)
            at = int(numpy.argmax(gains))
            if gains[at] > best[0]:
                best = (float(gains[at]), feature, between(int(values[cuts[at]]), int(values[cuts[at] + 1])))
    return best


def grow(x, cost):
    """A tree: a variant's number, or (feature, limit, tree where at most the limit, tree elsewhere). The leaf that gains most is split next."""
    root = {"own": numpy.arange(len(x)), "depth": 0}
    root["split"] = split(x, cost, root["own"])
    leaves = [root]
    while len(leaves) < LEAVES:
        leaf = max(leaves, key=lambda leaf: leaf["split"][0])
        gain, feature, limit = leaf["split"]
        if gain < LEAST_GAIN * len(x):
            break
        below = x[leaf["own"], feature] <= limit
        leaf["parts"] = [{"own": leaf["own"][side], "depth": leaf["depth"] + 1} for side in (below, ~below)]
        for part in leaf["parts"]:
            part["split"] = split(x, cost, part["own"]) if part["depth"] < DEEPEST else (0.0, None, None)
        leaves = [other for other in leaves if other is not leaf] + leaf["parts"]

    def tree(node):
        if "parts" in node:
            return (*node["split"][1:], tree(node["parts"][0]), tree(node["parts"][1]))
        return int(numpy.argmin(cost[node["own"]].sum(axis=0)))

    return tree(root)


def prune(tree, x, cost, least, own):
    """(tree, cost, leaves), where `least`, whose costs stand apart, takes the place of each part that loses little more by it."""
    number, alone = cost.shape[1], least[own].sum()
    if isinstance(tree, int):
        lost, leaves = cost[own, tree].sum(), 1
    else:
        feature, limit, *parts = tree
        below = x[own, feature] <= limit
        (below, lost_below, first), (above, lost_above, second) = (prune(part, x, cost, least, own[side]) for part, side in zip(parts, (below, ~below)))
        tree = below if below == above and isinstance(below, int) else (feature, limit, below, above)
        lost, leaves = lost_below + lost_above, 1 if isinstance(tree, int) else first + second
    return (number, alone, 1) if alone <= lost + A_LEAF * (leaves - 1) else (tree, lost, leaves)


def print_rule(tree, least):
    if isinstance(tree, int):
        return "least" if tree == least else str(tree)
    feature, limit, below, above = tree
    below, above = print_rule(below, least), print_rule(above, least)
    if feature >= len(SIZES):
        return f"select({REMAINDERS[feature - len(SIZES)]}, {above}, {below})"
    return f"select({SIZES[feature]} <= {limit}, {below}, {above})"


def ask(tree, x, own):
    """(index, variant's number) of the rows."""
    if isinstance(tree, int) or not len(own):
        return [(int(i), tree) for i in own]
    below = x[own, tree[0]] <= tree[1]
    return ask(tree[2], x, own[below]) + ask(tree[3], x, own[~below])


# ---- A portfolio -------------------------------------------------------------------------------------------------------


DOUBTED = 1.6  # where the rule's variant is this much slower by the formulas than the least, that serves


class Portfolio:
    def __init__(self, times, chosen, trees, of, most):
        candidates = list_near(times, chosen, of)
        first = draw(7, FIRST)
        lost = losses(trees.times(of, first, candidates))
        candidates = [candidates[i] for i in choose(lost, CANDIDATES, 1e-4)]
        own = [(p.M, p.N, p.K) for p in {times.products[row] for row in numpy.where(chosen)[0]}
               if p.of.dtype in alike(of.dtype) and p.of[1:] == of[1:] and is_small(p.M, p.N, p.K)]
        sizes = numpy.concatenate([draw(900, DRAWN), numpy.array(own, dtype=numpy.int64).reshape(-1, 3)])
        known = trees.times(of, sizes, candidates)
        variants = choose(losses(known), most, 2e-4)
        known = known[:, variants]
        self.of, self.variants, self.sizes = of, [candidates[i] for i in variants], sizes
        lost = losses(known)
        self.formulas, self.at, self.counts = [], [], numpy.bincount(lost.argmin(axis=1), minlength=len(variants))
        for i, variant in enumerate(self.variants):
            good = lost[:, i] < min(SLOW, INVALID)
            self.formulas.append(Formula(of, variant, sizes[good], 1e6 * numpy.exp(known[good, i]), lost[good, i]))
            self.at.append(sizes[int(lost[:, i].argmin())])
        x, estimated = rule_features(sizes), self.estimate(sizes, numpy.isfinite(known))
        least = lost[numpy.arange(len(sizes)), estimated.argmin(axis=1)]
        self.rule, *_ = prune(grow(x, lost), x, lost, least, numpy.arange(len(x)))
        held = draw(901, HELD)
        self.lost = [losses(times_)[numpy.arange(len(times_)), self.serve(where)] for where, times_ in
                     ((sizes, known), (held, trees.times(of, held, self.variants)))]

    def estimate(self, sizes, good):
        return numpy.where(good, numpy.array([formula.at(sizes) for formula in self.formulas]).T, math.inf)

    def serve(self, sizes):
        """Indices of variants, as api/portfolio.c takes them."""
        good, rows = valid(*self.of, self.variants, sizes), numpy.arange(len(sizes))
        estimated = self.estimate(sizes, good)
        least, named = estimated.argmin(axis=1), numpy.zeros(len(sizes), int)
        for row, number in ask(self.rule, rule_features(sizes), rows):
            named[row] = number if number < len(self.variants) else least[row]
        doubted = estimated[rows, named] > DOUBTED * estimated[rows, least]
        return numpy.where(good[rows, named] & ~doubted, named, least)

    def body(self, hashes, problems):
        lines = [f"rule {print_rule(self.rule, len(self.variants))}", f"problems {len(self.sizes)}"]
        lines += [f"{word} {math.exp(lost.mean()):.6f} {math.exp(lost.max()):.6f}" for word, lost in zip(("tuned", "held"), self.lost)]
        lines.append(f"doubted {DOUBTED:.6f}")
        for count, source, variant, formula, problem in zip(self.counts, hashes, self.variants, self.formulas, problems):
            lines += [f"variant {count} {source} {variant}", f"time {formula.text()}", f"at {problem}"]
        return "\n".join(lines) + "\n"


def name_of(of):
    return "-".join(of)


def largest(sizes):
    return max(sizes, key=lambda row: math.prod(map(int, row)))


def keep(portfolio, given):
    """Stores the portfolio as `cugen tune --portfolio` does, beside a record of each variant, which has the hash of its source, and one of the
    largest size, which ship-portfolio looks for."""
    of, path = portfolio.of, given.output / f"{name_of(portfolio.of)}.db"
    path.unlink(missing_ok=True)
    most = largest(portfolio.sizes)
    places = [*zip(portfolio.variants, portfolio.at), (portfolio.variants[portfolio.serve(most[None])[0]], most)]
    lines = ["M={} N={} K={} dtype={} layout_a={} layout_b={}\t{}\t1e-3\n".format(*at, *of, variant) for variant, at in places]
    subprocess.run([given.build.resolve() / "bench_remember", "matmul", path], input="".join(lines), stdout=subprocess.DEVNULL, text=True, check=True,
                   env=dict(os.environ, CUGEN_DEVICE=given.device))
    with sqlite3.connect(path) as cache:
        hashes = {sorted_words(variant): source for variant, source in cache.execute("SELECT variant, source_hash FROM record")}
        spaces = {tuple(re.findall(r"\b[MNK]=(\d+)", space[2])): space for space in cache.execute("SELECT device, config, problem, options FROM space")}
        device, config, problem, options = next(iter(spaces.values()))
        of_class = " ".join(word for word in problem.split() if word.split("=")[0] not in ("M", "N", "K", "batch"))
        problems = [spaces[tuple(map(str, at))][2] for at in portfolio.at]
        cache.execute("INSERT INTO portfolio (device, config, class, options, origin, objective, learnt_at, body) VALUES (?, ?, ?, ?, '', 'time', 1, ?)",
                      (device, config, of_class, options, portfolio.body([hashes[sorted_words(variant)] for variant in portfolio.variants], problems)))
    lost = [f"{math.exp(part.mean()):.3f}" for part in portfolio.lost]
    print(f"{name_of(of)}: {len(portfolio.variants)} variants; by the trees {lost[0]} times the best, of other sizes {lost[1]}", flush=True)


# ---- The check ---------------------------------------------------------------------------------------------------------


FOLDS = 5


class Unknown:
    """Losses of variants that have no time for a product: by trees that were fitted to all times, moved to that product's own."""

    def __init__(self, times):
        self.times, self.trees = times, Trees(times, numpy.ones(len(times.y), bool), seed=50)
        self.rows = collections.defaultdict(list)
        for row, number in enumerate(times.product):
            self.rows[number].append(row)

    def loss(self, number, variant):
        rows, times = self.rows[number], self.times
        known = [row for row in rows if times.variants[row] == variant]
        if known:
            return float(times.slower[known[0]]), True
        weight = numpy.exp(-3 * times.slower[rows])
        time, rank = self.trees.both(times.x[rows])
        own_time, own_rank = self.trees.both(features([times.products[rows[0]]], [variant]))
        time = own_time[0] + numpy.average(times.y[rows] - time, weights=weight) - times.best[number]
        rank = own_rank[0] + numpy.average(numpy.minimum(times.slower[rows], SLOW) - rank, weights=weight)
        return max(float(time + rank) / 2, 0.0), False


def say(name, lost):
    if lost:
        values = numpy.array(lost)
        return f"{name} {len(lost):4}: {math.exp(values.mean()):.3f}, p90 {math.exp(numpy.quantile(values, 0.9)):.2f}, worst {math.exp(values.max()):.2f}"
    return f"{name}    0"


def check(times, given):
    fold, unknown = numpy.random.RandomState(1).permutation(len(times.numbers)) % FOLDS, Unknown(times)
    losses_of = collections.defaultdict(list)
    for k in range(FOLDS):
        chosen = fold[times.product] != k
        trees = Trees(times, chosen)
        for of in given.classes:
            left = [(product, number) for product, number in times.numbers.items()
                    if fold[number] == k and product.of.dtype in alike(of.dtype) and product.of[1:] == of[1:] and is_small(*product[1:])]
            if left:
                portfolio = Portfolio(times, chosen, trees, of, given.variants)
                served = portfolio.serve(numpy.array([product[1:] for product, _ in left], dtype=numpy.int64))
                losses_of[of] += [unknown.loss(number, portfolio.variants[i]) for (_, number), i in zip(left, served)]
    for of, lost in [*losses_of.items(), ("all", sum(losses_of.values(), []))]:
        print(f"{name_of(of) if of != 'all' else of:14} {say('all', [one for one, _ in lost])} | {say('timed', [one for one, known in lost if known])}")


def read_class(text):
    words = tuple(text.split(","))
    if len(words) != 3 or words[0] not in FLOPS:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form bf16,row,col")
    return Class(*words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("times", type=pathlib.Path)
    parser.add_argument("classes", nargs="+", type=read_class, metavar="CLASS")
    parser.add_argument("--variants", type=int, default=16, help="of a portfolio, at most (default: 16)")
    parser.add_argument("--device", default="model:H200")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--check", action="store_true", help="tells how well the rules choose, and keeps nothing")
    given = parser.parse_args()
    times = Times(read_times(given.times))
    print(f"{len(times.y)} times of {len(times.numbers)} products", flush=True)
    if given.check:
        return check(times, given)
    given.output.mkdir(exist_ok=True)
    everything = numpy.ones(len(times.y), bool)
    trees = Trees(times, everything)
    for of in given.classes:
        keep(Portfolio(times, everything, trees, of, given.variants), given)
    return None


if __name__ == "__main__":
    main()

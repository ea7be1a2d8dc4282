#!/usr/bin/env python3
"""run_portfolios.py FOLDER OUTPUT bf16|families|dense [--gpus 0,1,2,3] [--limit 9m]: portfolios on a machine with GPUs, in one go of ten
minutes.

FOLDER has cugen (and for bf16 bench_explore, if that is to run). Nothing is built. bf16: 200 sizes of one class by all GPUs, then a search
that all share, and exploring while serving. families: classes one after the other, each GPU the next one. Into OUTPUT go all tables
(tables.txt), what ships (shipped.tar.xz, for configs/portfolios/) and all that was measured, as wisdom (wisdom.tar.xz: a file for each class).

dense goes on from that wisdom (--wisdom: NAME.wisdom or NAME.wisdom.xz files, their folders, or archives of them; the last of a class
counts): first bf16 by all GPUs, then other classes, each by one GPU. It adds sizes, fills the matrix, and times what matters in turn
(tools/bench/dense.py), with the variants of NAME.kernels, a line each, where that lies beside the wisdom; FOLDER has bench_retime, too. Into OUTPUT go NAME.wisdom.xz, NAME.retimed.jsonl and log.txt.

dense --fresh 12 takes so many new sizes of each class instead, and says how much slower an untuned plan is there than the fastest that a
search found. Classes have the same time then, and those that have no portfolio are among them. --seed draws other sizes.

A rehearsal without a GPU, of small sizes: --device cpu --scale 0.05"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback

from dense import RETIMING, Dense

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCT = ("--sizes", "M,N,K", "--high", "4096", "--mix", "--problems", "24", "--held-out", "8")
PLANE = ("--mix", "--problems", "14", "--held-out", "5")
BYTES = {"f64": ("i64", "u64"), "f32": ("i32", "u32"), "f16": ("bf16", "i16", "u16"), "i8": ("u8",)}
OPERATORS = ("min", "max", "largest")


def product(name, *words, classes=(), weight=1.7):
    return name, weight, ("--config", "matmul", *PRODUCT, *as_sets(words), *as_classes(classes))


def as_sets(words):
    return [part for word in words for part in ("--set", word)]


def as_classes(classes):
    return [part for one in classes for part in ("--class", one)]


def plane(config, dtype, sizes, most="1.3e8", classes=(), words=()):
    name = "-".join([config, *(word.split("=")[1] for word in words), dtype])
    return name, 1, ("--config", config, *PLANE, "--sizes", sizes, "--most", most, *as_sets([f"dtype={dtype}", *words]), *as_classes(classes))


def same_bytes(config, dtype, sizes):
    return plane(config, dtype, sizes, classes=[f"dtype={other}" for other in BYTES[dtype]])


def reduction(axis, dtype, others):
    sizes = "cols:1024:268435456" if axis == "all" else "rows:16:65536,cols:16:65536"
    classes = [f"op={op}" for op in OPERATORS] + [f"dtype={other}{op}" for other in others for op in ("", *(f",op={op}" for op in OPERATORS))]
    return plane("reduce", dtype, sizes, "2.7e8", classes, [f"axis={axis}"])


# The first ones matter most: what does not fit in the time is left out. Name, weight, words for portfolio.py.
FAMILIES = [
    product("matmul-f32", "dtype=f32"),
    product("matmul-bf16-nt", "dtype=bf16", "layout_b=col", classes=["dtype=f16"]),
    product("matmul-tf32", "dtype=tf32"),
    same_bytes("transpose", "f32", "rows:16:16384,cols:16:16384"),
    reduction("row", "f32", []),
    product("matmul-f64", "dtype=f64"),
    same_bytes("copy", "f32", "width:64:65536,height:1:4096"),
    reduction("all", "f32", []),
    same_bytes("transpose", "f16", "rows:16:16384,cols:16:16384"),
    plane("filter", "f32", "rows:64:8192,cols:64:8192,size=3/5/7/9/11", "5e8",
          [f"boundary={boundary}" for boundary in ("zero", "mirror", "wrap")]),
    reduction("col", "f32", []),
    product("matmul-e4m3-nt", "dtype=e4m3", "layout_b=col", classes=["dtype=e5m2"]),
    same_bytes("copy", "f16", "width:64:65536,height:1:4096"),
    reduction("row", "f16", ["bf16"]),
    same_bytes("transpose", "f64", "rows:16:8192,cols:16:8192"),
    plane("particles", "f32", "n:1000:16777216"),
    product("matmul-i8-nt", "dtype=i8", "layout_b=col"),
    same_bytes("transpose", "i8", "rows:16:16384,cols:16:16384"),
    plane("sum", "f32", "n:1000:268435456", "2.7e8", ["dtype=i32"]),
    reduction("all", "f16", ["bf16"]),
    plane("reader", "f32", "n:65536:67108864,passes=1/4/16", "1e9"),
    same_bytes("copy", "f64", "width:64:65536,height:1:4096"),
]


BF16 = ("matmul-bf16", 1.7, ("--config", "matmul", "--set", "dtype=bf16", "--high", "8192", "--mix", "--problems", "200", "--held-out", "40",
                             "--class", "dtype=f16"))

# Of a dense matrix: how many sizes are wanted, the kernels that are timed in turn on all, and a weight for the time, the first ones first.
DENSE = {"matmul-bf16": (300, 24, 0), "matmul-bf16-nt": (180, 24, 160), "matmul-f32": (90, 16, 150), "matmul-e4m3-nt": (170, 24, 160),
         "matmul-tf32": (90, 16, 130), "matmul-i8-nt": (150, 24, 160), "matmul-f64": (70, 16, 120), "transpose-f32": (45, 12, 90),
         "reduce-row-f32": (45, 12, 90), "reduce-col-f32": (45, 12, 90), "filter-f32": (60, 12, 100), "transpose-f16": (45, 12, 90),
         "transpose-f64": (36, 12, 60), "reduce-all-f32": (24, 12, 45), "reduce-row-f16": (36, 12, 60), "transpose-i8": (36, 12, 60),
         "particles-f32": (24, 12, 45), "sum-f32": (24, 12, 40)}
NO_PORTFOLIO = {"copy-f32": (0, 0, 0), "copy-f16": (0, 0, 0), "reader-f32": (0, 0, 0)}
BF16_SHARE, BF16_RETIMING = 0.22, 1 # of the whole time; of that, for timing in turn: its matrix is dense enough


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("what", choices=["bf16", "families", "dense"])
    parser.add_argument("--wisdom", type=pathlib.Path, nargs="*", default=[], help="of dense: what was measured before")
    parser.add_argument("--gpus", default="0,1,2,3")
    parser.add_argument("--limit", default="9m")
    parser.add_argument("--device", default=None)
    parser.add_argument("--scale", type=float, default=1, help="of all sizes and times: less than 1 for a rehearsal")
    parser.add_argument("--fresh", type=int, default=0, help="of dense: so many sizes of each class that nothing is known of")
    parser.add_argument("--seed", type=int, default=20261128, help="of fresh sizes")
    parser.add_argument("--only", default="", help="of the families, or of dense: names, as transpose-f32,copy-f32")
    return parser.parse_args()


class Run:
    def __init__(self, given, scratch):
        self.given = given
        self.scratch = scratch
        self.begin = time.monotonic()
        units = {"s": 1, "m": 60}
        self.limit = float(given.limit[:-1]) * units[given.limit[-1]]
        self.gpus = given.gpus.split(",")
        self.threads = max(len(os.sched_getaffinity(0)) // len(self.gpus), 1)
        self.tables = {}
        self.dense = {}
        given.output.mkdir(parents=True, exist_ok=True)

    def spent(self):
        return time.monotonic() - self.begin

    def left(self):
        return self.limit - self.spent()

    def command(self, words, seconds, environment=None):
        """Its output; at the end of its time it is interrupted."""
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                   env=dict(os.environ, **(environment or {})))
        for sign in (signal.SIGINT, signal.SIGKILL):
            try:
                return process.communicate(timeout=max(seconds, 5))[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, sign)
                seconds = 15
        return process.communicate()[0]

    def portfolio(self, name, words, gpus, limit):
        """Its table, with all that it leaves in the scratch folder."""
        given = self.given
        device = ["--device", given.device] if given.device else []
        folder = self.scratch / name
        folder.mkdir()
        printed = self.command(
            [sys.executable, str(ROOT / "tools/bench/portfolio.py"), str(given.folder), *shrink(words, given.scale), *device, "--gpus", ",".join(gpus),
             "--threads", str(self.threads), "--limit", f"{limit:.0f}s", "--cache", str(folder / "cache.db"), "--output", str(folder / "table.txt"),
             "--ship", name, "--wisdom", str(folder / f"{name}.wisdom")], limit + 15)
        self.tables[name] = printed
        print(f"---- {name}, {time.monotonic() - self.begin:.0f} s after the start\n{printed}", flush=True)
        self.keep()

    def keep(self):
        """After each class, so that whatever ends this run leaves what was measured so far."""
        names = sorted(self.tables)
        (self.given.output / "tables.txt").write_text("".join(f"---- {name}\n{self.tables[name]}\n" for name in names), encoding="utf-8")
        pack(self.given.output / "shipped.tar.xz", [path for name in names for path in (self.scratch / name).glob(f"{name}-*.txt")])

    def keep_wisdom(self):
        files = [self.scratch / name / f"{name}.wisdom" for name in sorted(self.tables)]
        for file in files: # a run that was stopped has written none
            if not file.is_file() and (file.parent / "cache.db").is_file():
                self.command([str(self.given.folder / "cugen"), "cache", "export", "-q", "-o", str(file), "--cache", str(file.parent / "cache.db")], 60)
        archive = self.given.output / "wisdom.tar.xz"
        pack(archive, files)
        split(archive)


def pack(path, files):
    temporary = path.with_suffix(".part")
    with tarfile.open(temporary, "w:xz", preset=1) as archive:
        for file in files:
            if file.is_file():
                archive.add(file, file.name)
    temporary.replace(path)


def split(path):
    """Of what is too large to be fetched, parts, which `cat` joins."""
    most, data = 15 << 20, path.read_bytes()
    if len(data) <= most:
        return
    for i in range(0, len(data), most):
        path.with_name(f"{path.name}.{i // most}").write_bytes(data[i:i + most])
    path.unlink()


def shrink(words, scale):
    """For a rehearsal: sizes up to a tenth of a thousandth, problems to a few."""
    if scale == 1:
        return list(words)
    out = []
    for before, word in zip(("", *words), words):
        if before == "--sizes":
            word = ",".join(f"{part.split(':')[0]}:16:{max(int(float(part.split(':')[2]) ** 0.4), 40)}" if ":" in part else part
                            for part in word.split(","))
        if before == "--high":
            word = "100"
        if before == "--problems":
            word = "5"
        if before == "--held-out":
            word = "2"
        out.append(word)
    return out


# ---- bf16 -----------------------------------------------------------------------------------------------------------


def share_search(run, budget):
    """One size, on one GPU and on all of them."""
    given, cugen = run.given, str(run.given.folder / "cugen")
    size = ["--set", "dtype=bf16", *(word for name in "MNK" for word in ("--set", f"{name}={4096 if given.scale == 1 else 64}"))]
    one, every = (given.device or "cuda:0"), (f"{given.device},{given.device}" if given.device else "all")
    for what, device in (("one", one), ("all", every)):
        printed = run.command([cugen, "tune", "matmul", *size, "--device", device, "--budget", f"{budget:.0f}s", "--top", "3", "-q", "--cache",
                               str(run.scratch / f"{what}.db")], budget + 20)
        run.tables[f"z1-device-{what}"] = f"$ cugen tune matmul {' '.join(size)} --device {device} --budget {budget:.0f}s\n{printed}" + \
            count_measured(run.scratch / f"{what}.db")
        print(run.tables[f"z1-device-{what}"], flush=True)


def count_measured(path):
    import sqlite3
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        variants, right = database.execute("SELECT count(DISTINCT variant), count(DISTINCT CASE WHEN outcome = 0 THEN variant END) FROM record").fetchone()
        database.close()
    except sqlite3.Error as error:
        return f"{error}\n"
    return f"{variants} variants measured, {right} of them right\n"


def explore(run):
    """With the cache of the search on all GPUs."""
    program = run.given.folder / "bench_explore"
    if not program.is_file():
        return
    size, launches = ("4096", "10000") if run.given.scale == 1 else ("64", "300")
    environment = {"CUGEN_CACHE": str(run.scratch / "all.db"), "CUGEN_DEVICE": run.given.device or "cuda:0"}
    words = [str(program), "run", launches, "0.05", "matmul", *(f"{name}={size}" for name in "MNK"), "dtype=bf16"]
    for again in ("", "-again"):
        run.tables[f"z2-explore{again}"] = f"$ {' '.join(words)}\n{run.command(words, min(max(run.left(), 5), 60), environment)}"
        print(run.tables[f"z2-explore{again}"], flush=True)


def measure_bf16(run):
    others = min(85, 0.2 * run.limit)
    run.portfolio(BF16[0], BF16[2], run.gpus, run.left() - others)
    run.keep_wisdom()
    share_search(run, 0.25 * others)
    explore(run)
    run.keep()


# ---- Families -------------------------------------------------------------------------------------------------------


def measure_families(run):
    names = run.given.only.split(",") if run.given.only else []
    jobs = [job for job in FAMILIES if not names or job[0] in names]
    share = run.limit * 0.94 * len(run.gpus) / sum(weight for _, weight, _ in jobs)
    waiting = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)

    def work(gpu):
        while True:
            try:
                name, weight, words = waiting.get_nowait()
            except queue.Empty:
                return
            limit = min(share * weight, run.left() - 0.05 * run.limit)
            if limit < 0.5 * share * weight:
                return
            run.portfolio(name, words, [gpu], limit)

    with concurrent.futures.ThreadPoolExecutor(len(run.gpus)) as pool:
        list(pool.map(work, run.gpus))
    run.keep_wisdom()


# ---- A dense matrix -------------------------------------------------------------------------------------------------


def unpack(archive, folder):
    folder.mkdir()
    with tarfile.open(archive) as members:
        for member in members:
            if member.isfile():
                (folder / pathlib.PurePath(member.name).name).write_bytes(members.extractfile(member).read())
    return folder


def find_wisdom(run):
    """[name] = a file, the last one that is given"""
    found = {}
    for i, path in enumerate(run.given.wisdom):
        if path.name.endswith(".tar.xz"):
            path = unpack(path, run.scratch / f"wisdom-{i}")
        for file in sorted(path.glob("*.wisdom*")) if path.is_dir() else [path]:
            found[file.name.split(".wisdom")[0]] = file
    return found


def measure_class(run, name, gpus, limit, wisdom, keeping):
    """What goes wrong in one leaves the others."""
    words = next(words for family, _, words in [BF16, *FAMILIES] if family == name)
    sizes, kernels, _ = {**DENSE, **NO_PORTFOLIO}[name]
    sizes = sizes if run.given.scale == 1 else 8
    try:
        retiming = BF16_RETIMING if name == BF16[0] and run.given.scale == 1 and not run.given.fresh else RETIMING
        dense = Dense(run, name, shrink(words, run.given.scale), gpus, sizes, kernels, retiming, wisdom.get(name))
        run.dense[name] = dense
        dense.measure(limit)
        keeping.submit(dense.keep)
    except Exception: # pylint: disable=broad-except
        traceback.print_exc()


def deal(weights, gpus):
    """[gpu] = its classes: the heaviest first, each to the GPU that has least."""
    hands = {gpu: [] for gpu in gpus}
    for name in sorted(weights, key=lambda name: -weights[name]):
        min(hands.values(), key=lambda hand: sum(weights[one] for one in hand)).append(name)
    return hands


def measure_hand(run, gpu, hand, weights, end, wisdom, keeping):
    """One after the other; what one leaves of its time is the others'."""
    for i, name in enumerate(hand):
        weight = weights[name] / sum(weights[one] for one in hand[i:])
        measure_class(run, name, [gpu], (end - run.spent()) * weight, wisdom, keeping)


def measure_dense(run):
    every = [*DENSE, *(NO_PORTFOLIO if run.given.fresh else [])]
    names = [name for name in every if not run.given.only or name in run.given.only.split(",")]
    wisdom = find_wisdom(run)
    os.environ["XDG_STATE_HOME"] = str(run.scratch / "state") # where there is no home, no image would be kept
    end = run.limit - min(12, 0.06 * run.limit)
    with concurrent.futures.ThreadPoolExecutor(4) as keeping:
        others = [name for name in names if name != BF16[0] or run.given.fresh]
        weights = {name: 1 if run.given.fresh else DENSE[name][2] for name in others}
        if BF16[0] in names and not run.given.fresh:
            measure_class(run, BF16[0], run.gpus, (BF16_SHARE if others else 1) * end, wisdom, keeping)
        with concurrent.futures.ThreadPoolExecutor(len(run.gpus)) as pool:
            list(pool.map(lambda hand: measure_hand(run, *hand, weights, end, wisdom, keeping), deal(weights, run.gpus).items()))
    (run.given.output / "log.txt").write_text("".join(f"---- {name}\n" + "".join(f"{line}\n" for line in dense.lines)
                                                      for name, dense in run.dense.items()), encoding="utf-8")


def main():
    given = options()
    with tempfile.TemporaryDirectory() as name:
        run = Run(given, pathlib.Path(name))
        {"bf16": measure_bf16, "families": measure_families, "dense": measure_dense}[given.what](run)
        print(f"{time.monotonic() - run.begin:.0f} s in all", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""teaching.py CUGEN [--table]: the model's order of the teaching implementations is the measured one.

A ladder is a lesson of docs/memory.md: implementations of one kernel from naive to fast, or accesses from side by side to
scattered. RECORDS has their times on an H200 (tools/bench/teaching.sh). Here each step is predicted for model:H200, which takes NVRTC
and no GPU. Of two steps of a ladder whose measured times are more than MARGIN apart, the faster one must be predicted faster.
Of other pairs, a third of all, the predicted times must be no more than APART apart. How far times are off is for bench_model to say.
Every described GPU must order the pairs of ON_ALL so. --table prints the steps with both times."""
import itertools
import json
import lzma
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

RECORDS = "tools/bench/results/2026-11-23-h200-teaching.wisdom.xz"
MARGIN, APART = 1.10, 1.5

NAIVE = "naive block_x=16 block_y=16 columns_along=x"
WRONG_INDEX = "naive block_x=16 block_y=16 columns_along=y"
BROAD = "naive block_x=32 block_y=8 columns_along=x"
PRODUCT = (WRONG_INDEX, NAIVE, BROAD, "tiled tile=16 pad=0", "tiled tile=32 pad=0",
           "blocked BM=128 BN=128 BK=8 TM=8 TN=8 vec=4 pad=4 double_buffer=true group=1 min_blocks=1",
           "pipelined BM=64 BN=128 BK=16 TM=8 TN=8 lanes_m=8 order=rows bursts=1 stages=4 group=8 split=1")
TRANSPOSE = ("coalesced_read block_x=32 block_y=8", "coalesced_write block_x=32 block_y=8", "conflicts tile=32 rows_per_thread=4",
             "swizzled tile=32 rows_per_thread=4", "padded tile=32 rows_per_thread=4", "padded tile=64 rows_per_thread=8",
             "registers access=16 lanes_across=8 warps_across=2 warps_down=8 down_first=true load_through=l1",
             "vector access=16 tile_rows=64 tile_cols=64 blocks=1 bank=xor down_first=true carveout_percent=-1")
REDUCE = ("global threads=128 blocks=512", "static threads=128 blocks=512", "dynamic threads=128 blocks=512",
          "shuffle threads=256 blocks=1024", "vector threads=256 bytes_at_once=16 items=2 per_sm=8 loads=streaming",
          "onepass threads=256 bytes_at_once=16 items=2 per_sm=8 loads=streaming")
COPY = ("element threads=256", *(f"vector access={access} loads={loads} threads=256 blocks_per_sm=0 load_through=l1"
                                 for access in (4, 8, 16) for loads in (1, 2, 4)), "bulk piece=16384 stages=4 blocks_per_sm=1")
FILTER = ("naive weights_in=constant image_in=array block_x=32 block_y=8", "naive weights_in=constant image_in=texture block_x=32 block_y=8",
          "naive weights_in=global image_in=global block_x=32 block_y=8", "naive weights_in=shared image_in=global block_x=32 block_y=8",
          "naive weights_in=constant image_in=global block_x=32 block_y=8",
          "tiled weights_in=constant image_in=global block_x=32 block_y=8 rows_per_thread=4",
          "strips weights_in=constant block_x=64 block_y=2 vec=4 strip=8 unrolled=true ahead=false resident=1024")
PARTICLES = tuple(f"plain group={group} block=128 per_thread=1" for group in (1, 4, 8, 16, 32, 64, 128, 0))


def ladders():
    """(kernel, [(settings, variant), ...]) each."""
    for size in ("M=4800 N=3200 K=6400", "M=2048 N=2048 K=2048", "M=1024 N=1024 K=1024"):
        yield "matmul", [(size + " dtype=f32", step) for step in PRODUCT]
    for n in (8192, 4096, 1024):
        yield "transpose", [(f"rows={n} cols={n}", step) for step in TRANSPOSE]
    for n in (100000000, 16777216, 1048576):
        yield "reduce", [(f"cols={n}", step) for step in REDUCE]
    for n in (100000000, 67108864, 16777216):
        yield "copy", [(f"width={n} height=1", step) for step in COPY]
    for n in (8192, 4096):
        yield "filter", [(f"rows={n} cols={n}", step) for step in FILTER]
    for n in (16777216, 1048576):
        yield "particles", [(f"n={n}", step) for step in PARTICLES]
    for loads in (1, 4):
        step = f"elements threads=256 loads={loads} load_through=l1 store_as=plain"
        n = "n=16777216 load_offset=0 scattered=false"
        yield "access", [(f"{n} load_stride={stride} store_stride=1", step) for stride in (1, 2, 4, 8, 16, 32)]
        yield "access", [(f"{n} load_stride=1 store_stride={stride}", step) for stride in (1, 2, 4, 8, 32)]
        yield "access", [(f"n=33554432 load_stride=1 store_stride=1 {how}", step)
                         for how in ("load_offset=8 scattered=false", "load_offset=1 scattered=false",
                                     "load_offset=0 scattered=false", "load_offset=0 scattered=true")]


ON_ALL = [("matmul", size, slow, fast) for size in ("M=4800 N=3200 K=6400 dtype=f32", "M=1024 N=1024 K=1024 dtype=f32")
          for slow, fast in ((WRONG_INDEX, NAIVE), (NAIVE, "tiled tile=16 pad=0"), (BROAD, "tiled tile=32 pad=0"),
                             ("tiled tile=32 pad=0", PRODUCT[-2]))]
GPUS = ("A100", "H100", "H200", "RTX3090", "RTX4090", "T4", "B200")


class Records:
    def __init__(self, path):
        with lzma.open(path, "rt") as file:
            self.all = [json.loads(line) for line in list(file)[1:]]

    def seconds(self, kernel, settings, variant):
        found = [r["seconds"] for r in self.all if r["config"] == kernel and r["outcome"] == 0
                 and set(settings.split()) <= set(r["problem"].split()) and set(variant.split()) <= set(r["variant"].split())]
        if len(found) != 1:
            sys.exit(f"{RECORDS}: {len(found)} records of {kernel} {settings}: {variant}")
        return found[0]


class Predictions:
    def __init__(self, cugen):
        self.cugen = cugen
        self.made = {}

    def make(self, gpu, kernel, variant, problems):
        """The times of one variant for several problems, which share its images."""
        command = [self.cugen, "tune", kernel, "--device", "model:" + gpu, "--variant", variant, "--budget", "none", "--verify", "none",
                   "--cache", "none", "--json", "-q", "--threads", "1", "--problems", "-"]
        run = subprocess.run(command, input="\n".join(problems), capture_output=True, text=True)
        if run.returncode == 8:
            print(f"skipped: {run.stderr.strip()}")
            sys.exit(77)
        found = json.loads(run.stdout)["problems"] if run.returncode == 0 else []
        if len(found) != len(problems) or any(one["run"]["valid"] != 1 or not one["best"]["seconds"] for one in found):
            raise RuntimeError(f"{' '.join(command)} of {problems}: exit code {run.returncode}\n{run.stderr}")
        return [one["best"]["seconds"] for one in found]

    def make_all(self, wanted):
        """wanted: (GPU, kernel, problem, variant) each."""
        problems = {}
        for gpu, kernel, problem, variant in wanted:
            problems.setdefault((gpu, kernel, variant), []).append(problem)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            times = pool.map(lambda one: self.make(*one, problems[one]), problems)
            for (gpu, kernel, variant), made in zip(list(problems), times):
                self.made.update(zip(((gpu, kernel, problem, variant) for problem in problems[gpu, kernel, variant]), made))


def judge(steps):
    """Pairs that are in the wrong order, or told apart where there was no difference: steps are (measured, predicted, name)."""
    for slow, fast in (sorted(pair, reverse=True) for pair in itertools.combinations(steps, 2)):
        if slow[0] > MARGIN * fast[0] and slow[1] <= fast[1]:
            yield slow, "not slower than", fast
        elif slow[0] <= MARGIN * fast[0] and max(slow[1], fast[1]) > APART * min(slow[1], fast[1]):
            yield slow, "far from", fast


def main():
    cugen, table = sys.argv[1], "--table" in sys.argv
    records, predictions = Records(RECORDS), Predictions(cugen)
    wanted = [("H200", kernel, *step) for kernel, steps in ladders() for step in steps]
    wanted += [(gpu, kernel, size, variant) for gpu in GPUS for kernel, size, *pair in ON_ALL for variant in pair]
    predictions.make_all(list(dict.fromkeys(wanted)))
    wrong = compared = 0
    for kernel, ladder in ladders():
        steps = [(records.seconds(kernel, *step), predictions.made["H200", kernel, *step], " ".join(step)) for step in ladder]
        compared += len(steps) * (len(steps) - 1) // 2
        if table:
            print(f"\n{kernel}\n  measured predicted")
        for measured, predicted, name in steps if table else ():
            print(f"{measured * 1e6:10.1f}{predicted * 1e6:10.1f}  {name}")
        for slow, how, fast in judge(steps):
            wrong += 1
            print(f"{kernel}: measured {slow[0] * 1e6:.1f} us, predicted {slow[1] * 1e6:.1f} us: {slow[2]}\n"
                  f"  is predicted {how} {fast[0] * 1e6:.1f} us, {fast[1] * 1e6:.1f} us: {fast[2]}")
    for gpu in GPUS:
        for kernel, size, slow, fast in ON_ALL:
            times = [predictions.made[gpu, kernel, size, variant] for variant in (slow, fast)]
            compared += 1
            if times[0] <= times[1]:
                wrong += 1
                print(f"{kernel} {size} on {gpu}: {slow}, {times[0] * 1e6:.1f} us, is predicted faster than {fast}, {times[1] * 1e6:.1f} us")
    print(f"{compared} pairs, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

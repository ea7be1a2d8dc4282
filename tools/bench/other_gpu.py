#!/usr/bin/env python3
"""other_gpu.py HUB: what the best variant of one GPU is worth on another one, on the spaces that AutoTuningAssociation/benchmark_hub has recorded. HUB is a
clone of it, or its git directory.

For each ordered pair of NVIDIA GPUs with the same space: the fastest variant of the first that runs on the second, and the best time of the second over
that variant's time there. Beside it what is known without the first GPU: the median over all variants that run on the second. Pairs
are in groups: the same compute capability, which a plan without records of its own looks for, and another one. No
model was recorded twice with the same space.
What Kernel Tuner's data has no kernels for cannot be predicted here: docs/model.md has how good predictions are."""
import gzip
import json
import math
import os
import statistics
import subprocess
import sys

MILO = "cachefiles/{}_milo/{}.json.gz"
UNUSED = "currently_unused/cachefiles/KernelTuner data/{}/{}.json.gz"
# model: (compute capability, multiprocessors, GB/s by its data sheet)
GPUS = {"A100": (80, 108, 1555), "A4000": (86, 48, 448), "A6000": (86, 84, 768), "RTX 2080 Ti": (75, 68, 616), "RTX Titan": (75, 72, 672),
        "RTX 3060 laptop": (86, 30, 336), "RTX 3090": (86, 82, 936)}
# what is compared within itself: (name, [(model, file)])
FAMILIES = [
    ("convolution_milo", [("A100", MILO.format("convolution", "A100")), ("A4000", MILO.format("convolution", "A4000")),
                          ("A6000", MILO.format("convolution", "A6000")), ("A6000", MILO.format("convolution", "A6000_original")),
                          ("A4000", UNUSED.format("convolution_milo", "a4000"))]),
    ("dedispersion_milo", [(gpu, MILO.format("dedispersion", gpu)) for gpu in ("A100", "A4000", "A6000")])] + [
    (kernel, [(gpu, UNUSED.format(kernel, gpu.replace(" ", "_"))) for gpu in GPUS if gpu.startswith("RTX")])
    for kernel in ("convolution", "gemm", "pnpoly")]


def read(hub, path):
    if os.path.exists(os.path.join(hub, path)):
        with open(os.path.join(hub, path), "rb") as file:
            data = file.read()
    else:
        where = hub if os.path.exists(os.path.join(hub, "HEAD")) else os.path.join(hub, ".git")
        data = subprocess.run(["git", "--git-dir=" + where, "show", "HEAD:" + path], check=True, capture_output=True).stdout
    return json.loads(gzip.decompress(data))


def times(hub, path):
    """{values of the tunables: time} of what ran, and the tunables."""
    recorded = read(hub, path)
    names = recorded["tune_params_keys"]
    found = {}
    for entry in recorded["cache"].values():
        time = entry.get("time")
        if isinstance(time, (int, float)) and math.isfinite(time) and time > 0:
            found[tuple(str(entry[name]) for name in names)] = time
    return names, found


def relation(a, b):
    return "same capability" if GPUS[a][0] == GPUS[b][0] else "another capability"


def distance(a, b):
    """As api/other_gpu.c has it: the larger ratio of multiprocessors and of bandwidth."""
    return max(max(GPUS[a][i], GPUS[b][i]) / min(GPUS[a][i], GPUS[b][i]) for i in (1, 2))


def worth(source, target):
    """(fraction of the target's optimum, median fraction of any variant)"""
    common = [key for key in sorted(source, key=source.get) if key in target]
    best = min(target.values())
    return best / target[common[0]], best / statistics.median(target.values()), len(common)


def main():
    hub, rows = sys.argv[1], []
    print(f"{'space':18} {'best of':16} {'on':16} {'relation':19} {'distance':>8} {'variants':>9} {'of optimum':>11} {'median variant':>15}")
    for family, files in FAMILIES:
        measured = [(gpu, path, *times(hub, path)) for gpu, path in files]
        for a, path_a, names_a, source in measured:
            for b, path_b, names_b, target in measured:
                if path_a == path_b or names_a != names_b or not set(source) & set(target):
                    continue
                fraction, median, common = worth(source, target)
                rows.append((relation(a, b), fraction, median, family))
                print(f"{family:18} {a:16} {b:16} {relation(a, b):19} {distance(a, b):8.2f} {common:9,} {100 * fraction:9.1f} % {100 * median:13.1f} %")
    print(f"\n{'relation':19} {'pairs':>5} {'geometric mean':>15} {'least':>8} {'median variant':>15}")
    for name in "same capability", "another capability":
        of = [row for row in rows if row[0] == name]
        mean = math.exp(statistics.fmean(math.log(row[1]) for row in of))
        any_ = math.exp(statistics.fmean(math.log(row[2]) for row in of))
        print(f"{name:19} {len(of):5} {100 * mean:13.1f} % {100 * min(row[1] for row in of):6.1f} % {100 * any_:13.1f} %")


main()

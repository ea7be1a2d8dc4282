#!/usr/bin/env python3
"""The parts of versus_kernel_tuner.sh that are no shell: Kernel Tuner's side, and the tables.

    versus_kernel_tuner.py tune KERNEL FOLDER STRATEGY SEED BUDGET BEGAN OUT    one run of Kernel Tuner
    versus_kernel_tuner.py convert KERNEL SEED BEGAN JSON OUT                   one run of cugen, from what its --json printed
    versus_kernel_tuner.py version                                              of Kernel Tuner
    versus_kernel_tuner.py knows KERNEL                                         whether Kernel Tuner is told of it: exit code 0
    versus_kernel_tuner.py runners KERNEL RESULTS                               a condition that selects what is to be timed again
    versus_kernel_tuner.py table KERNEL... RESULTS                              what each tool found, and when
    versus_kernel_tuner.py median RESULTS...                                    medians over seeds, of several folders of results

BEGAN is when the process was started, in seconds since 1970. Its budget counts from there.
"""
import datetime
import glob
import json
import math
import os
import statistics
import sys

NEAR = 1.05  # of the best known: this is what "found" means
TOOLS = ["cugen", "greedy_ils", "genetic_algorithm"]
KNOWN = ["hotspot", "gemm_milo", "mtran", "nbody", "dedispersion", "coulomb"]  # to kernel()


def kernel(name, folder):
    """What Kernel Tuner is told: the spaces, sizes and values of third_party's configs."""
    import numpy

    random = numpy.random.default_rng(1)
    f32, i32 = numpy.float32, numpy.int32

    def uniform(*shape):
        return random.random(shape, dtype=f32) * f32(2) - f32(1)

    def zero(*shape):
        return numpy.zeros(shape, dtype=f32)

    def text(file):
        with open(os.path.join(folder, file), encoding="utf-8") as source:
            return source.read()

    if name == "hotspot":
        side = 4096
        return dict(
            kernel_name="calculate_temp", kernel_source=text("hotspot_milo.cu"), problem_size=(side, side),
            arguments=[uniform(side + 20, side + 20), uniform(side + 20, side + 20), zero(side, side), f32(0.1), f32(0.1),
                       f32(0.0512), f32(0.341)],
            tune_params={
                "grid_width": [side], "grid_height": [side], "temporal_tiling_factor": [4], "max_tfactor": [10],
                "block_size_x": [1, 2, 4, 8, 16] + list(range(32, 1025, 32)), "block_size_y": [1, 2, 4, 8, 16, 32],
                "tile_size_x": list(range(1, 11)), "tile_size_y": list(range(1, 11)),
                "loop_unroll_factor_t": list(range(1, 11)), "sh_power": [0, 1]},
            restrictions=[
                "block_size_x * block_size_y >= 32", "temporal_tiling_factor % loop_unroll_factor_t == 0",
                "block_size_x * block_size_y <= 1024",
                "(block_size_x * tile_size_x + temporal_tiling_factor * 2) * (block_size_y * tile_size_y + "
                "temporal_tiling_factor * 2) * (2 + sh_power) * 4 <= 49152"],
            grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"])
    if name == "gemm_milo":
        side = 4096
        return dict(
            kernel_name="Xgemm", kernel_source=text("gemm_milo.cu"), problem_size=(side, side),
            arguments=[i32(side), i32(side), i32(side), f32(1), f32(1), uniform(side, side), uniform(side, side),
                       zero(side, side), i32(0), i32(0)],
            tune_params={
                "GEMMK": [0], "MWG": [16, 32, 64, 128], "NWG": [16, 32, 64, 128], "KWG": [16, 32], "MDIMC": [8, 16, 32],
                "NDIMC": [8, 16, 32], "MDIMA": [8, 16, 32], "NDIMB": [8, 16, 32], "KWI": [2], "VWM": [1, 2, 4, 8],
                "VWN": [1, 2, 4, 8], "STRM": [0, 1], "STRN": [0, 1], "SA": [0, 1], "SB": [0, 1], "KREG": [1],
                "PRECISION": [32]},
            restrictions=[
                "KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0",
                "NWG % (NDIMB * VWN) == 0", "KWG % ((MDIMC * NDIMC)/MDIMA) == 0", "KWG % ((MDIMC * NDIMC)/NDIMB) == 0",
                "not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)"],
            grid_div_x=["MWG"], grid_div_y=["NWG"], block_size_names=["MDIMC", "NDIMC", "block_size_z"])
    if name == "mtran":
        side, sizes = 8192, [1, 2, 4, 8, 16, 32, 64]
        return dict(
            kernel_name="mtran", kernel_source=text("Transpose.cu"), problem_size=(side, side),
            arguments=[zero(side, side), uniform(side, side), i32(side), i32(side)],
            tune_params={
                "VECTOR_TYPE": [1, 2, 4], "CR": [0, 1], "LOCAL_MEM": [0, 1], "PADD_LOCAL": [0, 1], "WORK_GROUP_SIZE_X": sizes,
                "WORK_GROUP_SIZE_Y": sizes, "TILE_SIZE_X": sizes, "TILE_SIZE_Y": sizes, "DIAGONAL_MAP": [0, 1]},
            restrictions=[
                "TILE_SIZE_X == WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y <= TILE_SIZE_Y and TILE_SIZE_Y % WORK_GROUP_SIZE_Y == 0",
                "LOCAL_MEM == 0 or TILE_SIZE_Y <= WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y", "LOCAL_MEM == 1 or PADD_LOCAL == 0",
                "LOCAL_MEM == 0 or VECTOR_TYPE == 1", "TILE_SIZE_X * VECTOR_TYPE <= 64",
                "WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y >= 32"],
            grid_div_x=["TILE_SIZE_X * VECTOR_TYPE"], grid_div_y=["TILE_SIZE_Y"],
            block_size_names=["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "block_size_z"])
    if name == "nbody":
        n = 131072
        return dict(
            kernel_name="nbody_kernel", kernel_source=text("Nbody.cu"), problem_size=n,
            arguments=[f32(0.001), uniform(n, 4), uniform(n), uniform(n), uniform(n), uniform(n), zero(n, 4), uniform(n, 4),
                       uniform(n), uniform(n), uniform(n), zero(n, 4), f32(0.5), f32(0.01), i32(n)],
            tune_params={
                "USE_SOA": [1], "WORK_GROUP_SIZE_X": [16, 32, 64, 128, 256, 512], "WORK_GROUP_SIZE_Y": [1, 2, 4, 8, 16],
                "OUTER_UNROLL_FACTOR": [1, 2, 4, 8], "INNER_UNROLL_FACTOR1": [0, 1, 2, 4, 8, 16, 32],
                "INNER_UNROLL_FACTOR2": [0, 1, 2, 4, 8, 16, 32], "LOCAL_MEM": [0, 1], "USE_CONSTANT_MEMORY": [0],
                "VECTOR_TYPE": [1, 2, 4]},
            restrictions=[
                "INNER_UNROLL_FACTOR2 <= OUTER_UNROLL_FACTOR", "INNER_UNROLL_FACTOR1 * INNER_UNROLL_FACTOR2 <= 256",
                "WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y >= 64 and WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y <= 1024",
                f"{n} % (WORK_GROUP_SIZE_X * OUTER_UNROLL_FACTOR) == 0",
                f"{n} % (WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y * VECTOR_TYPE) == 0"],
            grid_div_x=["OUTER_UNROLL_FACTOR", "WORK_GROUP_SIZE_X"], grid_div_y=[],
            block_size_names=["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "block_size_z"])
    if name == "dedispersion":
        dms, samples, channels, most = 2048, 25000, 1536, 650
        return dict(
            kernel_name="dedispersion_kernel", kernel_source=text("dedispersion_cugen.cu"), problem_size=(samples, dms),
            arguments=[random.integers(0, 17, (channels, samples + most), dtype=numpy.uint8), zero(dms, samples),
                       numpy.ones(channels, dtype=f32)],
            tune_params={
                "block_size_x": [1, 2, 4, 8, 16, 32], "block_size_y": list(range(32, 257, 8)), "block_size_z": [1],
                "tile_size_x": [1, 2, 3, 4], "tile_size_y": list(range(1, 9)), "tile_stride_x": [0, 1],
                "tile_stride_y": [0, 1], "loop_unroll_factor_channel": [0], "nr_dms": [dms], "nr_samples": [samples],
                "nr_channels": [channels], "nr_samples_per_channel": [samples + most]},
            restrictions=[
                "32 <= block_size_x * block_size_y <= 1024", "tile_size_x > 1 or tile_stride_x == 0",
                "tile_size_y > 1 or tile_stride_y == 0"],
            grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"])
    if name == "coulomb":
        side, atoms = 256, 64
        one = numpy.ones(atoms, dtype=f32)
        return dict(
            kernel_name="directCoulombSum", kernel_source=text("CoulombSum3d.cu"), problem_size=(side, side, side),
            arguments=[numpy.ones((atoms, 4), dtype=f32), one, one, one, one, i32(atoms), f32(0.3), i32(side),
                       zero(side, side, side)],
            tune_params={
                "WORK_GROUP_SIZE_X": [16, 32], "WORK_GROUP_SIZE_Y": [1, 2, 4, 8], "WORK_GROUP_SIZE_Z": [1],
                "Z_ITERATIONS": [1, 2, 4, 8, 16, 32], "INNER_UNROLL_FACTOR": [0, 1, 2, 4, 8, 16, 32],
                "USE_CONSTANT_MEMORY": [0], "USE_SOA": [0, 1], "VECTOR_SIZE": [1]},
            restrictions=["INNER_UNROLL_FACTOR < Z_ITERATIONS", "WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y >= 64"],
            grid_div_x=["WORK_GROUP_SIZE_X"], grid_div_y=["WORK_GROUP_SIZE_Y"], grid_div_z=["Z_ITERATIONS"],
            block_size_names=["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "WORK_GROUP_SIZE_Z"])
    sys.exit(f"versus_kernel_tuner.py: no kernel '{name}' is known: hotspot, gemm_milo, mtran, nbody, dedispersion or coulomb")


def tune(name, folder, strategy, seed, budget, began, out):
    """One run of Kernel Tuner with its defaults, but that only the time ends it; no answer is given, so nothing is verified."""
    import time

    import kernel_tuner

    told = kernel(name, folder)
    out = os.path.abspath(out)
    cache = out + ".cache.json"
    os.chdir(os.path.dirname(out))  # it leaves sources that do not compile in the current folder
    left = float(budget) - (time.time() - float(began))
    options = {"time_limit": left}
    if strategy == "greedy_ils":
        options["max_fevals"] = 1 << 30  # else 100
    error = None
    try:
        kernel_tuner.tune_kernel(lang="NVCUDA", strategy=strategy, strategy_options=options, seed=int(seed),
                                 cache=cache, quiet=True, **told)
    except Exception as raised:  # what was measured until then counts
        error = f"{type(raised).__name__}: {raised}"
    tried = []
    for values in read_cache(cache):
        at = datetime.datetime.fromisoformat(values["timestamp"]).timestamp() - float(began)
        seconds = values["time"] * 1e-3 if isinstance(values.get("time"), (int, float)) else None
        tried.append([at, {key: values[key] for key in told["tune_params"]}, seconds])
    write_run(out, name, strategy, seed, tried, time.time() - float(began), error)


def version():
    import importlib.metadata

    try:
        return importlib.metadata.version("kernel_tuner")
    except importlib.metadata.PackageNotFoundError:
        return "(missing)"


def read_cache(path):
    """Kernel Tuner's cache, of which the end is missing where the run broke off: a line for each variant."""
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.strip().rstrip(",").removesuffix("}}").removesuffix("}") + "}"
            key, found, value = line.partition('": {')
            if found and key.startswith('"') and '"timestamp"' in value:
                yield json.loads("{" + value)


def write_run(out, name, tool, seed, tried, took, error):
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"kernel": name, "tool": tool, "seed": int(seed), "took": took, "error": error, "tried": tried}, file)


def tunables(text):
    """'tiled BM=64 BN=32' as a dict; the implementation's name is left out."""
    values = (word.partition("=") for word in text.split() if "=" in word)
    return {key: int(value) if value.lstrip("-").isdigit() else value for key, _, value in values}


def convert(name, seed, began, path, out):
    """cugen's JSON as a run: every record by the moment when it was measured."""
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    first = min(record["run_began"] for record in told["records"]) / 1e6 - float(began)
    tried = [[first + point["spent"], tunables(point["variant"]), point["seconds"] if point["outcome"] == "ok" else None]
             for point in told["trace"]["points"]]
    write_run(out, name, "cugen", seed, tried, first + told["run"]["seconds"], None)


def runs_of(name, results):
    runs = []
    for path in sorted(glob.glob(os.path.join(results, f"{name}.*.run.json"))):
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    return runs


def shared_names(runs):
    """The tunables that both tools name; Kernel Tuner gets sizes of the problem as further ones."""
    return sorted(set.intersection(*(set(variant) for run in runs for _, variant, _ in run["tried"][:1])))


def improvements(tried, skip=()):
    """Each variant that was faster than all before it, by the tool's own times."""
    best = math.inf
    for at, variant, seconds in sorted((one for one in tried if one[2]), key=lambda one: one[0]):
        if seconds < best and key_of(variant) not in skip:
            best = seconds
            yield at, variant, seconds


def key_of(variant):
    return tuple(sorted(variant.items()))


def runners(name, results):
    """The fastest five of each run, and what it took for its best on the way there, as a condition of cugen's."""
    runs = runs_of(name, results)
    if not runs:
        return print("false")
    names = shared_names(runs)
    chosen = {}
    for run in runs:
        ranked = sorted((one for one in run["tried"] if one[2]), key=lambda one: one[2])
        if not ranked:
            continue
        limit = 1.12 * ranked[min(4, len(ranked) - 1)][2]
        for _, variant, _ in ranked[:5] + [one for one in improvements(run["tried"]) if one[2] <= limit]:
            chosen[tuple(variant[key] for key in names)] = True
    print(" or ".join("(" + " and ".join(f"{key} == {value}" for key, value in zip(names, values)) + ")" for values in chosen))


def again(name, results, names):
    """What one clock says: seconds of a right variant, None of one that is not, by its tunables."""
    path = os.path.join(results, f"{name}.again.json")
    if not os.path.exists(path) or not os.path.getsize(path):
        return {}
    with open(path, encoding="utf-8") as file:
        records = json.load(file)["records"]
    return {tuple(tunables(record["variant"]).get(key) for key in names): record["seconds"] if record["outcome"] == "ok" else None
            for record in records}


def rows_of(name, results):
    """For each run: its tool, seed, seconds until within 5 % of the best known, the best by one clock and by the tool's."""
    runs = runs_of(name, results)
    if not runs:
        return []
    names = shared_names(runs)
    clock = again(name, results, names)

    def of(variant):
        return tuple(variant.get(key) for key in names)

    right = [seconds for seconds in clock.values() if seconds] or [
        seconds for run in runs for _, _, seconds in run["tried"] if seconds]  # of one tool: by its own clock
    best = min(right) if right else None
    rows = []
    for run in runs:
        wrong = {key_of(variant) for _, variant, _ in run["tried"] if clock.get(of(variant), 0) is None}
        steps = list(improvements(run["tried"], wrong))
        timed = [(at, clock.get(of(variant)) or seconds, seconds) for at, variant, seconds in steps]
        found = next((at for at, seconds, _ in timed if best and seconds <= NEAR * best), None)
        ended = timed[-1] if timed else (None, None, None)
        rows.append({"kernel": name, "tool": run["tool"], "seed": run["seed"], "tried": len(run["tried"]),
                     "failed": sum(one[2] is None for one in run["tried"]),
                     "first": min((one[0] for one in run["tried"]), default=None), "found": found, "best": ended[1],
                     "own": ended[2], "wrong": len(wrong), "took": run["took"], "error": run["error"], "known": best})
    return rows


def said(value, form):
    return "never" if value is None else format(value, form)


def table(names, results):
    rows = [row for name in names for row in rows_of(name, results)]
    with open(os.path.join(results, "rows.json"), "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=0)
    print(f"{'kernel':13s} {'tool':18s} seed tried failed wrong   first s  within 5 %   best ms     own ms    took s")
    for row in rows:
        print(f"{row['kernel']:13s} {row['tool']:18s} {row['seed']:4d} {row['tried']:5d} {row['failed']:6d} {row['wrong']:5d} "
              f"{said(row['first'], '9.2f'):>9s} {said(row['found'], '11.2f'):>11s} "
              f"{said(row['best'] and row['best'] * 1e3, '9.4g'):>9s} {said(row['own'] and row['own'] * 1e3, '10.4g'):>10s} "
              f"{row['took']:9.1f}" + (f"  {row['error'][:90]}" if row["error"] else ""))
    median([results])


def median(folders):
    rows = []
    for folder in folders:
        with open(os.path.join(folder, "rows.json"), encoding="utf-8") as file:
            rows += json.load(file)
    names = list(dict.fromkeys(row["kernel"] for row in rows))
    print("\nmedians over seeds: seconds until within 5 % of the best known, and the best in ms, by one clock")
    print(f"{'kernel':13s} {'known ms':>9s}" + "".join(f" {tool:>25s}" for tool in TOOLS))
    ratios, least = [], []
    for name in names:
        found, line = {}, ""
        for tool in TOOLS:
            mine = [row for row in rows if row["kernel"] == name and row["tool"] == tool]
            if not mine:
                line += f" {'not run':>25s}"
                continue
            found[tool] = statistics.median_low(sorted(math.inf if row["found"] is None else row["found"] for row in mine))
            bests = [row["best"] for row in mine if row["best"]]
            when = "never" if found[tool] == math.inf else f"{found[tool]:.2f} s"
            best = said(statistics.median(bests) * 1e3 if bests else None, ".4g")
            line += f" {when:>9s} {best:>8s} ms {sum(row['found'] is not None for row in mine)}/{len(mine)}"
        known = min((row["known"] for row in rows if row["kernel"] == name and row["known"]), default=None)
        print(f"{name:13s} {said(known and known * 1e3, '9.4g')}" + line)
        others = min((found[tool] for tool in TOOLS[1:] if tool in found), default=math.inf)
        if "cugen" in found and not math.isinf(found["cugen"]):
            ended = min((row["took"] for row in rows if row["kernel"] == name and row["tool"] != "cugen"), default=None)
            if ended is None:  # Kernel Tuner did not run it
                continue
            (least if math.isinf(others) else ratios).append((ended if math.isinf(others) else others) / found["cugen"])
    if ratios:
        print(f"the better of Kernel Tuner's two over cugen, geometric mean of {len(ratios)} kernels where both got there: "
              f"{statistics.geometric_mean(ratios):.2f}")
    if least:
        print(f"with the {len(least)} where cugen alone got there, as if Kernel Tuner got there when its run ended: at least "
              f"{statistics.geometric_mean(ratios + least):.2f}")


if __name__ == "__main__":
    command, *words = sys.argv[1:] or [""]
    if command == "tune" and len(words) == 7:
        tune(*words)
    elif command == "version":
        print(version())
    elif command == "knows" and len(words) == 1:
        sys.exit(words[0] not in KNOWN)
    elif command == "convert" and len(words) == 5:
        convert(*words)
    elif command == "runners" and len(words) == 2:
        runners(*words)
    elif command == "table" and len(words) > 1:
        table(words[:-1], words[-1])
    elif command == "median" and words:
        median(words)
    else:
        sys.exit(__doc__)

#!/usr/bin/env python3
"""The parts of versus_kernel_tuner.sh that are no shell: Kernel Tuner's side, and the tables.

    versus_kernel_tuner.py tune KERNEL FOLDER STRATEGY SEED BUDGET BEGAN OUT    one run of Kernel Tuner
    versus_kernel_tuner.py convert KERNEL SEED BEGAN JSON OUT                   one run of cugen, from what its --json printed
    versus_kernel_tuner.py version                                              of Kernel Tuner
    versus_kernel_tuner.py knows KERNEL                                         whether Kernel Tuner is told of it: exit code 0
    versus_kernel_tuner.py runners KERNEL RESULTS                               a condition that selects what is yet to be timed again
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

import versus_kernels

NEAR = 1.05  # of the best known: this is what "found" means
CONDITIONS = 40  # variants of one command: an expression has at most 4096 operations
TOOLS = ["cugen", "greedy_ils", "genetic_algorithm"]


def tune(name, folder, strategy, seed, budget, began, out):
    """One run of Kernel Tuner with its defaults, but that only the time ends it; no answer is given, so nothing is verified."""
    import time

    import kernel_tuner

    if name not in versus_kernels.KERNELS:
        sys.exit(f"versus_kernel_tuner.py: no kernel '{name}' is known: {', '.join(versus_kernels.KERNELS)}")
    told = versus_kernels.KERNELS[name](versus_kernels.Data(folder))
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
    """Of each run the fastest five and what it took for its best on the way there, as a condition of cugen's: those that the one clock
    has not timed yet. Empty once it has them all. Where some of them turn out wrong, the next call takes the next ones."""
    runs = runs_of(name, results)
    names = shared_names(runs) if runs else []
    clock = again(name, results, names)
    chosen = {}
    for run in runs:
        right = [one for one in run["tried"] if one[2] and clock.get(values_of(one[1], names), 0) is not None]
        ranked = sorted(right, key=lambda one: one[2])[:5]
        for _, variant, _ in ranked + [one for one in improvements(right) if one[2] <= 1.12 * ranked[-1][2]]:
            if values_of(variant, names) not in clock:
                chosen[values_of(variant, names)] = True
    print(" or ".join("(" + " and ".join(f"{key} == {value}" for key, value in zip(names, values)) + ")"
                      for values in list(chosen)[:CONDITIONS]))


def values_of(variant, names):
    return tuple(variant.get(key) for key in names)


def again(name, results, names):
    """What one clock says: seconds of a right variant, None of one that is not, by its tunables."""
    clock = {}
    for path in sorted(glob.glob(os.path.join(results, f"{name}.again.*.json"))):
        with open(path, encoding="utf-8") as file:
            told = file.read()
        for record in json.loads(told).get("records", []) if told else []:
            clock[values_of(tunables(record["variant"]), names)] = record["seconds"] if record["outcome"] == "ok" else None
    return clock


def rows_of(name, results):
    """For each run: its tool, seed, seconds until within 5 % of the best known, the best by one clock and by the tool's."""
    runs = runs_of(name, results)
    if not runs:
        return []
    names = shared_names(runs)
    clock = again(name, results, names)
    right = [seconds for seconds in clock.values() if seconds] or [
        seconds for run in runs for _, _, seconds in run["tried"] if seconds]  # of one tool: by its own clock
    best = min(right) if right else None
    rows = []
    for run in runs:
        wrong = {key_of(variant) for _, variant, _ in run["tried"] if clock.get(values_of(variant, names), 0) is None}
        steps = list(improvements(run["tried"], wrong))
        timed = [(at, clock.get(values_of(variant, names)) or seconds, seconds) for at, variant, seconds in steps]
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
        sys.exit(words[0] not in versus_kernels.KERNELS)
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

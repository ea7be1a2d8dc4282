#!/usr/bin/env python3
"""make_recorded.py: writes recorded_cache.json, recorded_t4.json and recorded_ktt.json, made-up spaces in the formats that
tools/bench/replay reads, and recorded_runs.json: runs on them with the scores that autotuning_methodology 1.1.0 gives those.
It needs that package: python3 -m venv V; V/bin/pip install autotuning_methodology==1.1.0; V/bin/python tests/spaces/make_recorded.py"""
import importlib.machinery
import importlib.util
import json
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
SCORER = str(HERE.parent.parent / "tools" / "score-runs")
loader = importlib.machinery.SourceFileLoader("score_runs", SCORER)
score_runs = importlib.util.module_from_spec(importlib.util.spec_from_loader("score_runs", loader))
loader.exec_module(score_runs)

AXES = {"block": [32, 64, 128, 256, 512], "tile": [1, 2, 3, 4, 8], "unroll": [0, 1, 2, 4], "cache": [0, 1], "fixed": [15]}


def variants(draw):
    """Those that a restriction leaves: the configuration, its time in ms (None: fails), and what it took."""
    for block in AXES["block"]:
        for tile in AXES["tile"]:
            for unroll in AXES["unroll"]:
                for cache in AXES["cache"]:
                    if block * tile > 1024:
                        continue
                    values = dict(zip(AXES, (block, tile, unroll, cache, 15)))
                    time = 1 + abs(block - 128) / 200 + (tile - 3) ** 2 / 9 + 0.3 * cache * (tile > 2) + draw.random() / 4
                    fails = draw.random() < 0.1
                    yield values, None if fails else round(time, 6), round(100 + 300 * draw.random(), 4)


def cache(rows):
    entries = {}
    for values, time, compile_time in rows:
        entries[",".join(map(str, values.values()))] = {
            **values, "time": time or "RuntimeFailedConfig", "compile_time": compile_time,
            "benchmark_time": round(8 * (time or 0.1), 6), "framework_time": 1.25, "strategy_time": 0,
            "verification_time": 2.5 if time else 0}
    return {"device_name": "a device", "kernel_name": "cached", "tune_params_keys": list(AXES), "tune_params": AXES,
            "cache": entries}


def t4(rows):
    results = []
    for values, time, compile_time in rows:
        times = {"compilation": compile_time, "framework": 1.25, "search_algorithm": 0, "validation": 0}
        if time:
            times["runtimes"] = [time, round(time * 1.01, 6), round(time * 0.99, 6)]
        more = {"layout": "row" if values["cache"] else "column", "pad": values["tile"] if values["cache"] else None}
        results.append({"configuration": {**values, **more}, "times": times,
                        "invalidity": "correct" if time else "compile", "correctness": 1,
                        "measurements": [{"name": "time", "value": time or "CompilationFailedConfig", "unit": "ms"}],
                        "objectives": ["time"]})
    return {"metadata": {"timeunit": "milliseconds"}, "schema_version": "1.0.0", "results": results}


def ktt(rows):
    results = []
    for values, time, compile_time in rows:
        results.append({"Configuration": [{"Name": name.upper(), "Value": value} for name, value in values.items()],
                        "ComputationResults": [{"Duration": 1000 * time}] if time else [], "KernelName": "kept",
                        "Status": "Ok" if time else "ComputationFailed", "TotalDuration": 1000 * (time or 0),
                        "TotalOverhead": 1000 * compile_time, "SearcherOverhead": 20.0, "ValidationOverhead": 0.0,
                        "DataMovementOverhead": 300.0})
    return {"Metadata": {"Device": "a device", "TimeUnit": "Microseconds"}, "Results": results}


def shuffled(draw, rows, length):
    return draw.sample(range(len(rows)), length)


def greedy(draw, rows, length):
    """Better ones sooner."""
    keys = [(rows[i][1] or 9) * draw.uniform(0.3, 1.7) for i in range(len(rows))]
    return sorted(range(len(rows)), key=keys.__getitem__)[:length]


def main():
    expected = {}
    for seed, (name, make) in enumerate({"cache": cache, "t4": t4, "ktt": ktt}.items()):
        draw = random.Random(seed)
        rows = list(variants(draw))
        space = make(rows)
        path = HERE / f"recorded_{name}.json"
        path.write_text(json.dumps(space, separators=(",", ":")).replace('},{', '},\n{').replace('},"', '},\n"') + "\n")
        runs = {"shuffled": [shuffled(draw, rows, 120) for _ in range(12)],
                "greedy": [greedy(draw, rows, 120) for _ in range(7)],
                "short": [greedy(draw, rows, draw.randint(12, 40)) for _ in range(9)],
                "alone": [shuffled(draw, rows, 100)]}
        scores = score_runs.score(json.loads(path.read_text()), runs)
        expected[path.name] = {kind: {"score": scores[kind], "runs": runs[kind]} for kind in runs}
    (HERE / "recorded_runs.json").write_text(json.dumps(expected, separators=(",", ":")).replace("],", "],\n") + "\n")


if __name__ == "__main__":
    main()

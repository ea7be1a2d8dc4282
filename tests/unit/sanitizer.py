#!/usr/bin/env python3
"""sanitizer.py: what tools/bench/sanitize-corpora makes of the sanitizer's messages, and its tables of recorded runs."""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools/bench/sanitize-corpora"
A, B = "00112233445566aa", "00112233445566bb"  # sources, of cases 4 and 7

# Messages of compute-sanitizer 2025.3.1, some of them in the middle of what the batch says.
SAID = f"""========= COMPUTE-SANITIZER
@@ begin 7 0
========= Invalid __global__ read of size 4 bytes
=========     at cc(ECLgraph, int *, int *)+0x190 in {A}.kernel:140
=========     by thread (4,0,0) in block (249,0,0)
=========     Access to 0x7f9fa4a12660 is out of bounds
========= Invalid __global__ read of size 4 bytes
=========     at cc(ECLgraph, int *, int *)+0x190 in {A}.kernel:140
=========     by thread (5,0,0) in block (249,0,0)
========= Error: Race reported between Write access at foo()+0x170 in {B}.kernel:13
=========     and Write access at foo()+0x170 in {B}.kernel:13 [15 hazards]
=========
========= Barrier error detected. Divergent thread(s) in block.
=========     at sgemm(int)+0x490 in {B}.kernel:22
========= Uninitialized __global__ memory read of size 4 bytes
=========     at foo()+0x40 in {B}.kernel:9
@@ begin 4 0
========= Trace/breakpoint trap
=========     at constant(int *)+0x20
=========     by thread (0,0,0) in block (0,0,0)
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuCtxSynchronize.
========= Something that no version said yet
========= ERROR SUMMARY: 7 errors
"""
KINDS = {4: {"bounds": 2, "trap": 1, "api": 1, "other": 1}, 7: {"race": 1, "barrier": 1, "uninitialised": 1}}
UNNAMED = {4: {"bounds": 0, "trap": 1, "api": 1, "other": 1}, 7: {"race": 0, "barrier": 0, "uninitialised": 0}}


def case(name, check, wanted, found, corpus="Indigo3", **more):
    return dict(dict(name=name, corpus=corpus, set="case", check=check, wanted=wanted, found=found, runs=[{"source": A}]), **more)


CASES = [
    case("shared race", "found", ["race"], ["race"]), case("global race", "found", ["race"], ["race"]),
    case("null pointer", "found", ["bounds"], ["bounds"]), case("dropped store", "found", ["bounds"], ["bounds"]),
    case("blind", "missed", ["barrier"], []), case("clean", "clean", [], []), case("alarm", "clean", [], []),
    case("both", "false alarm", [], ["race"]), case("bounds unknown", "clean", [], [], "GPUVerify"), case("no time", "found", ["race"], ["race"]),
    case("x/clean: barrier removed 0", "found", ["race"], ["race"], set="mutant", kind="barrier removed"),
]
FIRST = {"race": "Error: Race reported between Write access", "bounds": "Invalid __shared__ write", "barrier": "Barrier error detected.",
         "other": "Trace/breakpoint trap | at constant(int *)+0x20"}


def result(name, tool, *found, build="O", ends=("",), **more):
    found = {k: dict(count=1, first=FIRST[k], unnamed=0) for k in found}
    return dict(dict(name=name, tool=tool, build=build, alone=False, batch=0, gpu="0", seconds=0.05, codes=[0], ends=list(ends), found=found, summary=[]), **more)


RESULTS = [
    result("shared race", "racecheck", "race"), result("global race", "racecheck"), result("null pointer", "memcheck", "other"),
    result("dropped store", "memcheck"), result("dropped store", "memcheck", "bounds", build="G"), result("blind", "synccheck", "barrier"),
    result("clean", "racecheck"), result("alarm", "racecheck", "race", ends=["the time was up"]), result("both", "racecheck", "race"),
    result("bounds unknown", "memcheck", "bounds"), result("no time", "racecheck", "race", ends=[None]),
    result("x/clean: barrier removed 0", "memcheck"), result("x/clean: barrier removed 0", "racecheck", "race"),
    result("x/clean: barrier removed 0", "initcheck"), result("x/clean: barrier removed 0", "synccheck"),
    dict(result("clean", "check", ends=[]), alone=True, batch=None, codes=[5], seconds=0.1),
    dict(result("blind", "check", ends=[]), alone=True, codes=[0, 11], seconds=0.7),
]
for one in RESULTS[-2:]:
    del one["batch"]

# collection, tool, cases, ran, with a fault, check finds, tool finds, both, only check, only the tool, without a fault, check reports, tool reports
LINES = [
    "not run under any tool: {'Indigo3 (case)': 1}",
    "Of 6 cases with a fault these ran with --device-debug, too: {'memcheck': 1, 'racecheck': 0, 'initcheck': 0, 'synccheck': 0}",
    "| Indigo3 | racecheck | 9 | 5 | 2 | 2 | 1 | 1 | 1 | 0 | 3 | 1 | 2 |",
    "| Indigo3 | memcheck | 9 | 2 | 2 | 2 | 1 | 1 | 1 | 0 | 0 | 0 | 0 |",
    "| Indigo3 | memcheck | 9 | 2 | 2 | 2 | 2 | 2 | 0 | 0 | 0 | 0 | 0 |",  # with --device-debug
    "| GPUVerify | memcheck | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 |",
    "| all | all four | 10 | 9 | 5 | 4 | 3 | 2 | 2 | 1 | 4 | 1 | 2 |",
    "| all | all four | 10 | 9 | 5 | 4 | 4 | 3 | 1 | 1 | 4 | 1 | 2 |",
    "| barrier removed | 1 | 1 | 1 | 0 | 1 | 0 | 0 | 1 | 1 | 0 | 0 |",
    "| check | alone, with its start | 1 | 0.70 | 0.70 | 1 | 0 |",
    "| racecheck | in a batch, without | 6 | 0.05 | 0.05 | 0 | 1 |",
    "  only the tool: synccheck blind; check: missed; wanted barrier",
    "  reported: racecheck alarm; check: clean; wanted ",
    "Where check finds the fault and no tool does: 2",
    "  Indigo3: global race; wanted race; check finds race",
]


def tool():
    loader = importlib.machinery.SourceFileLoader("sanitize_corpora", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sanitize_corpora", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def of_messages(wrong):
    said = tool().messages(SAID, {A: 4, B: 7})
    for what, wanted, got in (("count", KINDS, {n: {k: v["count"] for k, v in one.items()} for n, one in said.items()}),
                              ("unnamed", UNNAMED, {n: {k: v["unnamed"] for k, v in one.items()} for n, one in said.items()})):
        if got != wanted:
            wrong.append(f"{what} of the messages: {got}")
    if said[4]["bounds"]["first"].count("|") != 3 or A in said[4]["bounds"]["first"]:
        wrong.append(f"first message: {said[4]['bounds']['first']}")


def of_tables(wrong):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "cases.json").write_text(json.dumps(CASES))
        (folder / "builds.json").write_text(json.dumps({A: {"O": ["a.O.cubin", {}], "G": ["a.G.cubin", {}]}}))
        (folder / "results.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RESULTS))
        done = subprocess.run([sys.executable, TOOL, "table", folder, folder / "results.jsonl"], capture_output=True, text=True, check=False)
    lines = done.stdout.split("\n")
    missing = [line for line in LINES if line not in lines]
    if done.returncode or missing:
        wrong.append(f"exit code {done.returncode}; not in the tables:\n" + "\n".join(missing) + f"\n{done.stdout}{done.stderr}")
    both = [line for line in lines if line.startswith(("  only the tool", "  reported"))]
    if len(both) != 3:
        wrong.append("other disagreements: " + "; ".join(both))


def main():
    wrong = []
    of_messages(wrong)
    of_tables(wrong)
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

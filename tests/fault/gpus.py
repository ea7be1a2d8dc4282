#!/usr/bin/env python3
"""gpus.py BUILD [SLEEP]: one cugen tune on several GPUs, which fake_cuda.c pretends. Each launch sleeps SLEEP microseconds, so that eight GPUs are as fast
on two processors as on many.

Eight share a space and are faster than one; a GPU that breaks, before or in the middle, is named once and the others finish; no variant is remembered as
failed because of it; two models have a search each, at once; Ctrl-C keeps what was measured; the winner is found on one GPU, however their clocks differ."""
import concurrent.futures
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
SLEEP = sys.argv[2] if len(sys.argv) > 2 else "4000"
VARIANTS = 416
problems = []


def expect(fact, *words):
    if not fact:
        problems.append(words)
        print("WRONG:", *words)


class Run:
    """A folder with its cache, and the commands on it."""
    sleep, variants, where = SLEEP, VARIANTS, ()

    def __init__(self, folder, strategy="random", **settings):  # random: it takes no time of its own, also in sanitized builds
        self.strategy = strategy
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.used = self.folder / "used"
        self.used.mkdir()
        self.environment = dict(
            os.environ, CUGEN_CACHE=f"{self.folder}/cache.db", XDG_STATE_HOME=f"{self.folder}/state", TMPDIR=str(self.folder),
            LD_LIBRARY_PATH=f"{BUILD}/tests/fake", CUGEN_TOOLKIT=f"{BUILD}/tests/fake_toolkit", FAKE_CUDA_SLEEP=Run.sleep,
            FAKE_CUDA_DEVICES="8", FAKE_CUDA_USED=str(self.used), **settings)
        self.environment.pop("CUGEN_DEVICE", None)
        self.gone = self.folder / "gone"

    def start(self, devices, *options):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [f"{BUILD}/cugen", "tune", f"{ROOT}/tests/configs/sleeping.lua", "--device", devices, "--budget", "none", "--threads", "2",
             "--top", "1", "--strategy", self.strategy, *self.where, *options], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)

    def finish(self):
        self.text = self.process.communicate(timeout=500)[0]
        self.seconds = time.monotonic() - self.began
        return self.process.returncode

    def tune(self, devices, *options):
        self.start(devices, *options)
        code = self.finish()
        expect(code == 0, "exit code", code, self.text)
        return self

    def ask(self, sql):
        with sqlite3.connect(f"file:{self.folder}/cache.db?mode=ro", uri=True) as database:
            return database.execute(sql).fetchall()

    def counts(self):
        """(variants with a record, of these without a right one)"""
        right = "outcome = 0"
        return (self.ask("SELECT count(DISTINCT variant) FROM record")[0][0],
                self.ask(f"SELECT count(DISTINCT variant) FROM record WHERE variant NOT IN (SELECT variant FROM record WHERE {right})")[0][0])

    def search_seconds(self):
        """Until the last variant had its first record: without the race."""
        return self.ask("SELECT max(first) FROM (SELECT min(run_seconds) AS first FROM record GROUP BY variant)")[0][0]

    def wait_for_records(self, least):
        end = time.monotonic() + 200
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if self.ask("SELECT count(*) FROM record")[0][0] >= least:
                    return
            except sqlite3.Error:
                pass
            time.sleep(0.01)

    def expect_all(self, what, failed=0):
        got = self.counts()
        expect(got[0] == self.variants and got[1] <= failed, what, got, self.text)

    def expect_lost(self, what, gpu):
        said = f"cugen: cuda:{gpu} failed and is left out, the others go on: "
        expect(self.text.count(said) == 1, what, "is said once:", self.text)


def sharing(folder):
    one = Run(folder).tune("cuda:0")
    eight = Run(folder).tune("all")
    one.expect_all("one GPU")
    eight.expect_all("eight GPUs")
    expect(len(list(eight.used.iterdir())) == 8, "GPUs at work:", list(eight.used.iterdir()))
    expect(len(list(one.used.iterdir())) == 1, "of one:", list(one.used.iterdir()))
    expect("8 devices share the search: cuda:0,cuda:1,cuda:2,cuda:3,cuda:4,cuda:5,cuda:6,cuda:7" in eight.text, eight.text)
    faster = one.search_seconds() / eight.search_seconds()
    print(f"1 GPU: {VARIANTS / one.search_seconds():.0f} variants/s; 8 GPUs: {VARIANTS / eight.search_seconds():.0f} variants/s, "
          f"{faster:.1f} times as many; with the race {one.seconds:.1f} s and {eight.seconds:.1f} s", flush=True)
    expect(faster > 1.5, "eight GPUs are no faster than one")


def broken(folder):
    """Nothing can be launched on it."""
    run = Run(folder, FAKE_CUDA_BAD="2").tune("all")
    run.expect_all("one that launches nothing")
    run.expect_lost("the one that launches nothing", 2)
    run = Run(folder, FAKE_CUDA_BAD="0").tune("cuda:0,cuda:5")
    run.expect_all("the first launches nothing")
    run.expect_lost("the first", 0)
    run = Run(folder, FAKE_CUDA_BAD="1,3,4,6").tune("all")
    run.expect_all("half of them launch nothing")
    for gpu in 1, 3, 4, 6:
        run.expect_lost("one of four", gpu)
    run = Run(folder, FAKE_CUDA_BAD="0,1,2,3,4,5,6,7")
    run.start("all")
    expect(run.finish() == 7 and "CUDA_ERROR_LAUNCH_FAILED" in run.text and "left out" not in run.text, "all launch nothing", run.text)
    run = Run(folder, FAKE_CUDA_BAD="1")
    run.start("cuda:1,cuda:1")
    expect(run.finish() != 0 and "cuda:1 is in the list of devices twice" in run.text, run.text)


def gone(folder):
    """It falls off the bus: at once, in the middle, all but one, all."""
    run = Run(folder)
    run.environment["FAKE_CUDA_GONE"] = f"3 {run.gone}"
    run.gone.touch()
    run.tune("all")
    run.expect_all("one is gone")
    run.expect_lost("the one that is gone", 3)
    run = Run(folder)
    run.environment["FAKE_CUDA_GONE"] = f"4 {run.gone}"
    run.start("all", "--json")
    run.wait_for_records(50)
    run.gone.touch()
    expect(run.finish() == 0, "one goes in the middle", run.text)
    run.expect_all("one goes in the middle")
    run.expect_lost("the one that goes", 4)
    expect('"devices": 7,' in run.text and '"lost": "cuda:4: ' in run.text, run.text)
    run = Run(folder, FAKE_CUDA_BAD="7")
    run.environment["FAKE_CUDA_GONE"] = f"6 {run.gone}"
    run.gone.touch()
    run.start("cuda:6,cuda:7")
    expect(run.finish() != 0 and "CUDA_ERROR" in run.text, "none is left", run.text)
    expect(not run.text.count("cuda:7 failed and is left out"), "the last one's error ends it", run.text)


def killed(folder):
    """A worker is killed: its variant has failed, as on one GPU, and a new worker goes on."""
    run = Run(folder)
    run.start("all")
    run.wait_for_records(50)
    workers = subprocess.run(["pgrep", "-P", str(run.process.pid), "-f", "cugen worker"], capture_output=True, text=True).stdout.split()
    for worker in workers[2:4]:
        os.kill(int(worker), signal.SIGKILL)
    expect(run.finish() == 0 and workers, "two workers are killed", workers, run.text)
    run.expect_all("two workers are killed", failed=2)
    expect("failed and is left out" not in run.text, run.text)


def interrupted(folder):
    run = Run(folder)
    run.start("all")
    run.wait_for_records(50)
    run.process.send_signal(signal.SIGINT)
    expect(run.finish() == 130 and "interrupted; what was found is kept" in run.text, "Ctrl-C:", run.process.returncode, run.text)
    before = run.counts()[0]
    expect(50 <= before < run.variants, "kept after Ctrl-C:", before)
    run.tune("all")
    run.expect_all("resumed")
    expect(f"Tried {run.variants - before}, {before} remembered before, 0 left" in run.text, "resumed after", before, run.text)


def models(folder):
    run = Run(folder, "surrogate", FAKE_CUDA_MODELS="H200,A100,H200,A100,A100,H200,H200,H200").tune("all")
    for name, list_ in ("H200 (cuda:0)", "5 devices share the search: cuda:0,cuda:2,cuda:5,cuda:6,cuda:7"), (
            "A100 (cuda:1)", "3 devices share the search: cuda:1,cuda:3,cuda:4"):
        expect(f"sleeping n=3000 on NVIDIA {name}\n{list_}\n" in run.text, name, run.text)
    each = run.ask("SELECT count(DISTINCT variant) FROM record JOIN space ON space.id = space_id GROUP BY device")
    expect(each == [(run.variants,), (run.variants,)], "records of each model:", each)
    when = "run_began + 1e6 * run_seconds"
    begin, end = run.ask(f"SELECT max(first), min(last) FROM (SELECT min({when}) AS first, max({when}) AS last FROM record"
                         " JOIN space ON space.id = space_id GROUP BY device)")[0]
    expect(begin < end, "both models are measured at once:", begin, end)
    expect(0 < run.text.find("--device cuda:0 ") < run.text.find("NVIDIA A100 (cuda:1)"), "one prints behind the other:", run.text)
    run = Run(folder, FAKE_CUDA_MODELS="H200,A100", FAKE_CUDA_BAD="0")
    run.environment["FAKE_CUDA_DEVICES"] = "2"
    run.start("all")
    expect(run.finish() == 7 and f"Tried {run.variants}," in run.text and "cugen: cuda:0: " in run.text, "a model that launches nothing:", run.text)
    run = Run(folder, FAKE_CUDA_MODELS="H200,A100,H200,A100,A100,H200,H200,H200")
    run.start("all")
    run.wait_for_records(50)
    run.process.send_signal(signal.SIGINT)
    expect(run.finish() == 130 and run.text.count("Run the same command again to continue.") == 2, "Ctrl-C, two models:", run.text)


def fair(folder):
    """Which GPU had a variant does not decide who wins: the fastest have 2 ms by their script and were measured on a GPU that is 9 % slower, so
    that four others seem to be faster."""
    script = "(blocks * 31 + threads) % 97"
    run = Run(folder, FAKE_CUDA_PACE="109")
    run.tune("cuda:0", "--where", f"{script} == 0")
    run.environment["FAKE_CUDA_PACE"] = "100"
    run.tune("cuda:0", "--where", f"{script} >= 1 and {script} <= 8")
    run.tune("cuda:0,cuda:1", "--where", f"{script} <= 9")
    best = [line for line in run.text.splitlines() if line.startswith("1 ")]
    words = dict(word.split("=") for word in best[0].split() if "=" in word)
    expect((int(words["blocks"]) * 31 + int(words["threads"])) % 97 == 0, "the fastest by its script:", best, run.text)
    expect("Tried 4, 36 remembered before, 0 left" in run.text, "the last four:", run.text)


def timed(test):
    began = time.monotonic()
    test(place)
    print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)


with tempfile.TemporaryDirectory() as place:
    timed(sharing)
    timed(fair)
    # These compare no times, so that they may also run side by side; half of the space is enough for them.
    Run.sleep, Run.variants, Run.where = "1000", VARIANTS // 2, ("--where", "blocks <= 13")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(timed, (models, broken, gone, interrupted, killed)))
sys.exit(bool(problems))

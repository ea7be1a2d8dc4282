#!/usr/bin/env python3
"""tuners.py BUILD [KILLS [TUNERS [SLEEP [SEED]]]]: several tuners on one store, on the pretended GPUs of tests/fault/fake_cuda.c, each launch of which
sleeps SLEEP microseconds. First one tuner finishes a space, then TUNERS do, then TUNERS of which KILLS are killed (kill -9) at random
moments and replaced.

Each time every variant has a record, at most 1 % of them were measured twice, and nothing that was stored is lost; after kills their claims came back. The
figures are printed; how fast they are is for tools/bench/results, since it depends on the machine."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from server import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
KILLS, TUNERS, SLEEP, SEED = ([int(word) for word in sys.argv[2:]] + [4, 8, 1000, 1][len(sys.argv) - 2:])[:4]
VARIANTS = 416
problems = []


def complain(*words):
    problems.append(words)
    print("WRONG:", *words)


class Tuners:
    def __init__(self, folder, server):
        self.folder, self.server, self.number = folder, server, 0
        self.environment = dict(
            os.environ, CUGEN_CACHE=server.address(), XDG_STATE_HOME=f"{folder}/state", TMPDIR=folder,
            LD_LIBRARY_PATH=f"{BUILD}/tests/fake", CUGEN_TOOLKIT=f"{BUILD}/tests/fake_toolkit",
            FAKE_CUDA_SLEEP=str(SLEEP), FAKE_CUDA_DEVICES="8", CUGEN_WORKER=f"{BUILD}/cugen")

    def start(self, strategy="random"):
        """As Slurm would: each takes the GPU of its number. A random search takes no time of its own."""
        rank, self.number = self.number, self.number + 1
        with open(f"{self.folder}/log", "ab") as log:
            return subprocess.Popen([f"{BUILD}/cugen", "tune", f"{ROOT}/tests/configs/sleeping.lua", "--budget", "none", "--threads",
                                     "1", "--quiet", "--strategy", strategy], env=dict(self.environment, SLURM_LOCALID=str(rank % 8)),
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def finish(self, runs):
        codes = [run.wait(timeout=3000) for run in runs]
        if any(codes):
            complain("exit codes", codes, pathlib.Path(f"{self.folder}/log").read_text()[-1500:])

    def clear(self):
        self.server.sql("DROP SCHEMA IF EXISTS cugen CASCADE")

    def measured(self):
        """(variants with a record, how often one was measured again). What the race of the leaders renews comes after the last variant's first."""
        return [int(word) for word in self.server.sql(
            "WITH timed AS (SELECT variant, run_began / 1e6 + run_seconds AS at FROM cugen.record), "
            "first AS (SELECT min(at) AS at FROM timed GROUP BY variant) SELECT count(DISTINCT variant), "
            "count(*) FILTER (WHERE at <= (SELECT max(at) FROM first)) - count(DISTINCT variant) FROM timed").split("|")]

    def expect_all(self, what):
        variants, twice = self.measured()
        if variants != VARIANTS or twice > VARIANTS / 100:
            complain(f"{what}: {variants} variants of {VARIANTS}, {twice} measured twice")
        return twice


def timed(tuners, count, strategy):
    """Seconds to the end of all tuners, and to the last variant's record."""
    tuners.clear()
    began, clock = time.monotonic(), time.time()
    tuners.finish([tuners.start(strategy) for _ in range(count)])
    whole = time.monotonic() - began
    last = float(tuners.server.sql("SELECT max(first) FROM (SELECT min(run_began / 1e6 + run_seconds) AS first FROM "
                                   "cugen.record GROUP BY variant) v")) - clock
    twice = tuners.expect_all(f"{count} tuners")
    shares = tuners.server.sql("SELECT count(DISTINCT run_began) FROM cugen.record")
    print(f"{count} tuners: the last variant after {last:.1f} s, the race of the leaders over after {whole:.1f} s; {VARIANTS} variants, "
          f"{twice} of them measured twice; {shares} tuners took part", flush=True)
    if int(shares) < count:
        complain("some tuners found nothing to do")
    return last


def stored(server):
    done = server.psql("SELECT id FROM cugen.record")
    return set(done.stdout.split()) if done.returncode == 0 else set()


def killed(tuners, kills, rng):
    """Kills one at a time; when the space is finished before all kills are done, another one begins. Then the rest is finished in peace."""
    server, done, rounds, twice, at_work = tuners.server, 0, 0, 0, 0
    while done < kills:
        tuners.clear()
        rounds += 1
        runs = [tuners.start() for _ in range(TUNERS)]
        while done < kills and tuners_left(server):
            time.sleep(rng.uniform(0.02, 0.5))
            at = rng.randrange(len(runs))
            before = stored(server)
            if runs[at].poll() is None:
                runs[at].send_signal(signal.SIGKILL)
            if runs[at].wait() == -signal.SIGKILL:
                done += 1
                at_work += bool(before)
            lost = before - stored(server)
            if lost:
                complain(f"{len(lost)} records were lost")
            runs[at] = tuners.start()
        tuners.finish(runs)
        twice += tuners.expect_all(f"after {done} kills")
    print(f"{done} tuners killed, {at_work} of them with records there, in {rounds} spaces; {twice} of {rounds * VARIANTS} variants measured "
          "twice; no record lost, each space finished", flush=True)
    claims = server.sql("SELECT count(*) FROM cugen.claim WHERE until > clock_timestamp()")
    if int(claims):
        print(f"{claims} claims of the dead are still to end")


def tuners_left(server):
    done = server.psql("SELECT count(DISTINCT variant) FROM cugen.record")
    return done.returncode != 0 or int(done.stdout) < VARIANTS - 20


def main():
    folder = tempfile.mkdtemp(prefix="cugen-tuners-")
    try:
        with Server() as server:
            tuners = Tuners(folder, server)
            one, all_of_them = timed(tuners, 1, "random"), timed(tuners, TUNERS, "surrogate")
            print(f"{TUNERS} tuners are {one / all_of_them:.2f} times as fast as one ({SLEEP} us a launch)", flush=True)
            killed(tuners, KILLS, random.Random(SEED))
            subprocess.run([f"{BUILD}/cugen", "cache", "verify"], env=tuners.environment, check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("all is well" if not problems else f"{len(problems)} wrong")
    return 1 if problems else 0


sys.exit(main())

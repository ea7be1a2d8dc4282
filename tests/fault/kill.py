#!/usr/bin/env python3
"""kill.py CUGEN CONFIG [KILLS [SEED]]: kills tuning runs at random moments and lets several share a database.

After each kill -9 the database is whole, nothing that had been stored is lost, and no process that the run had started
is left behind. In the end a run that nobody disturbs finishes the space: the variants are those of a run that
was never disturbed, each once. Then eight tune one problem at once on one database, and two each of two problems."""
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

MARK = "CUGEN_KILL_TEST"


def fail(*words):
    print("kill.py:", *words)
    sys.exit(1)


class Bench:
    def __init__(self, cugen, config, folder):
        self.cugen, self.config, self.folder, self.mark = cugen, config, folder, f"{os.getpid()}-{time.time_ns()}"
        os.mkdir(f"{folder}/tmp")
        self.environment = dict(os.environ, TMPDIR=f"{folder}/tmp", **{MARK: self.mark})

    def start(self, database, *options, config=None):
        command = [self.cugen, "tune", config or self.config, "--device", "cpu", "--budget", "none", "--strategy",
                   "random", "--cache", database, "--quiet", *options]
        with open(f"{self.folder}/log", "ab") as log:
            return subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def finish(self, database, *options):
        self.expect_success([self.start(database, *options)])

    def expect_success(self, runs):
        codes = [run.wait(timeout=1000) for run in runs]
        if any(codes):
            fail("exit codes", codes, pathlib.Path(f"{self.folder}/log").read_text()[-2000:])

    def processes(self):
        """Those alive that a run of ours has started."""
        found = []
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                    found.append((place.name, (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
            except OSError:
                pass  # it has ended, or is not ours
        return found

    def expect_no_orphans(self):
        end = time.monotonic() + 40  # for a busy machine; they would go on for longer
        while left := self.processes():
            if time.monotonic() > end:
                fail("still there long after their parent was killed:", left)
            time.sleep(0.02)


def query(database, sql):
    """What a reader sees now; nothing while there is no such file or table yet."""
    if not os.path.exists(database):
        return []
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
    try:
        return db.execute(sql).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "unable to open" in str(error):
            return []
        raise
    finally:
        db.close()


def stored(database):
    """The rows of record: nothing but `superseded` ever changes in one."""
    return set(query(database, "SELECT id, variant, measured_at, outcome FROM record"))


def variants(database):
    """(problem, variant) of what is current; each once."""
    rows = query(database, "SELECT problem, variant FROM record JOIN space ON space.id = space_id WHERE NOT superseded")
    if len(rows) != len(set(rows)):
        fail("a variant is there twice")
    return set(rows)


def expect_whole(database):
    answer = query(database, "PRAGMA quick_check")
    if answer not in ([], [("ok",)]):
        fail("the database is damaged:", answer)


def kill_once(bench, database, rng):
    """Kills a run soon after its start, or soon after it has stored something. Whether it was killed, whether it had."""
    known = stored(database)
    run = bench.start(database)
    if rng.random() < 0.7:
        while run.poll() is None and stored(database) == known:
            time.sleep(0.01)
    time.sleep(rng.uniform(0, 0.4))
    before = stored(database)
    run.send_signal(signal.SIGKILL)
    killed = run.wait() == -signal.SIGKILL
    bench.expect_no_orphans()
    expect_whole(database)
    lost = before - stored(database)
    if lost:
        fail(f"{len(lost)} records were lost, such as", *list(lost)[:3])
    return killed, killed and before != known


def kill_often(bench, whole, kills, rng):
    done = at_work = rounds = 0
    while done < kills:
        rounds += 1
        database = f"{bench.folder}/{rounds}.db"
        while done < kills and variants(database) != whole:
            killed, working = kill_once(bench, database, rng)
            done += killed
            at_work += working
        bench.finish(database)
        if variants(database) != whole:
            fail("resumed, the space has", len(variants(database)), "of", len(whole), "variants")
    if at_work * 4 < kills:
        fail("only", at_work, "of", done, "kills met a run that had stored something")
    print(f"{done} kills, {at_work} of them after something was stored; {rounds} spaces of {len(whole)} variants resumed")


def kill_busy(bench, what, config, *options):
    """Kills a run whose child would go on for long: that ends too."""
    run = bench.start("none", *options, config=config)
    end = time.monotonic() + 200
    while not any(what in command for _, command in bench.processes()):
        if run.poll() is not None or time.monotonic() > end:
            fail("no", what, "was ever seen")
        time.sleep(0.02)
    time.sleep(0.3)
    run.kill()
    run.wait()
    bench.expect_no_orphans()
    print(f"killed while its {what} was busy: it ended too")


def slow_compiler(folder):
    """Compiles nothing, slowly, as one process."""
    path = pathlib.Path(f"{folder}/slow-compiler")
    path.write_text('#!/bin/sh\ncase " $* " in *" --version "*|*" -dumpversion "*) exec c++ "$@";; esac\nexec sleep 600\n')
    path.chmod(0o755)
    return str(path)


def share(bench, whole, tuners, settings):
    """So many runs at once for each of the settings, on one new database."""
    database = f"{bench.folder}/shared-{tuners}-{len(settings)}.db"
    bench.expect_success([bench.start(database, *setting) for setting in settings for _ in range(tuners)])
    expect_whole(database)
    found = variants(database)
    if {variant for _, variant in found} != {variant for _, variant in whole}:
        fail(tuners, "at once found", len(found), "variants")
    if len(found) != len(whole) * len(settings):
        fail(len(found), "variants of", len(settings), "problems")
    print(f"{tuners * len(settings)} at once on {len(settings)} problems: {len(found)} variants, each once")


def main():
    kills, seed = int((sys.argv[3:4] or [8])[0]), int((sys.argv[4:5] or [1])[0])
    with tempfile.TemporaryDirectory(prefix="cugen-kill-") as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder)
        undisturbed = f"{folder}/undisturbed.db"
        bench.finish(undisturbed)
        whole = variants(undisturbed)
        if len(whole) < 100:
            fail("only", len(whole), "variants")
        kill_often(bench, whole, kills, random.Random(seed))
        planted = str(pathlib.Path(bench.config).with_name("planted.lua"))
        kill_busy(bench, "cugen worker", planted, "--implementation", "endless", "--timeout", "1000")
        kill_busy(bench, "sleep 600", planted, "--compiler", slow_compiler(folder))
        share(bench, whole, 8, [()])
        share(bench, whole, 2, [(), ("--set", "n=1500")])


main()

#!/usr/bin/env python3
"""storm.py CUGEN CONFIG [SECONDS [SEED]]: tuners, readers, rm, import, export and verify on one database of the cpu device, some of
them killed (kill -9) at random moments.

Afterwards nothing that was confirmed is lost: each import that said it was done has all its records there, but for those that a
later rm removed (rm takes only the imports' own configs, each named once); each tuner that ended finds its variants remembered; an import that was
killed half way left nothing or all. `cugen cache verify` finds nothing wrong, nothing lies beside the database, and no
command ended with an exit code that nobody expects."""
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "bench"))
from make_wisdom import header, record  # noqa: E402

IMPORTED = 1500  # records a file: several transactions


class Storm:
    def __init__(self, cugen, config, folder, seconds, seed):
        self.cugen, self.config, self.folder, self.seed = cugen, config, folder, seed
        self.end = time.monotonic() + seconds
        self.counts, self.wrong, self.lock = collections.Counter(), [], threading.Lock()
        # names of imports: confirmed, killed, removed, killed while removed: any part of those is there
        self.kept, self.open, self.gone, self.cut = set(), set(), set(), set()
        self.tuned = set()  # values of n that a tuner finished
        self.environment = dict(os.environ, CUGEN_CACHE=f"{folder}/storm.db", TMPDIR=folder)

    def complain(self, *words):
        with self.lock:
            self.wrong.append(" ".join(map(str, words)))

    def run(self, rng, what, *words, kill=0.0, longest=1.0, expected=(0,)):
        """The exit code; None: it was killed."""
        process = subprocess.Popen([self.cugen, *words], env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        killed = rng.random() < kill
        if killed:
            try:
                process.wait(timeout=rng.uniform(0, longest))
            except subprocess.TimeoutExpired:
                pass
            process.kill()
        out = process.communicate()[0].decode(errors="replace")
        dead = process.returncode == -signal.SIGKILL
        with self.lock:
            self.counts[what + (" killed" if dead else "")] += 1
        if not dead and process.returncode not in expected:
            self.complain(what, *words, "ended with", process.returncode, out[-500:])
        return None if dead else process.returncode

    def tuner(self, rng):
        n = rng.choice((1003, 1500, 1700, 2100))
        code = self.run(rng, "tune", "tune", self.config, "--device", "cpu", "--set", f"n={n}", "--budget", "40",
                        "--strategy", "random", "--seed", str(rng.randrange(10**6)), "--quiet", kill=0.5, longest=6)
        if code == 0:
            with self.lock:
                self.tuned.add(n)

    def importer(self, rng):
        name = f"import{rng.randrange(10**9)}"
        path = f"{self.folder}/{name}.wisdom"
        with open(path, "wb") as file:
            file.write(header(IMPORTED))
            for i in range(IMPORTED):
                file.write(record(1000 + i % 7, f"v={i}", i, config=name))
        code = self.run(rng, "import", "cache", "import", path, "--quiet", kill=0.5, longest=1.5)
        with self.lock:
            (self.kept if code == 0 else self.open).add(name)
        os.unlink(path)

    def remover(self, rng):
        with self.lock:
            name = rng.choice(sorted(self.kept)) if len(self.kept) > 4 else None
            if name:
                self.kept.discard(name)
        if not name:
            return time.sleep(0.3)
        code = self.run(rng, "rm", "cache", "rm", name, "--yes", "--quiet", kill=0.3, longest=0.5)
        with self.lock:
            (self.gone if code == 0 else self.cut).add(name)

    def reader(self, rng):
        words = rng.choice((("cache", "ls"), ("cache", "show", self.config, "--device", "cpu"),
                            ("cache", "why", self.config, "--device", "cpu"), ("gen", self.config, "--device", "cpu"),
                            ("run", self.config, "--device", "cpu"), ("cache", "verify"),
                            ("cache", "export", "-o", f"out{rng.randrange(3)}.wisdom")))
        # verify and ls meet an empty start, run a database without a best
        self.run(rng, " ".join(words[:2]) if words[0] == "cache" else words[0], *words, kill=0.3, longest=0.7, expected=(0, 1, 8))
        time.sleep(rng.uniform(0, 0.2))

    def go_on(self, work, number):
        rng = random.Random(f"{self.seed} {work.__name__} {number}")
        try:
            while time.monotonic() < self.end and not self.wrong:
                work(rng)
        except Exception as error:  # noqa: BLE001
            self.complain(work.__name__, repr(error))

    def ask(self, sql):
        """As sqlite3 sees it, after the next command has looked."""
        import sqlite3
        database = sqlite3.connect(f"file:{self.folder}/storm.db?mode=ro", uri=True, timeout=30)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def check(self):
        rng = random.Random(0)
        self.run(rng, "last verify", "cache", "verify")
        found = dict(self.ask("SELECT config, count(*) FROM record JOIN space ON space.id = space_id WHERE NOT superseded "
                              "AND config LIKE 'import%' GROUP BY config"))
        for name in self.kept:
            if found.get(name) != IMPORTED:
                self.complain(name, "was confirmed and has", found.get(name), "records")
        for name in self.gone:
            if name in found:
                self.complain(name, "was removed and has", found[name], "records")
        for name in self.open:
            if found.get(name, IMPORTED) != IMPORTED:
                self.complain(name, "was killed and has", found[name], "records")
        for name in self.cut:
            if found.get(name, 0) > IMPORTED:
                self.complain(name, "has", found[name], "records")
        tuned = {problem for problem, in self.ask("SELECT DISTINCT problem FROM record JOIN space ON space.id = space_id "
                                                  "WHERE NOT superseded AND config NOT LIKE 'import%'")}
        for n in self.tuned:
            if not any(f"n={n}" in problem.split() for problem in tuned):
                self.complain("what was tuned for", n, "is not there:", tuned)
        left = sorted(name for name in os.listdir(self.folder) if name.startswith("storm.db-") or name.endswith(".new"))
        left = [name for name in left if not name.endswith((".new", "-shm", "-wal"))]
        if left:
            self.complain("left over:", left)

    def rage(self):
        works = [self.tuner] * 2 + [self.importer] * 2 + [self.remover] + [self.reader] * 2
        threads = [threading.Thread(target=self.go_on, args=(work, i)) for i, work in enumerate(works)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not self.wrong:
            self.check()
        print(", ".join(f"{count} {what}" for what, count in sorted(self.counts.items())))
        print(f"{len(self.kept)} imports kept, {len(self.gone)} removed, {len(self.open)} killed, {len(self.cut)} killed while removed; {len(self.wrong)} wrong")
        for line in self.wrong[:20]:
            print("wrong:", line)
        return 1 if self.wrong else 0


def main():
    seconds, seed = float((sys.argv[3:4] or [15])[0]), (sys.argv[4:5] or ["1"])[0]
    with tempfile.TemporaryDirectory(prefix="cugen-storm-") as folder:
        sys.exit(Storm(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), folder, seconds, seed).rage())


main()

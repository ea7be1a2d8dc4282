#!/usr/bin/env python3
"""store.py CUGEN NO_LIBPQ REPOSITORY: the store on a PostgreSQL server: its verbs say what they say of an SQLite file, what is wrong
is refused with one message that names a way out, a password shows nowhere, a lost connection loses nothing. NO_LIBPQ is a library to preload under which
there is no libpq."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from server import Server

CUGEN, NO_LIBPQ, ROOT = sys.argv[1:4]
SECRET = "Sesam-oeffne-dich%2F1"  # as it stands in an address; it is "Sesam-oeffne-dich/1"
sys.path[:0] = [f"{ROOT}/tools/bench", f"{ROOT}/python"]
from make_wisdom import header, portfolio, record  # noqa: E402

CONFIG = f"{ROOT}/tests/configs/launches.lua"
problems = []


def complain(*words):
    problems.append(" ".join(map(str, words)))
    print("WRONG:", *words)


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.environment = dict(os.environ, XDG_STATE_HOME=f"{folder}/state", TMPDIR=folder)
        self.environment.pop("PGPASSWORD", None)

    def run(self, cache, *words, **more):
        """Exit code, and all that it prints."""
        environment = dict(self.environment, CUGEN_CACHE=cache, **more)
        done = subprocess.run([CUGEN, *words], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if "Sesam" in done.stdout or "oeffne" in done.stdout:
            complain("a password shows in:", *words, done.stdout)
        return done.returncode, done.stdout

    def expect(self, cache, *words, code=0, says=(), **more):
        got, out = self.run(cache, *words, **more)
        if got != code or any(text not in out for text in says):
            complain(*words, f"ended with {got}, not {code}, or does not say {says}:\n{out}")
        return out


def wisdom(path, rows, portfolios=()):
    with open(path, "wb") as file:
        file.write(header(len(rows), portfolios=len(portfolios)))
        for row in rows:
            file.write(record(*row[:3], config=row[3]))
        for row in portfolios:
            file.write(portfolio(*row))
    return path


# ---- What it says is what a file says ----


def same_as_a_file(bench, server):
    """Every verb, on both, in turn: the same words but for the cache's name."""
    file, address = f"{bench.folder}/same.db", server.address()
    first = wisdom(f"{bench.folder}/1", [(1000 + i % 7, f"v={i}", i, "scale") for i in range(1500)],
                   [("dtype=f32", 1700000000), ("dtype=f64", 1700000000)])
    second = wisdom(f"{bench.folder}/2", [(1000 + i % 5, f"v={i}", 3 * i + 1, "scale") for i in range(900)]
                    + [(64, f"t={i}", i, "turn") for i in range(40)], [("dtype=f32", 1600000000), ("dtype=f64", 1800000000)])
    steps = [("cache", "import", first), ("cache", "import", first), ("cache", "import", second),
             ("cache", "ls"), ("cache", "ls", "--json"), ("cache", "export"), ("cache", "export", "turn"),
             ("cache", "verify"), ("cache", "rm", "scale", "--problem", "n=1003"), ("cache", "ls"),
             ("cache", "rm", "scale", "--problem", "n=1003", "--yes"), ("cache", "ls"), ("cache", "export"),
             ("cache", "verify", "--json"), ("cache", "rm", "--all", "--yes"), ("cache", "ls"), ("cache", "verify")]
    for step in steps:
        answers = [(code, out.replace(address, "CACHE").replace(file, "CACHE"))
                   for code, out in (bench.run(cache, *step) for cache in (file, address))]
        if answers[0] != answers[1]:
            complain(*step, "differs:\n", answers[0], "\n", answers[1])


def a_tuner_finds_what_it_stored(bench, server):
    words = ["--device", "cpu", "--budget", "none", "--strategy", "random", "--quiet"]
    bench.expect(server.address(), "tune", CONFIG, *words)
    stored = server.sql("SELECT count(*), count(DISTINCT variant) FROM cugen.record WHERE superseded = 0")
    if stored != "416|416":
        complain("a tuner stored", stored)
    bench.expect(server.address(), "tune", CONFIG, *words)
    if server.sql("SELECT count(*) FROM cugen.record") != "416":
        complain("a second tuner measured again")
    bench.expect(server.address(), "cache", "why", CONFIG, "--device", "cpu", says=["Hit: "])
    bench.expect(server.address(), "cache", "show", CONFIG, "--device", "cpu", says=["current"])
    bench.expect(server.address(), "cache", "verify", says=["416 records, 1 compiled kernel"])


# ---- What is wrong ----


def tables_of_others_are_refused(bench, server):
    address = server.address()
    cases = [
        ("CREATE TABLE cugen.photos (name text)", "photos", "DROP TABLE cugen.photos"),
        ("CREATE VIEW cugen.v AS SELECT * FROM cugen.record", "odd v", "DROP VIEW cugen.v"),
        ("CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER t BEFORE "
         "INSERT ON cugen.record FOR EACH ROW EXECUTE FUNCTION public.f()", "record odd r", "DROP TRIGGER t ON cugen.record"),
        ("CREATE RULE r AS ON INSERT TO cugen.space DO ALSO DELETE FROM cugen.record", "space odd r",
         "DROP RULE r ON cugen.space"),
        ("ALTER TABLE cugen.record ENABLE ROW LEVEL SECURITY", "record odd r",
         "ALTER TABLE cugen.record DISABLE ROW LEVEL SECURITY"),
        ("CREATE INDEX i ON cugen.record (upper(variant))", "CREATE INDEX i", "DROP INDEX cugen.i"),
        ("ALTER TABLE cugen.space ALTER device SET DEFAULT upper('x')", "default upper", "ALTER TABLE cugen.space ALTER "
         "device DROP DEFAULT"),
        ("ALTER TABLE cugen.record ADD CHECK (seconds > 0)", "CHECK", "ALTER TABLE cugen.record DROP CONSTRAINT "
         "record_seconds_check"),
        ("ALTER TABLE cugen.record ADD COLUMN colour text", "colour", "ALTER TABLE cugen.record DROP COLUMN colour"),
        ("ALTER TABLE cugen.space RENAME COLUMN options TO choices", "choices",
         "ALTER TABLE cugen.space RENAME COLUMN choices TO options"),
        ("DROP INDEX cugen.record_fastest", "record_fastest", "CREATE INDEX record_fastest ON cugen.record (space_id, "
         "seconds NULLS FIRST, id) WHERE superseded = 0 AND outcome = 0"),
        ("UPDATE cugen.about SET application = 'photos'", "about", "UPDATE cugen.about SET application = 'cugen'"),
        ("CREATE TABLE public.child () INHERITS (cugen.record)", "record odd r", "DROP TABLE public.child"),
    ]
    for wrong, says, right in cases:
        server.sql(wrong)
        bench.expect(address, "cache", "ls", code=9, says=["schema cugen is not as cugen makes it", says, "--cache"])
        server.sql(right)
        bench.expect(address, "cache", "verify", says=["nothing is wrong"])
    server.sql("UPDATE cugen.about SET format = 99")
    server.sql("ALTER TABLE cugen.record ADD COLUMN later integer NOT NULL DEFAULT 0")
    bench.expect(address, "cache", "ls", code=9, says=["newer cugen (format 99", "update cugen"])
    server.sql("ALTER TABLE cugen.record DROP COLUMN later; ALTER TABLE cugen.record DROP COLUMN energy, DROP COLUMN "
               "energy_resolution, DROP COLUMN outputs; DROP TABLE cugen.portfolio; UPDATE cugen.about SET format = 9")
    bench.expect(address, "cache", "verify", says=["416 records", "nothing is wrong"])
    if server.sql("SELECT format, (SELECT count(energy) FROM cugen.record) FROM cugen.about") != "12|416":
        complain("tables of format 9 were not brought up to date")


def images_of_others_are_not_used(bench, server):
    """Who can write to the tables cannot bring code along."""
    server.sql("UPDATE cugen.image SET data = '\\x0102'")
    bench.expect(server.address(), "cache", "verify", code=9, says=["is not what was stored"])
    other = dict(XDG_STATE_HOME=f"{bench.folder}/other")
    bench.expect(server.address(), "cache", "verify", says=["not sealed with a key that is used here"], **other)
    server.sql("DELETE FROM cugen.image")


def wrong_rows_are_found(bench, server):
    cases = [("UPDATE cugen.record SET occupancy = 7 WHERE id = (SELECT min(id) FROM cugen.record)", "out of range",
              "UPDATE cugen.record SET occupancy = 0 WHERE occupancy = 7"),
             ("UPDATE cugen.record SET hash = 'x' WHERE id = (SELECT min(id) FROM cugen.record)", "must be 32 hexadecimal digits",
              "UPDATE cugen.record SET hash = md5('x') WHERE hash = 'x'"),
             ("INSERT INTO cugen.portfolio VALUES (1, 'd', 'c', '', 'o', '', 'time', 1700000000, 'rule')", "no portfolio",
              "DELETE FROM cugen.portfolio WHERE id = 1")]
    for wrong, says, right in cases:
        server.sql(wrong)
        bench.expect(server.address(), "cache", "verify", code=9, says=[says])
        server.sql(right)
    bench.expect(server.address(), "cache", "verify", says=["nothing is wrong"])


def refusals_name_a_way_out(bench, server):
    out = "--cache"
    bench.expect("postgresql://owner@/store?host=/nowhere", "cache", "ls", code=10, says=["cannot connect", "pg_isready", out])
    bench.expect("postgresql://owner@127.0.0.1:9/store", "cache", "ls", code=10, says=["owner@127.0.0.1:9/store", out])
    bench.expect(server.address(database="nothing"), "cache", "ls", code=10, says=['"nothing" does not exist', out])
    bench.expect(server.address(), "cache", "ls", code=8, says=["libpq.so.5 was not found", "libpq5", out],
                 LD_PRELOAD=NO_LIBPQ)
    for address in ("postgresql://owner:Sesam/oeffne@h/db", "postgresql://owner:Ses@am@oeffne/db", "postgres://o:Sesam?oeffne@h",
                    "postgresql://owner:Sesam%zzoeffne@h/db", "postgresql://owner:Sesamoeffne/db", "postgresql://o:Sesam#@h/db"):
        bench.expect(address, "cache", "ls", code=2, says=["percent-encode"])
    bench.expect(server.address(more="&colour=blue"), "cache", "ls", code=10, says=['"colour"', out])
    server.sql("CREATE ROLE guest LOGIN; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA cugen TO reader; GRANT SELECT ON ALL "
               "TABLES IN SCHEMA cugen TO reader")
    bench.expect(server.address("guest"), "cache", "ls", code=10, says=["permission denied", "GRANT USAGE ON SCHEMA cugen"])
    bench.expect(server.address("reader"), "cache", "ls", says=["launches"])
    one = wisdom(f"{bench.folder}/one", [(1, "v", 1, "scale")])
    bench.expect(server.address("reader"), "cache", "import", one, code=10, says=["permission denied", "GRANT SELECT, INSERT"])
    bench.expect(server.address("reader"), "cache", "rm", "--all", "--yes", code=10, says=["permission denied"])
    bench.expect(server.address(more="&options=-c%20default_transaction_read_only%3Don"), "cache", "import", one, code=10,
                 says=["target_session_attrs=read-write"])
    server.sql("CREATE DATABASE bare", "postgres")
    bench.expect(server.address("guest", database="bare"), "cache", "ls", code=10, says=["GRANT CREATE ON DATABASE"])


def a_password_shows_nowhere(bench):
    tls = shutil.which("openssl") is not None
    with Server(password="Sesam-oeffne-dich/1", tls=tls) as server:
        right = server.address(password=SECRET)
        bench.expect(right, "cache", "ls")
        bench.expect(server.address(), "cache", "ls", code=10, says=[".pgpass"])
        bench.expect(server.address(), "cache", "ls", PGPASSWORD="Sesam-oeffne-dich/1")
        bench.expect(server.address(password="Sesam-oeffne-nicht"), "cache", "ls", code=10,
                     says=["password authentication failed", "check user and password"])
        if tls:
            far = f"postgresql://owner:{SECRET}@127.0.0.1:{server.port}/store?sslmode="
            bench.expect(far + "require", "cache", "verify", says=[f"owner@127.0.0.1:{server.port}/store?sslmode=require", "nothing is wrong"])
            bench.expect(far + "verify-full", "cache", "ls", code=10, says=["cannot connect"])
        for words in (("cache", "verify", "--json"), ("devices", "--json"), ("cache", "ls", "--json"), ("devices",)):
            bench.expect(right, *words)
        in_the_process_list(bench, right)
        bench.expect("none", "tune", CONFIG, "--device", "cpu", "--budget", "5", "--cache", right,
                     says=[f"Run the best: cugen run {CONFIG} --device cpu --cache \"postgresql://owner@/store?host="])
        server.sql("CREATE TABLE cugen.photos (name text)")
        bench.expect(right, "cache", "ls", code=9)


def in_the_process_list(bench, address):
    run = subprocess.Popen([CUGEN, "tune", CONFIG, "--device", "cpu", "--budget", "40", "--quiet", "--cache", address],
                           env=bench.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    seen = hidden = 0
    while run.poll() is None:
        try:
            line = pathlib.Path(f"/proc/{run.pid}/cmdline").read_bytes()
        except OSError:
            break
        hidden += line != b"" and b"Sesam" not in line
        seen += hidden > 0 and b"Sesam" in line
        time.sleep(0.005)
    if seen or not hidden or run.wait():
        complain("a password in the process list:", seen, hidden, run.returncode)


# ---- Connections that end ----


def nothing_is_lost_with_a_connection(bench, server):
    """The server's side of it ends several times a second, and twice the server itself, once as in a crash."""
    server.sql("DROP SCHEMA cugen CASCADE")
    run = subprocess.Popen([CUGEN, "tune", CONFIG, "--device", "cpu", "--budget", "none", "--strategy", "random", "--quiet"],
                           env=dict(bench.environment, CUGEN_CACHE=server.address()), stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    ended, began = 0, time.monotonic()
    while run.poll() is None and int(server.psql("SELECT count(*) FROM cugen.record").stdout or 0) < 10:
        time.sleep(0.02)
    while run.poll() is None:
        done = server.psql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'cugen'")
        ended += int(done.stdout or 0) if done.returncode == 0 else 0
        time.sleep(0.1)
        for how in (signal.SIGINT, signal.SIGQUIT):
            if ended in (3, 7) and run.poll() is None:
                server.stop(how if ended == 7 else signal.SIGINT)
                time.sleep(1)
                server.start()
                ended += 1
    out = run.communicate()[0]
    stored = server.sql("SELECT count(*), count(DISTINCT variant), count(*) FILTER (WHERE superseded <> 0) FROM cugen.record")
    if run.returncode or stored != "416|416|0" or ended < 3:
        complain("with lost connections:", run.returncode, stored, ended, out)
    print(f"{ended} lost connections in {time.monotonic() - began:.1f} s, {stored.split('|')[0]} records")


def a_lost_store_is_waited_for_once(bench, server):
    """By an application: the first plan waits 20 seconds for it, the next ones get the error without waiting."""
    if "CUGEN_LIBRARY" not in os.environ: # a build without the shared library
        return
    import cugen

    def timed(kernel):
        began = time.monotonic()
        try:
            kernel.plan().close()
            found = "plan"
        except cugen.Error as error:
            found = error.status.name
        return found, time.monotonic() - began

    with cugen.Library("cpu", cache=server.address()) as library:
        kernels = [library.kernel(CONFIG, n=64 + i) for i in range(4)]
        kernels[0].plan().close()
        server.stop()
        waited = [timed(kernel) for kernel in kernels[1:]]
        server.start()
        back, end = timed(kernels[3]), time.monotonic() + 60
        while back[0] != "plan" and time.monotonic() < end:  # the server is tried once a second
            time.sleep(0.5)
            back = timed(kernels[3])
    if [found for found, _ in waited] != ["IO"] * 3 or not waited[0][1] > 10 or max(waited[1][1], waited[2][1]) > 10 or back[0] != "plan":
        complain("a store that is gone:", waited, back)


def a_killed_import_leaves_nothing(bench, server):
    path = wisdom(f"{bench.folder}/many", [(1000 + i % 7, f"v={i}", i, "scale") for i in range(4000)])
    before = server.sql("SELECT count(*) FROM cugen.record")
    for pause in (0.05, 0.2, 0.4):
        run = subprocess.Popen([CUGEN, "cache", "import", path, "--quiet"], stdin=subprocess.DEVNULL,
                               env=dict(bench.environment, CUGEN_CACHE=server.address()))
        time.sleep(pause)
        run.kill()
        left = server.sql("SELECT count(*) FROM cugen.record")
        if run.wait() == -signal.SIGKILL and left not in (before, str(int(before) + 4000)):
            complain("a killed import left", left, "of", before)
    bench.expect(server.address(), "cache", "import", path)
    if server.sql("SELECT count(*) FROM cugen.record") != str(int(before) + 4000):
        complain("an import after a killed one is not whole")


def tables_are_made_once(bench, server):
    """Eight processes that come first at the same moment."""
    server.sql("DROP SCHEMA cugen CASCADE")
    threads = [threading.Thread(target=bench.expect, args=(server.address(), "cache", "verify")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def with_own_server(test, bench):
    """Beside the other tests, because this one waits most of its time."""
    try:
        with Server() as server:
            test(bench, server)
    except BaseException as error:
        complain(test.__name__, repr(error))
        raise


def main():
    folder = tempfile.mkdtemp(prefix="cugen-store-")
    try:
        bench = Bench(folder)
        with Server() as server:
            waiting = threading.Thread(target=with_own_server, args=(a_lost_store_is_waited_for_once, bench))
            waiting.start()
            for test in (same_as_a_file, tables_are_made_once, a_tuner_finds_what_it_stored, tables_of_others_are_refused, images_of_others_are_not_used,
                         wrong_rows_are_found, refusals_name_a_way_out, nothing_is_lost_with_a_connection,
                         a_killed_import_leaves_nothing):
                began = time.monotonic()
                test(bench, server)
                print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
            waiting.join()
        a_password_shows_nowhere(bench)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("all is well" if not problems else f"{len(problems)} wrong")
    return 1 if problems else 0


sys.exit(main())

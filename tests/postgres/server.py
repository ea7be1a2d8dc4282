"""A PostgreSQL server for a test: a real one, in a folder of its own, on a Unix socket alone. It ends with the test, also with one that is killed."""
import ctypes
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PDEATHSIG = 1  # PR_SET_PDEATHSIG


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def binaries():
    """The folder with initdb and postgres; without one the test is skipped."""
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda p: -float(p.split("/")[4]))
    places += [os.path.dirname(os.path.realpath(p)) for p in [shutil.which("postgres")] if p]
    for place in places:
        if all(os.access(f"{place}/{name}", os.X_OK) for name in ("initdb", "postgres", "psql")):
            return place
    return skip("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")


def ordinary_user():
    """Who runs the server: it refuses root."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    return skip("there is no user postgres or nobody to run the server as, and it does not run as root")


class Server:
    """with Server() as server: server.address(...) is a connection string to it."""

    def __init__(self, password=None, options=(), database="store", tls=False):
        self.bin, self.user, self.password, self.options = binaries(), ordinary_user(), password, list(options)
        self.folder = tempfile.mkdtemp(prefix="cugen-pg-", dir="/tmp")  # a socket's path has 107 bytes
        self.process, self.database = None, database
        os.chmod(self.folder, 0o755)
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.initialise()
        self.port = self.make_tls() if tls else 5432
        self.start()
        self.sql(f'CREATE DATABASE "{database}" ENCODING \'UTF8\' TEMPLATE template0', "postgres")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def become(self):
        """In the child: the user, and an end with the parent: SIGQUIT is the server's immediate shutdown."""
        if self.user:
            os.setgroups([])
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGQUIT)

    def run(self, *words, **more):
        return subprocess.run(words, preexec_fn=self.become, cwd=self.folder, check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)

    def initialise(self):
        words = [f"{self.bin}/initdb", "-D", f"{self.folder}/data", "-U", "owner", "-E", "UTF8", "--locale=C", "--no-sync"]
        if self.password:
            path = pathlib.Path(f"{self.folder}/password")
            path.write_text(self.password)
            os.chmod(path, 0o644)
            self.run(*words, "-A", "scram-sha-256", "--pwfile", str(path))
            path.unlink()
        else:
            self.run(*words, "-A", "trust")

    def make_tls(self):
        """It listens on the loopback interface, too, with a certificate that nobody signed. The port."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.run("openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-out",
                 f"{self.folder}/server.crt", "-keyout", f"{self.folder}/server.key")
        self.options += ["ssl=on", f"ssl_cert_file={self.folder}/server.crt", f"ssl_key_file={self.folder}/server.key",
                         "listen_addresses=127.0.0.1", f"port={port}"]
        return port

    def start(self):
        settings = ["listen_addresses=", f"unix_socket_directories={self.folder}", "max_connections=1200",
                    "shared_buffers=64MB", "logging_collector=off", *self.options]
        words = [f"{self.bin}/postgres", "-D", f"{self.folder}/data"]
        for setting in settings:
            words += ["-c", setting]
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen(words, preexec_fn=self.become, cwd=self.folder, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        end = time.monotonic() + 120
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit("the server does not start:\n" + pathlib.Path(f"{self.folder}/log").read_text()[-2000:])
            time.sleep(0.05)

    def answers(self):
        return self.psql("SELECT 1", "postgres").returncode == 0

    def stop(self, how=signal.SIGINT):
        """SIGINT: connections end, and all is on the disk; SIGQUIT: as after a crash."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(timeout=120)

    def psql(self, sql, database=None, user="owner"):
        environment = dict(os.environ, PGPASSWORD=self.password or "")
        return subprocess.run([f"{self.bin}/psql", "-h", self.folder, "-p", str(self.port), "-U", user, "-d", database or self.database, "-XAtq",
                               "-v", "ON_ERROR_STOP=1", "-c", sql], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def sql(self, sql, database=None):
        """What it answers, a line a row."""
        done = self.psql(sql, database)
        if done.returncode:
            sys.exit(f"{sql}: {done.stderr}")
        return done.stdout.strip()

    def address(self, user="owner", password="", database=None, more=""):
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@/{database or self.database}?host={self.folder}&port={self.port}{more}"

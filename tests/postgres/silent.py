#!/usr/bin/env python3
"""silent.py CUGEN REPOSITORY: whatever is waited for on a server, Ctrl-C ends the wait: a server that takes the connection and says
nothing, and one that falls silent in the middle of a run."""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from server import Server

CUGEN, ROOT = sys.argv[1:3]
HANG = 300  # seconds; nothing here takes a tenth of it
TUNE = ["tune", f"{ROOT}/tests/configs/plenty.lua", "--device", "cpu", "--strategy", "exhaustive", "--budget", "none", "-q"]
problems = []


def start(folder, cache):
    return subprocess.Popen([CUGEN, *TUNE, "--cache", cache], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, XDG_STATE_HOME=f"{folder}/state", TMPDIR=folder))


def interrupt(what, tune):
    tune.send_signal(signal.SIGINT)
    try:
        said = tune.communicate(timeout=HANG)[1]
    except subprocess.TimeoutExpired:
        tune.kill()
        said = "it did not end"
    if tune.returncode != 130:
        problems.append(f"{what}: ended with {tune.returncode}: {said}")
    return said


def silent_from_the_start(folder):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/.s.PGSQL.5432")
        listener.listen()
        tune = start(folder, f"postgresql://u@/d?host={folder}&connect_timeout=3600")
        connection, _ = listener.accept()
        connection.recv(1)  # it has asked, and waits
        interrupt("silent from the start", tune)
        connection.close()


def descendants(pid):
    children = [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [pid] + [below for child in children for below in descendants(child)]


def tell(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def silent_in_a_run(folder):
    with Server() as server:
        tune = start(folder, server.address())
        while tune.poll() is None and server.sql("SELECT count(*) > 0 FROM pg_tables WHERE schemaname = 'cugen'").strip() != "t":
            time.sleep(0.05)
        while tune.poll() is None and server.sql("SELECT count(*) > 0 FROM cugen.record").strip() != "t":
            time.sleep(0.05)
        everybody = descendants(server.process.pid)
        tell(everybody, signal.SIGSTOP)
        said = interrupt("silent in a run", tune)
        tell(everybody, signal.SIGCONT)
        if "may not be kept" not in said:
            problems.append(f"silent in a run: it does not say that something may be lost: {said}")


def main():
    with tempfile.TemporaryDirectory(prefix="cugen-silent-", dir="/tmp") as folder:
        silent_in_a_run(folder)
        silent_from_the_start(folder)
    for problem in problems:
        print("WRONG:", problem)
    sys.exit(1 if problems else 0)


main()

#!/usr/bin/env python3
"""help.py CUGEN: help fits a terminal, and its examples run.

- `cugen help` has at most 24 lines, `cugen help COMMAND` at most 32; no line of them or of `--all` has more than 80 columns.
- `cugen help COMMAND` has one example. It is a command line without wrong options or values: it does not end with exit code 2.
- Each option that a command takes is in its help, or named there as one that `--all` explains; `--all` explains all."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

CUGEN = os.path.abspath(sys.argv[1])
COLUMNS, SCREEN, MOST = 80, 24, 32
# So that an example takes seconds: behind its own options, which these replace.
SHORT = {"tune": "--device cpu -s M=32 -s dtype=f32 --budget 2 --quiet --top 0", "run": "--device cpu -s M=32 -s dtype=f32",
         "check": "--device cpu -s M=32", "gen": "--device model:H200",
         "report": "-s M=32 -s dtype=f32"}
wrong = []


def run(*words, folder="."):
    return subprocess.run([CUGEN, *words], capture_output=True, text=True, check=False, cwd=folder)


def offered(*words):
    """What completes these words: commands or options."""
    return [line.split("\t")[0] for line in run("complete", *words).stdout.splitlines()]


def commands():
    for name in offered(""):
        members = [word for word in offered(name, "") if word] if run("help", name).stdout.count("\n  " + name + " ") else []
        yield from [f"{name} {member}" for member in members] or [name]


def check_size(name, text, most):
    lines = text.split("\n")[:-1]
    wide = [line for line in lines if len(line) > COLUMNS]
    wrong.extend(f"{name}: {len(line)} columns: {line}" for line in wide)
    if not 0 < len(lines) <= most:
        wrong.append(f"{name}: {len(lines)} lines, at most {most} fit")


def check_options(command, short, whole):
    named = {f"--{name}" for name in re.findall(r"--([\w-]+)", short)}
    explained = set(re.findall(r"^  (?:-\w, |    )(--[\w-]+)", whole, re.M))
    options = set(offered(*command.split(), "--"))
    if not options or options != explained:
        wrong.append(f"cugen help {command} --all: {sorted(options ^ explained)}")
    if options - named:
        wrong.append(f"cugen help {command} does not name {sorted(options - named)}")


def check_example(command, short, folder):
    examples = re.findall(r"^Example: cugen (.*)$", short, re.M)
    if len(examples) != 1 or not (examples[0] + " ").startswith(command + " "):
        wrong.append(f"cugen help {command}: its examples are {examples}")
        return
    words = shlex.split(examples[0].partition(" >")[0])
    if command in SHORT: # a setting and a budget stand there once
        at = [i for i, word in enumerate(words) if word in ("-s", "--set", "--budget")]
        words = [word for i, word in enumerate(words) if i not in at and i - 1 not in at] + SHORT[command].split()
    ended = run(*words, folder=folder)
    if ended.returncode == 2 or ended.returncode < 0:
        wrong.append(f"cugen {shlex.join(words)}: exit code {ended.returncode}: {ended.stderr.strip()}")
    print(f"{command}: {short.count(chr(10))} lines, {ended.returncode} from the example")


def main():
    names = list(commands())
    if len(names) < 20:
        wrong.append(f"there are {len(names)} commands only")
    check_size("cugen help", run("help").stdout, SCREEN)
    check_size("cugen help --all", run("help", "--all").stdout, 100)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CUGEN_CACHE"] = os.path.join(folder, "examples.db")
        for command in names:
            short, whole = (run("help", *command.split(), *more).stdout for more in ([], ["--all"]))
            check_size(f"cugen help {command}", short, MOST)
            check_size(f"cugen help {command} --all", whole, 100)
            check_options(command, short, whole)
            check_example(command, short, folder)
    print("\n".join(wrong) or "all of them fit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""run.py CUGEN SCRIPT [WRAPPER...]: runs a script of commands and compares what they print: NAME.test exactly, NAME.cases by
what has to stand in it. With a wrapper, such as `without root`, each command runs as WRAPPER... sh -c COMMAND.

The format of NAME.test:

    A line that starts with "# " is a comment, when it stands before the first command or after an empty line.
    $ command            runs in sh; the lines up to the next command are what it prints, stdout and stderr together
    > command            continues the command line before it
    ...                  alone on a line: any lines, or none; inside a line: any text
    [3]                  alone, as the last line: the command's exit code, when it is not 0

The format of NAME.cases, a table of which each row is a case:

    == name              what follows runs in a folder and with a cache of its own
    # ...                a comment
    command => text      what the command prints, where runs of spaces and line ends are one space and "..." is any text; an exit
                         code other than 0 stands behind it as [3], and no "..." stands for it. A command may have several lines, of which the last one
                         has the arrow. Of a message the text has what it is about: names, places, figures; not its wording

Commands run in a private folder that starts empty, with a cache of their own, `cugen` on PATH, `python3` the one that runs this (-S),
$REPO the repository's root and $SCRIPTS this folder. A command that exits with 77 skips the rest of the script; what it
printed is the reason (of NAME.cases: the rest of its part). Empty lines at the end of an expectation do not count. With UPDATE=1
NAME.test is rewritten with what came out (a matching expectation is left as it is).

Commands that run side by side, those of a pipeline or with &, may print on stdout or on stderr, not on both: which came
first would be chance. `2>&1 |` or `2>FILE` settles it."""
import contextlib
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

SKIP = 77
TIMEOUT = 600
NOT_SHELL = re.compile(r"""<<'?(\w+).*?^\1$|'[^']*'|"[^"]*"|\\.|&&|\|\||[<>]&|&>""", re.S | re.M)
UNORDERED = "[stdout and stderr of commands that run side by side: in what order is chance]"


def parse(text):
    """The script as a list of [preamble lines, command, expected lines]; a comment belongs to what follows it."""
    steps, pending = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append([pending, line[2:], []])
            pending = []
        elif line.startswith("> ") and steps and not steps[-1][2] and not pending:
            steps[-1][1] += "\n" + line[2:]
        elif not steps or pending or (line.startswith("# ") and steps[-1][2][-1:] in ([], [""])):
            pending.append(line)
        else:
            steps[-1][2].append(line)
    return steps, pending


def parts(text):
    """The parts of a table of cases, each a list of (command, expected text)."""
    found, lines = [[]], []
    for line in text.splitlines():
        if not lines and line.startswith("== "):
            found.append([])
        elif lines or line.strip() and not line.startswith("# "):
            command, arrow, expected = line.partition(" =>")
            lines.append(command)
            if arrow:
                found[-1].append(("\n".join(lines), expected.strip()))
                lines = []
    assert not lines, f"no arrow behind: {lines[0]}"
    return [part for part in found if part]


def fits(expected, actual):
    """Whether the text is what is expected, whose "..." are any text."""
    first, *others = (piece.strip() for piece in expected.split("..."))
    if not others:
        return actual == first
    at = len(first) if actual.startswith(first) else -1
    for piece in others[:-1]:
        found = actual.find(piece, at) if at >= 0 else -1
        at = found + len(piece) if found >= 0 else -1
    return at >= 0 and actual.endswith(others[-1]) and len(actual) >= at + len(others[-1])


def stripped(lines):
    """The lines without the empty ones at the end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def matches(expected, actual):
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:[^\n]*\n)*"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


def side_by_side(command):
    """Some of its parts run at the same time."""
    return any(sign in NOT_SHELL.sub("", command) for sign in "|&")


def lines_of(printed):
    return b"".join(part or b"" for part in printed).decode(errors="backslashreplace").splitlines()


def run(command, folder, environment, wrapper):
    """What the command printed, as lines, with [code] at the end for an exit code other than 0; and the code."""
    errors = subprocess.PIPE if side_by_side(command) else subprocess.STDOUT
    shell = subprocess.Popen([*wrapper, "sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
    try:
        printed = shell.communicate(timeout=TIMEOUT)
    except BaseException as why:
        os.killpg(shell.pid, signal.SIGKILL)
        if not isinstance(why, subprocess.TimeoutExpired):
            raise
        return lines_of(shell.communicate()) + [f"[no end within {TIMEOUT} s]"], -1
    code = [f"[{shell.returncode}]"] if shell.returncode else []
    return stripped(lines_of(printed)) + ([UNORDERED] if all(printed) else []) + code, shell.returncode


def report(script, command, expected, actual):
    print(f"{script}: $ {command}")
    print("  expected:", *[f"    {line}" for line in expected], "  printed:", *[f"    {line}" for line in actual],
          sep="\n")


def own_python(folder):
    """A folder with the python3 that runs this, itself, and without the packages installed beside it (-S): one that a version manager puts
    first, or that looks for packages, takes longer to begin than most commands to end."""
    place = os.path.join(folder, "python")
    os.mkdir(place)
    with open(os.path.join(place, "python3"), "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
        file.write(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S "$@"\n')
    return place


def environment(cugen, script, folder, wrapped):
    own = dict(os.environ)
    for name in [name for name in own if name.startswith("CUGEN_") and name not in ("CUGEN_TOOLKIT", "CUGEN_CXX")]:
        del own[name]
    own.pop("XDG_STATE_HOME", None)
    cache = f"{folder}/.cache"
    first = [str(cugen.parent)] + ([] if wrapped else [own_python(folder)]) # another user may not have it
    own.update(PATH=":".join([*first, own["PATH"]]), REPO=str(pathlib.Path(__file__).resolve().parents[2]), SCRIPTS=str(script.parent),
               HOME=folder, XDG_CACHE_HOME=cache, CUGEN_CACHE=f"{cache}/cugen.db", LC_ALL="C.UTF-8", TERM="dumb")
    own.pop("COLUMNS", None)
    return own


@contextlib.contextmanager
def place(cugen, script, wrapper):
    """A private folder and its environment."""
    with tempfile.TemporaryDirectory(prefix="cugen-cli-") as top:
        work = os.path.join(top, "work")
        os.mkdir(work)
        if wrapper:  # the commands may be another user's
            os.chmod(top, 0o777)
            os.chmod(work, 0o777)
        yield work, environment(cugen, script, top, bool(wrapper))


def run_cases(cugen, script, wrapper):
    """Runs a table of cases."""
    failures, skipped, found = 0, 0, parts(script.read_text())
    for cases in found:
        with place(cugen, script, wrapper) as (work, own):
            for command, expected in cases:
                lines, code = run(command, work, own, wrapper)
                if code == SKIP:
                    print("skipped:", " ".join(lines[:-1]) or command)
                    skipped = SKIP
                    break
                actual = " ".join(" ".join(lines).split())
                if not fits(expected, actual) or code and not expected.endswith(f"[{code}]"):
                    failures += 1
                    report(script.name, command, [expected], [actual])
    print(f"{script.name}: {sum(map(len, found))} cases, {failures} wrong")
    return 1 if failures or not found else skipped


def main():
    cugen, script = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if script.suffix == ".cases":
        return run_cases(cugen, script, sys.argv[3:])
    steps, rest = parse(script.read_text())
    failures, written = 0, []
    with place(cugen, script, sys.argv[3:]) as (work, own):
        for preamble, command, expected in steps:
            actual, code = run(command, work, own, sys.argv[3:])
            if code == SKIP:
                print("skipped:", " ".join(actual[:-1]) or command)
                return SKIP
            good = matches(stripped(expected), actual)
            if not good:
                failures += 1
                report(script.name, command, stripped(expected), actual)
            gap = expected[len(stripped(expected)):]
            written += [*preamble, "$ " + command.replace("\n", "\n> "), *(expected if good else actual + gap)]
    if os.environ.get("UPDATE") and failures:
        script.write_text("\n".join(written + rest) + "\n")
    print(f"{script.name}: {len(steps)} commands, {failures} wrong")
    return 1 if failures or not steps else 0


sys.exit(main())

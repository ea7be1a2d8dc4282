#!/usr/bin/env python3
"""shipped.py write [BUILD]: writes tests/golden/shipped.txt and the texts in tests/golden/expected as they come out now.
shipped.py difference [CASE...] [--from COMMIT] [--build BUILD]: what the cases expand to, beside what they did with the templates and
configs of COMMIT (HEAD). Without cases all that differ.

BUILD is build/ where none is named; `ninja -C BUILD` first."""
import argparse
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write(build):
    """Through ctest, which knows where the build's toolkit is."""
    run = subprocess.run(["ctest", "--test-dir", build, "-R", "^nvrtc/shipped$", "--output-on-failure"], check=False,
                         env={**os.environ, "CUGEN_GOLDEN": "write"}, stdout=subprocess.PIPE, text=True)
    if run.returncode or "skipped" in run.stdout.lower():
        print(run.stdout, end="")
        return 1
    print("written; now read it: git diff tests/golden")
    return 0


def expansions(program, root, folder):
    """Case -> its source, from the templates and configs below root; those that these do not have are left out."""
    subprocess.run([program], cwd=root, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "CUGEN_EXPANSIONS": folder})
    return {path.stem: path.read_text().splitlines(keepends=True) for path in sorted(pathlib.Path(folder).glob("*.cu"))}


def difference(program, commit, wanted):
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as old, tempfile.TemporaryDirectory() as new:
        files = subprocess.run(["git", "-C", ROOT, "archive", commit, "templates", "configs", "tests/configs"], check=True,
                               stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "-C", root], input=files, check=True)
        before, after = expansions(program, root, old), expansions(program, ROOT, new)
    unknown = [case for case in wanted if case not in {*before, *after}]
    if unknown:
        print("no such case:", *unknown)
        return 2
    differ = 0
    for case in wanted or sorted({*before, *after}):
        lines = list(difflib.unified_diff(before.get(case, []), after.get(case, []), f"{commit}/{case}.cu", f"{case}.cu"))
        differ += bool(lines)
        sys.stdout.writelines(lines)
    if not differ:
        print(f"the templates and configs of {commit} give the same. Has expansion itself changed? Then build {commit} elsewhere and compare\n"
              f"what CUGEN_EXPANSIONS=FOLDER {program} writes with what that one does.")
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("what", choices=["write", "difference"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--from", dest="commit", default="HEAD")
    parser.add_argument("--build", default=None)
    given = parser.parse_args()
    if given.what == "write":
        return write(given.build or (given.names or [ROOT / "build"])[0])
    program = pathlib.Path(given.build or ROOT / "build").resolve() / "tests/test_expansions"
    return difference(program, given.commit, given.names)


sys.exit(main())

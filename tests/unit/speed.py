#!/usr/bin/env python3
"""speed.py: the pictures are what tools/bench/draw-speed and draw-race make of tools/bench/results, and a changed figure changes them."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PICTURES = ("docs/speed-light.svg", "docs/speed-dark.svg", "docs/race-light.svg", "docs/race-dark.svg")


def edited(path, pattern, new):
    text, count = re.subn(pattern, new, path.read_text(), count=1, flags=re.M)
    assert count == 1, f"{path} has no {pattern}"
    path.write_text(text)


def check(change, tool="draw-speed"):
    """The exit code and what --check says after change(folder)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in (f"tools/bench/{tool}", *PICTURES):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, folder / file)
        shutil.copytree(ROOT / "tools/bench/results", folder / "tools/bench/results")
        change(folder / "tools/bench/results", folder)
        done = subprocess.run([sys.executable, folder / f"tools/bench/{tool}", "--check"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def newest(results, name):
    return max(results.glob(f"*-{name}.txt"))


def main():
    families, table = "h200-families", "h200-products-table"
    cases = [
        ("as it is", lambda r, f: None, 0, "matmul bf16   24 problems"),
        ("another rate", lambda r, f: edited(newest(r, families), r"(^copy +width=67108864 .*\) +)4160\.29", r"\g<1>4460.29"), 1, "are not what"),
        ("another rate as a graph", lambda r, f: edited(newest(r, table), r"(M=1024 .*row as a graph .*\) +)407\.62", r"\g<1>437.62"), 1, "are not what"),
        ("a line that was not tuned", lambda r, f: edited(newest(r, families), r"^( +registers access=16 .*)", r"\1 (not tuned)"), 1, "are not what"),
        ("another GPU", lambda r, f: edited(newest(r, families), r"\ANVIDIA H200", "NVIDIA B200"), 1, "are not what"),
        ("a newer table", lambda r, f: newest(r, families).rename(r / "2027-01-01-h200-families.txt"), 1, "are not what"),
        ("no line of a family", lambda r, f: edited(newest(r, families), r"(^copy(.*\n)*?)(?=transpose)", ""), 1, "have no line of copy"),
        ("no table", lambda r, f: newest(r, families).unlink(), 1, f"no file *-{families}.txt"),
        ("a picture changed by hand", lambda r, f: edited(f / PICTURES[0], r"1\.02", "1.12"), 1, "speed-light.svg in docs/ are not what"),
    ]
    race = "h200-versus-sooner"
    races = [
        ("as it is", lambda r, f: None, 0, "coulomb        cugen   0.48 of 5"),
        ("another time", lambda r, f: edited(newest(r, race), r"(^coulomb +cugen .*) 0\.48 ", r"\1 0.41 "), 1, "race-light.svg and race-dark.svg in docs/ are not what"),
        ("a run that got there", lambda r, f: edited(newest(r, race), r"(^nbody +greedy_ils .*) never ", r"\1 19.00 "), 1, "are not what"),
        ("no table", lambda r, f: newest(r, race).unlink(), 1, f"no file *-{race}.txt"),
    ]
    wrong = 0
    for what, change, wanted, words, tool in [(*case, "draw-speed") for case in cases] + [(*case, "draw-race") for case in races]:
        code, said = check(change, tool)
        if code != wanted or words not in said:
            wrong += 1
            print(f"{what}: exit code {code}, said:\n{said}")
    for picture in PICTURES:
        text = {node.text for node in xml.etree.ElementTree.parse(ROOT / picture).iter() if node.tag.endswith("}text")}
        if not ({"copy", "matmul bf16", "mean", "1.0"} <= text or {"coulomb", "nbody", "cugen", "not in 20 s"} <= text):
            wrong += 1
            print(f"{picture} has no text of its own")
    print(f"{len(cases) + len(races) + len(PICTURES)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

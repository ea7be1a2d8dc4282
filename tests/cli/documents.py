#!/usr/bin/env python3
"""documents.py CUGEN FILE.md...: runs what a page shows after "$ " in its fenced blocks, in the order of the page, and compares
what comes out with what the page prints (the format is run.py's: "..." stands for any text, [11] for an exit code). The
commands run in a folder with copies of the repository's examples, configs and templates, and `./cugen` as in a clone, and have
to leave the examples as they are. With UPDATE=1 the page is rewritten."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FENCED = re.compile(r"^```\n(\$ .*?)^```$", re.M | re.S)
FOLDER = "$ mkdir docs build && cp -r $REPO/docs/examples docs && cp -r $REPO/configs $REPO/templates . && ln -s $(command -v cugen) cugen\n"
UNCHANGED = "\n$ diff -r docs/examples $REPO/docs/examples\n"


def run(cugen, page):
    """The page's blocks as one script, since later commands use what earlier ones left."""
    text = page.read_text()
    blocks = FENCED.findall(text)
    if not blocks:
        sys.exit(f"{page}: shows no command")
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / (page.stem + ".test")
        script.write_text(FOLDER + "".join("\n" + block for block in blocks) + UNCHANGED)
        code = subprocess.run([sys.executable, HERE / "run.py", cugen, script], check=False).returncode
        if os.environ.get("UPDATE") == "1":
            update(page, text, script.read_text())
        return code


def update(page, text, script):
    """A block begins with its first command, which is in the script as often as in the page."""
    outputs, place = [], len(FOLDER)
    starts = []
    for block in FENCED.findall(text):
        first = block.split("\n", 1)[0] + "\n"
        place = script.index("\n" + first, place - 1) + 1
        starts.append(place)
        place += len(first)
    for begin, end in zip(starts, starts[1:] + [script.index(UNCHANGED)]):
        outputs.append(script[begin:end].rstrip("\n") + "\n")
    rest = iter(outputs)
    page.write_text(FENCED.sub(lambda _: "```\n" + next(rest) + "```", text))


def main(argv):
    """A page that shows what one before it showed, in another language, is no other run."""
    pages = {tuple(FENCED.findall(page.read_text())): page for page in map(pathlib.Path, reversed(argv[1:]))}
    return max(run(argv[0], page) for page in pages.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

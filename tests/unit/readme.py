#!/usr/bin/env python3
"""readme.py: the kernel and the config that the README shows, in both languages, are the files of the example, which tests run."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHOWN = {"cuda": "docs/examples/turn/turn.cu", "lua": "docs/examples/turn/turn.lua"}


def faults(page, text):
    """What is wrong with the blocks of a page."""
    for language, file in SHOWN.items():
        blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
        if blocks != [(ROOT / file).read_text()]:
            yield f"{page}: its block of {language} is not {file}"


def main():
    wrong, planted = [], 0
    for page in ("README.md", "README.zh.md"):
        text = (ROOT / page).read_text()
        wrong += faults(page, text)
        for old, new in (("{ 16, 32 }", "{ 16 }"), ("TILE + PAD", "TILE"), ("```lua", "```")):
            planted += 1
            wrong += [] if [*faults(page, text.replace(old, new))] else [f"{page}: {new} for {old} was not found"]
    print("\n".join(wrong) or f"the kernel and the config are right; {planted} faults were found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

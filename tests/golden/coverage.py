#!/usr/bin/env python3
"""Whether the golden expansions reach every branch of every template that ships: coverage.py ROOT PROGRAM [--least],
with test_expansions as the program.

The expansions say by #line where their lines come from. A line of a template that is in none of them, and a condition
without an else that is true in all of them, is printed as "FILE:LINE: ..." and fails: add a case to
tests/golden/shipped.c. --least prints which cases reach what no other one does, and a smallest choice of cases."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

skipped = re.compile(r"\s*(//|#\s*(line|pragma once)|$)")
directive = re.compile(r"\s*//@\s*(--)?\s*(\w*)(.*)")


def expanded_lines(source):
    """The (template, line number) of each line of an expansion."""
    file, number, found = None, 0, set()
    for text in source.splitlines():
        moved = re.match(r'#line (\d+) "(.*)"', text)
        if moved:
            file, number = moved[2], int(moved[1]) - 1
            continue
        number += 1
        if file and text.strip():
            found.add((file, number))
    return found


def template_points(name, lines):
    """Lines below a condition or loop, which have to come out, and for each condition without an else the first line below it, which has to be
    left out somewhere: two lists of line numbers."""
    out, left_out, stack, lua = [], [], [], 0
    for number, text in enumerate(lines, 1):
        found = directive.match(text)
        if not found:
            if lua == 0 and stack and not skipped.match(text):
                out.append(number)
                for level in stack:
                    level["first"] = level["first"] or number
            continue
        word, rest = found[2], found[3]
        if found[1]:
            continue
        ends = len(re.findall(r"\bend\b", rest)) + (word == "end")
        opens = len(re.findall(r"\b(?:then|do|function)\b", rest)) - (word == "elseif") + (word in ("function", "do"))
        if word in ("local", "return") or (word == "if" and ends):  # Lua that makes no text
            lua += opens - ends if "function" in rest else 0
            continue
        if word == "function" or lua:
            lua += opens - ends
            continue
        if word in ("if", "for", "while"):
            stack.append({"word": word, "else": False, "first": 0})
        elif word == "else" and stack:
            stack[-1]["else"] = True
        elif word == "end" and stack:
            level = stack.pop()
            if level["word"] == "if" and not level["else"] and level["first"]:
                left_out.append(level["first"])
    return out, left_out


def points_reached(root, cases):
    """(template, line, whether it comes out or is left out) -> the cases that do; cases: name -> its lines."""
    reached = {}
    for path in sorted((root / "templates").rglob("*.cu*")):
        name = str(path.relative_to(root))
        out, left_out = template_points(name, path.read_text().splitlines())
        for line in out:
            reached[name, line, True] = {case for case, lines in cases.items() if (name, line) in lines}
        for line in left_out:
            reached[name, line, False] = {case for case, lines in cases.items()
                                          if (name, line) not in lines and any(file == name for file, _ in lines)}
    return reached


def main():
    root = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[2]], cwd=root, env={**os.environ, "CUGEN_EXPANSIONS": folder}, stdout=subprocess.DEVNULL, check=True)
        cases = {path.stem: expanded_lines(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.cu"))}
    reached = points_reached(root, cases)
    missing = [point for point, by in reached.items() if not by]
    for name, line, out in missing:
        print(f"{name}:{line}: {'in no expansion' if out else 'in every expansion'}: add a case to "
              "tests/golden/shipped.c that takes the other branch")
    if "--least" in sys.argv:
        left, chosen = {point for point, by in reached.items() if by}, []
        while left:
            best = max(sorted(cases), key=lambda case: sum(case in reached[point] for point in left))
            chosen.append(best)
            left = {point for point in left if best not in reached[point]}
        print("enough:", " ".join(sorted(chosen)))
        print("not needed:", " ".join(sorted(set(cases) - set(chosen))))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""readme.py: the README's config is the one that the tests run, and the tune it shows took place as shown."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MORE = "..."  # what was left out


def shortened(shown, whole):
    """Whether a shown line is a whole one with words left out, between its columns or at a "..." at its end."""
    rest = iter(whole.split())
    return all(word in rest for word in shown.removesuffix(MORE).split())


def transcript(readme):
    """What is wrong with the lines after a command: each must be one of the whole run's, in its order."""
    [session] = re.findall(r"^```\n(\$ cugen .*?)^```", readme, re.M | re.S)
    [name] = re.findall(r"\]\((tools/bench/results/[^)]*)\)", readme)
    whole = iter((ROOT / name).read_text().split("\n"))
    for line in session.strip().split("\n"):
        if line.strip() and line != MORE and not any(shortened(line, one) for one in whole):
            yield f"README.md: {name} has no line such as '{line}', or not in this order"


def config(readme):
    [shown] = re.findall(r"^```lua\n(.*?)^```", readme, re.M | re.S)
    if shown != (ROOT / "tests/configs/wild.lua").read_text():
        yield "README.md: the config is not tests/configs/wild.lua"


def main():
    readme = (ROOT / "README.md").read_text()
    faults = [readme.replace("50,200", "50,300"), readme.replace("--budget 22s", "--budget 20s"), readme.replace("125  24.5", "24.5  125"),
              readme.replace("{ 128, 256 }", "{ 128 }")]
    wrong = [*transcript(readme), *config(readme)]
    wrong += [f"fault {i + 1} was not found" for i, fault in enumerate(faults) if not [*transcript(fault), *config(fault)]]
    print("\n".join(wrong) or f"the config and the transcript are right; {len(faults)} faults were found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

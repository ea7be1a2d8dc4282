"""json_names.py OBJECT.json: which of the object's names docs/json.md does not have in backquotes."""
import json
import os
import re
import sys


def names(value):
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from names(inner)
    if isinstance(value, dict):
        yield from value


with open(os.environ["REPO"] + "/docs/json.md", encoding="utf-8") as file:
    known = set(re.findall(r"`(\w+)`", file.read()))
with open(sys.argv[1], encoding="utf-8") as file:
    found = set(names(json.load(file)))
unknown = sorted(found - known)
print("not in docs/json.md: " + ", ".join(unknown) if unknown else "documented" if found else "no names")

"""json_names.py OBJECT.json: which of the object's names docs/json.md does not have in backquotes, and whether it begins with the version
that stands there."""
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
    page = file.read()
with open(sys.argv[1], encoding="utf-8") as file:
    printed = json.load(file)
version = int(re.search(r"the version of this page: (\d+)", page)[1])
unknown = sorted(set(names(printed)) - set(re.findall(r"`(\w+)`", page)))
if next(iter(printed.items()), None) != ("version", version):
    print(f"does not begin with version {version}")
elif unknown:
    print("not in docs/json.md: " + ", ".join(unknown))
else:
    print("documented" if len(printed) > 1 else "no names")

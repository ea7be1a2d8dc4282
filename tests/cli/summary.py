"""Reads the JSON of `cugen tune` and prints what does not change from run to run."""
import collections
import json
import sys

result = json.load(sys.stdin)
print(result["kernel"], result["problem"], result["device"]["id"], result["check_problem"])
print({name: result["run"][name] for name in ("valid", "remembered", "tried", "left", "interrupted")})
print(dict(sorted(collections.Counter(record["outcome"] for record in result["records"]).items())))
right = [record for record in result["records"] if record["outcome"] == "ok"]
assert result["records"][:len(right)] == right, "the right ones come first"
assert all(0 < record["seconds_min"] <= record["seconds"] for record in right)
assert all(record["seconds"] is None and record["reason"] for record in result["records"][len(right):])

"""page.py FILE [EXPRESSION...]: whether cugen report's page stands for itself: every element closed, nothing fetched from anywhere, its own
script alone, which node (where it is there) can read; then how much its data has. An EXPRESSION in Python is evaluated with `run`, the data."""
import collections
import html.parser
import json
import re
import shutil
import subprocess
import sys

VOID = {"meta", "link", "br"}


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.scripts = [], [], collections.defaultdict(str)

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.kind = dict(attributes).get("type", "code")
            self.wrong += ["two scripts"] if self.kind in self.scripts else []
        for name, value in attributes:
            if name in ("src", "srcset") or (name in ("href", "xlink:href") and not value.startswith("data:")):
                self.wrong.append(f"{name}={value}")
            if name.startswith("on"):
                self.wrong.append(f"a handler {name}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[self.kind] += data


with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
reader = Reader()
reader.feed(text)
reader.close()
data, code = reader.scripts.pop("application/json"), reader.scripts.pop("code")
wrong = reader.wrong + [f"<{tag}> stays open" for tag in reader.open] + [f"a script {kind}" for kind in reader.scripts]
wrong += re.findall(r"url\(|@import|\{\{run|fetch\(|XMLHttpRequest|innerHTML|https?://(?!www\.w3\.org/2000/svg)", text.replace(data, ""))
wrong += ["a '<' in the data"] if "<" in data else []
if shutil.which("node"):
    checked = subprocess.run(["node", "--check", "-"], input=code, capture_output=True, text=True, check=False)
    wrong += [checked.stderr] if checked.returncode else []
run = json.loads(data)
for problem in wrong:
    print(problem)
counts = {"implementations": run["implementations"], "variants": run["right"], "rows": [r for r in run["right"] if r["cells"]],
          "points": run["trace"]["points"], "failures": run["failures"], "other problems": run["others"]}
if len(sys.argv) == 2 or wrong:
    print("stands for itself:" if not wrong else "does not stand for itself:", ", ".join(f"{len(all)} {name}" for name, all in counts.items()))
for expression in sys.argv[2:]:
    print(eval(expression))

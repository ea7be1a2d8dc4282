"""page.py FILE: whether a page or picture stands for itself: every element closed, nothing fetched from anywhere, no script;
then how many of what it has."""
import collections
import html.parser
import re
import sys

NUMBERS = ("style", "d", "x", "y", "cx", "cy", "transform", "width", "height")
VOID = {"meta", "link", "br"}


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.counts, self.wrong = [], collections.Counter(), []

    def handle_starttag(self, tag, attributes):
        self.counts[tag] += 1
        if tag not in VOID:
            self.open.append(tag)
        classes = dict(attributes).get("class", "").split()
        if "best" in classes:
            self.counts["dot"] += 1
        if "dots" in classes:
            self.counts["dot"] += dict(attributes)["d"].count("h0")
        if "failed" in classes:
            self.counts["tick"] += dict(attributes)["d"].count("v")
        if tag == "script":
            self.wrong.append("a script")
        for name, value in attributes:
            if name in ("src", "srcset") or (name in ("href", "xlink:href") and not value.startswith("data:")):
                self.wrong.append(f"{name}={value}")
            if name in NUMBERS and re.search(r"nan|inf", value):
                self.wrong.append(f"{name}={value}")
            if name.startswith("on"):
                self.wrong.append(f"a handler {name}")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")


with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
reader = Reader()
reader.feed(text)
reader.close()
wrong = reader.wrong + [f"<{tag}> stays open" for tag in reader.open]
wrong += ["url(" for _ in re.findall(r"url\(|@import", text)] + ["{{" for _ in re.findall(r"\{\{|\}\}", text)]
for problem in wrong:
    print(problem)
shown = [f"{reader.counts[tag]} {name}" for tag, name in
         (("h2", "sections"), ("svg", "pictures"), ("li", "items"), ("tr", "rows"), ("dot", "dots"), ("tick", "ticks")) if reader.counts[tag]]
print("stands for itself:" if not wrong else "does not stand for itself:", ", ".join(shown))

#!/usr/bin/env python3
"""tools/check-chinese finds where a Chinese page is out of step: in copies of the pages, one thing is changed at a time."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README, MEMORY = "README.zh.md", "docs/memory.zh.md"
BASICS = "docs/memory-basics.zh.md"
FILES = ("tools/check-chinese", *(page.replace(".zh", zh) for page in (README, MEMORY, BASICS, "docs/memory-errata.zh.md") for zh in ("", ".zh")))


def edited(page, pattern, new):
    def change(folder):
        text, count = re.subn(pattern, new, (folder / page).read_text(), count=1, flags=re.M)
        assert count == 1, f"{page} has no {pattern}"
        (folder / page).write_text(text)
    return change


def check(change):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in FILES:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, folder / file)
        change(folder)
        done = subprocess.run([sys.executable, folder / "tools/check-chinese"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


CASES = (
    ("as it is", lambda folder: None, 0, "in step"),
    ("another command in a block", edited(README, "--top 3", "--top 2"), 1, "the blocks of code are others"),
    ("another comment in a block", edited(README, "# 编译并运行测试.*", "# 运行测试"), 0, "in step"),
    ("another command in a table", edited(MEMORY, "copy --variant bulk`", "copy --variant element`"), 1, "code: lacks"),
    ("another command in a sentence", edited(README, "`cugen check` 在", "`cugen run` 在"), 1, "code: lacks"),
    ("a heading too few", edited(MEMORY, "^## .*\n", ""), 1, "headings, the English page has"),
    ("a heading of another level", edited(MEMORY, "^### ", "## "), 1, "they part at"),
    ("a heading that is new in English", edited("docs/memory.md", "^## Occupancy", "## More\n\n## Occupancy"), 1, "headings, the English page has 22"),
    ("a figure in a sentence", edited(README, "1.004 倍", "1.005 倍"), 1, "numbers: lacks ['1.004']; has ['1.005']"),
    ("a figure in a table", edited(MEMORY, r"(copy --variant bulk` \| )\d", r"\g<1>9"), 1, "numbers: lacks"),
    ("a figure that changed in English", edited("docs/memory.md", "2,048 threads", "1,024 threads"), 1, "numbers: lacks ['1024']"),
    ("a figure in 万", edited(MEMORY, "1680 万", "168 万"), 1, "numbers: lacks ['1.68e+07']"),
    ("a row too few", edited(MEMORY, r"^\| 64 KiB .*\n", ""), 1, "tables of"),
    ("a link elsewhere", edited(README, r"docs/tuning\.md\)", "docs/export.md)"), 1, "links: lacks ['docs/tuning.md']"),
    ("a heading's link", edited(MEMORY, r"\(#占有率\)", "(#编译器的输出)"), 1, "links: lacks"),
    ("a heading's link to another page", edited(MEMORY, r"#两道屏障两种依赖\)", "#只读加载)"), 1, "links: lacks"),
    ("a link to an English page", edited(BASICS, r"`carveout \"percent\"`", r"[\g<0>](config.md)"), 1, "has ['config.md']"),
    ("a link to an English page below what is Chinese alone", edited(MEMORY, "本页采用各种中文笔记", "[本页](glossary.md)采用各种中文笔记"), 1, "links to glossary.md"),
    ("another comment of C++ in a block", edited(BASICS, "// 固定内存$", "// 锁页内存"), 0, "in step"),
    ("no link to the other page", edited(README, r"\[English\]\(README\.md\)", "English"), 1, "README.zh.md has no link to README.md"),
)


def main():
    wrong = 0
    for what, change, wanted, words in CASES:
        code, said = check(change)
        if code != wanted or words not in said:
            wrong += 1
            print(f"{what}: exit code {code}, said:\n{said}")
    print(f"{len(CASES)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

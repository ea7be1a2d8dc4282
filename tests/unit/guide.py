#!/usr/bin/env python3
"""tools/check-guide finds what is wrong: in copies of what it compares, one thing is changed at a time."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ("-guide.txt", "-guide-check.txt")
PAGES = ("docs/memory.md", "docs/memory.md.in", "docs/memory.zh.md", "docs/memory.zh.md.in")


def newest(name):
    return max((ROOT / "tools/bench/results").glob(f"*{name}")).relative_to(ROOT)


def edited(path, pattern, new):
    text, count = re.subn(pattern, new, path.read_text(), count=1, flags=re.M)
    assert count == 1, f"{path} has no {pattern}"
    path.write_text(text)


def check(change, *calls):
    """Of each call with these options, after change(folder): the exit code and what is said."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in ("tools/check-guide", *PAGES, *map(newest, RESULTS)):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, folder / file)
        change(folder)
        runs = [subprocess.run([sys.executable, folder / "tools/check-guide", *options], capture_output=True, text=True, check=False)
                for options in calls]
        return [(run.returncode, run.stdout + run.stderr) for run in runs]


def main():
    guide, template, run, counted = "docs/memory.md", "docs/memory.md.in", newest("-guide.txt"), newest("-guide-check.txt")
    ncu = r"(\$ ncu cugen run transpose .*coalesced_read\n(?:.*\n)*?.*_t_sectors_pipe_lsu_mem_global_op_st.sum +)1,048,576"
    cases = [
        ("as it is", lambda f: None, 0, "figures are those of"),
        ("a wrong digit in a table", lambda f: edited(f / guide, r"(\| 32\.0 \| 1)2\.5", r"\g<1>3.5"), 1, "docs/memory.md:"),
        ("a wrong digit in a sentence", lambda f: edited(f / guide, r"16 apart takes \d", "16 apart takes x"), 1, "is\n"),
        ("a wrong digit in Chinese", lambda f: edited(f / PAGES[2], r"(\| 32\.0 \| 1)2\.5", r"\g<1>3.5"), 1, "docs/memory.zh.md:"),
        ("a figure of no result in Chinese", lambda f: edited(f / PAGES[3], "copy --variant bulk`", "copy --variant bulky`"), 1, "docs/memory.zh.md.in:"),
        ("a number that nothing gives", lambda f: edited(f / template, "^## Words", "A warp takes 17 us.\n\n## Words"), 1,
         "17 is bound to no result"),
        ("a size that is given otherwise", lambda f: edited(f / template, "32 banks of 4 bytes. A", "16 banks of 4 bytes. A"), 1,
         "16 is bound to no result"),
        ("a figure of no result", lambda f: edited(f / template, "copy --variant bulk`", "copy --variant bulky`"), 1, "has no line"),
        ("a result that differs", lambda f: edited(f / run, r"(copy --variant bulk\n    [\d.,]+ us, )\d", r"\g<1>9"), 1, "docs/memory.md:"),
        ("a count that differs from ncu's", lambda f: edited(f / run, ncu, r"\g<1>1,048,575"), 1, "and ncu: sectors"),
        ("a transfer that differs", lambda f: edited(f / run, r"^( *64 MiB +)", r"\g<1>9"), 1, "docs/memory.md:"),
        ("a peak that is gone", lambda f: edited(f / run, r"^device memory, copied", "device memory, moved"), 1, "no peak of 'device memory, copied'"),
        ("a count that differs from check's", lambda f: edited(f / counted, r"1,048,576 needed", "1,048,577 needed"), 1, "and ncu: "),
    ]
    wrong = 0
    for what, change, wanted, words in cases:
        [(code, said)] = check(change, [])
        if code != wanted or words not in said:
            wrong += 1
            print(f"{what}: exit code {code}, said:\n{said}")
    (code, said), (again, _) = check(lambda f: edited(f / run, r"(copy --variant bulk\n    [\d.,]+ us, )\d", r"\g<1>9"), ["--update"], [])
    if code or again:
        wrong += 1
        print(f"--update after another result: exit codes {code}, {again}, said:\n{said}")
    print(f"{len(cases) + 1} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

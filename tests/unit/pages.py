#!/usr/bin/env python3
"""pages.py ROOT: what docs/index.md, commands.md, environment.md, troubleshooting.md, cache.md and cookbook.md list is what there is.

- index.md leads to every page of docs/; those under "Use" have at most 2,000 words.
- commands.md has every command of the man page.
- environment.md has the exit codes of cugen.h, and the environment variables that the program, the library, the launcher and the
  Python package read, no others.
- The messages of troubleshooting.md are in the sources, or in what a test of the command line sees printed: what stands between
  `...` in one string.
- cache.md has every column of a record, tuning.md every strategy, config.md every type of elements.
- No page installs cugen from PyPI before install.md does.
- A block of code in cookbook.md is text of a file of docs/examples/cookbook, and each config there is shown whole."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
OURS = ("api", "base", "cli", "emulator", "gen", "include", "runtime", "tune")
READ_IN_C = re.compile(r'getenv\("(\w+)"\)|^  X\(\w+, \w+, "(CUGEN_\w+)"\)', re.M)
READ_BY_LAUNCHER = re.compile(r"\$\{([A-Z_]+):-")
READ_IN_PYTHON = re.compile(r'environ(?:\.get\(|\[)"(\w+)"')


def page(name):
    return (ROOT / "docs" / name).read_text()


def sources():
    return [path for room in OURS for path in sorted((ROOT / room).rglob("*.[ch]"))]


def rows(text):
    """The cells of the first column, heads and rules left out."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    return [line.split(" | ")[0].lstrip("| ") for line, after in zip(lines, lines[1:] + [""])
            if not line.startswith("|---") and not after.startswith("|---")]


def missing_pages():
    linked = set(re.findall(r"\]\(([\w.-]+\.md)[)#]", page("index.md")))
    there = {path.name for path in ROOT.glob("docs/*.md")} - {"index.md"}
    return [f"docs/index.md does not lead to {name}" for name in sorted(there - linked)]


def long_pages():
    use = page("index.md").partition("## Use")[2].partition("\n## ")[0]
    lengths = {name: len(page(name).split()) for name in re.findall(r"\]\(([\w.-]+\.md)\)", use)}
    return [f"docs/{name} has {words} words; a page of use has 2,000 at most" for name, words in lengths.items() if words > 2000] if lengths \
        else ["docs/index.md has no group Use"]


def missing_commands():
    """Those of the man page: `cugen cache ls`, `show`, ... stand in one row."""
    known = re.findall(r"^\.SS cugen ([a-z]+(?: [a-z]+)?)", page("cugen.1"), re.M)
    listed = set()
    for cell in rows(page("commands.md")):
        first, *others = re.findall(r"`(?:cugen )?([a-z]+(?: [a-z]+)?)", cell) or [""]
        group = first.split()[0] + " " if first.startswith("cache ") else ""
        listed |= {first if group else first.split(" ")[0], *(group + name for name in others)}
    return [f"docs/commands.md does not have cugen {name}" for name in known if name not in listed]


def wrong_variables():
    code = "\n".join(path.read_text() for path in sources())
    read = {name for found in READ_IN_C.findall(code) for name in found if name}
    read |= set(READ_BY_LAUNCHER.findall((ROOT / "cugen").read_text()))
    read |= {name for path in (ROOT / "python" / "cugen").glob("*.py") for name in READ_IN_PYTHON.findall(path.read_text())}
    listed = {name for cell in rows(page("environment.md").split("## Environment variables")[1])
              for name in re.findall(r"`([A-Z_]+)`", cell)}
    return [f"docs/environment.md does not have {name}" for name in sorted(read - listed)] + \
        [f"docs/environment.md has {name}, which nothing reads" for name in sorted(listed - read)]


def wrong_codes():
    header = (ROOT / "include" / "cugen.h").read_text()
    status = {name: -int(value) for name, value in re.findall(r"(CUGEN_OK|CUGEN_ERROR_\w+) = (-?\d+)", header)}
    listed = re.findall(r"^\| ([\d, ]+) \| `(CUGEN_\w+)`", page("environment.md"), re.M)
    right = [(str(code) if code != 13 else "130, 143, 129", name) for name, code in status.items()]
    return [f"docs/environment.md: exit code {code} of {name}" for code, name in sorted(set(listed) ^ set(right))]


def missing_messages():
    files = [*sources(), *ROOT.glob("tests/*/*.test"), *ROOT.glob("tests/*/*.cases")]
    code = "\n".join(re.sub(r'"\s*\n\s*"', "", path.read_text()) for path in files).replace('\\"', '"')
    messages = [message for cell in rows(page("troubleshooting.md")) for message in re.findall(r"`([^`]+)`", cell)]
    found = [f"docs/troubleshooting.md: no source says '{piece}'" for message in messages
             for piece in map(str.strip, re.split(r"\.\.\.|(?=was not found)", message)) if piece not in code]
    return found if messages else ["docs/troubleshooting.md has no message"]


def missing_columns():
    fields = re.search(r"#define CACHE_RECORD_FIELDS.*?\n\n", (ROOT / "runtime/store/record.h").read_text(), re.S)[0]
    columns = re.findall(r"^  (?:FIELD|CHARS|PART)\(\d+, (?:[A-Z0-9]+, )?(\w+)", fields, re.M)
    found = [f"docs/cache.md does not have the column {name}" for name in columns if f"`{name}`" not in page("cache.md")]
    return found if columns else ["runtime/store/record.h has no columns"]


def missing_rows():
    """Rows of the tables to which an ability is added by a row (CONTRIBUTING.md, "Adding")."""
    strategies = re.search(r"#define STRATEGIES\(X\)(.*)", (ROOT / "tune/search/strategy.h").read_text())[1]
    tables = {"tuning.md": re.findall(r"X\((\w+)\)", strategies),
              "config.md": re.findall(r"^  X\((\w+), +[A-Z]+,", (ROOT / "base/dtype.h").read_text(), re.M)}
    return [f"docs/{name} does not have {row}" for name, found in tables.items() for row in found or ["a row"]
            if not re.search(rf"`([^`\n]* )?{row}( [^`\n]*)?`", page(name))]


def missing_fields():
    """Fields of the tables from which records and runs get their JSON."""
    text = (ROOT / "base/results.h").read_text()
    fields = re.findall(r"^  X\([A-Z]+, [^,]+, \w+,\s+\\?\s*\"(\w+)\",", text, re.M)
    fields += re.findall(r"^  X\([A-Z]+, [^,]+, (\w+), \\?\s*\"[^\"]* ", text, re.M)
    return [f"docs/json.md does not have the field {name}" for name in fields if f"`{name}`" not in page("json.md")] \
        if len(fields) > 60 else ["base/results.h has few fields"]


def wrong_recipes():
    shown = re.findall(r"^```(?:lua|cuda)\n(.*?)^```", page("cookbook.md"), re.M | re.S)
    files = {path.name: path.read_text() for path in (ROOT / "docs/examples/cookbook").iterdir()}
    return [f"docs/cookbook.md does not show {name} as it is" for name, text in sorted(files.items())
            if name.endswith(".lua") and text not in shown] + \
        [f"docs/cookbook.md: no file has '{block.splitlines()[0]}' and what follows" for block in shown
         if not any(block in text for text in files.values())]


def wrong_installs():
    """While no version is on PyPI, no page says that pip finds one there."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")] if "No version is on PyPI" in page("install.md") else []
    return [f"{path.relative_to(ROOT)} installs cugen from PyPI" for path in pages if re.search(r"pip install cugen\b", path.read_text())]


def main():
    wrong = missing_pages() + long_pages() + missing_commands() + wrong_variables() + wrong_codes() + missing_messages() + \
        missing_columns() + missing_rows() + missing_fields() + wrong_recipes() + wrong_installs()
    print("\n".join(wrong) or "index, commands, environment, troubleshooting, cache and cookbook: all as it is")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

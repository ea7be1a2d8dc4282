#!/usr/bin/env python3
"""guide.py CUGEN: every command that docs/memory.md prints runs as printed, on a machine without a GPU and with nothing
remembered. Those of one line run in turn with one cache, since one may show what another left.

  `cugen ...`               exit code 0; `cugen run` and the like, alone, are names
  `cugen ...` (finds it)    11: something was found
  `cugen transfer` (GPU)    8, and it says that it needs a GPU
  `cugen gen ...` (CUDA 12) the same with NVRTC 12 in $NVRTC_12; without it 8, and it says that the folder was looked for
  `cugen run ...`           the first of each implementation of a kernel runs, of the others the source is generated as printed
  `cugen run ...` (GPU)     it is for a size that takes a processor long: the source is generated as printed, and it runs smaller

A `cugen check` runs once, since it neither reads nor leaves anything. Those of tools/bench/results/*-guide-check.txt, to which tools/check-guide
holds the page, are run by tools/bench/guide.sh alone: they end with 0 and count what stands there."""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = re.compile(r"`(cugen [a-z][^`]*)`(?: \((GPU|CUDA 12|finds it)\))?|^\$? ?(cugen [a-z].*)$")
RECORDED = max((ROOT / "tools/bench/results").glob("*-guide-check.txt"))
FOUND, NOT_HERE = 11, 8
LACKS = {"GPU": "needs a GPU", "CUDA 12": "'cuda12' is no folder"} # what a command says where it cannot run
NAMES = ("cugen run", "cugen check", "cugen gen", "cugen tune", "cugen report", "cugen show")


def normal(command):
    return shlex.join(shlex.split(command))


def lines_of(page, checked):
    """(line number, [(command, mark)]), without checks that are among those checked or stood on an earlier line."""
    for number, line in enumerate(page.read_text().split("\n"), 1):
        found = [(normal(m[1] or m[3]), m[2]) for m in COMMAND.finditer(line) if (m[1] or m[3]) not in NAMES]
        left = [one for one in found if one not in checked]
        checked |= {one for one in found if one[0].startswith("cugen check ")}
        if left:
            yield number, left


def smaller(words):
    """As the page says, without the last two digits of each number after --set that has four or more; of six or more without four."""
    return [re.sub(r"(?<==)(\d{2,}?)(\d{4}|\d\d)$", r"\1", w) if before == "--set" else w for before, w in zip(["", *words], words)]


def implementation(words):
    """(config, implementation) of a command that names a variant."""
    return words[1], *[after.split()[0] for word, after in zip(words, words[1:]) if word == "--variant"]


def attempts(words, mark, ran):
    """(command, wanted exit code) of one that is printed; ran: what implementation() gave of those that run."""
    if mark == "finds it":
        return [(words, FOUND)]
    if mark == "GPU" and words[0] == "transfer":
        return [(words, NOT_HERE)]
    if mark == "CUDA 12":
        toolkit = os.environ.get("NVRTC_12")
        return [([toolkit if w == "cuda12" else w for w in words], 0) if toolkit else (words, NOT_HERE)]
    if mark == "GPU":
        return [(["gen", *words[1:], "--device", "model:H200"], 0), *attempts(smaller(words), None, ran)]
    if words[0] == "run" and mark is None and implementation(words) in ran:
        return [(["gen", *words[1:]], 0)]
    ran.add(implementation(words) if words[0] == "run" else None)
    return [(words, 0)]


def run_line(cugen, number, found, ran):
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for name in ("configs", "docs", "templates"):
            (home / name).symlink_to(ROOT / name)
        env = {k: v for k, v in os.environ.items() if not k.startswith("CUGEN_CACHE")}
        env |= {"CUDA_VISIBLE_DEVICES": "", "HOME": folder, "XDG_CACHE_HOME": folder, "XDG_STATE_HOME": folder}
        for command, mark in found:
            for words, wanted in attempts(shlex.split(command)[1:], mark, ran):
                got = subprocess.run([cugen, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
                if got.returncode != wanted or wanted == NOT_HERE and LACKS[mark] not in got.stderr:
                    return (f"docs/memory.md:{number}: {shlex.join(['cugen', *words])}: exit code {got.returncode}, not {wanted}\n"
                            f"{got.stderr[-600:]}")
    return None


def counts(cugen):
    own = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}  # a version manager's python3 begins slowly
    got = subprocess.run([ROOT / "tools/bench/guide.sh", cugen, "check"], env=own, capture_output=True, text=True, check=False).stdout
    want, have = (text[text.find("$ cugen"):].strip() for text in (RECORDED.read_text(), got))
    return None if have == want else f"cugen check counts otherwise than {RECORDED.relative_to(ROOT)}:\n{have}"


def main(argv):
    cugen = str(pathlib.Path(argv[0]).resolve())
    recorded = {(normal(line[2:]), None) for line in RECORDED.read_text().split("\n") if line.startswith("$ cugen check ")}
    unique, ran = {}, set()
    for number, found in lines_of(ROOT / "docs/memory.md", set(recorded)):
        unique.setdefault(str(found), (number, found))
    for number, found in list(unique.values()): # what another line begins with is run there, as here with nothing remembered
        if any(other[:len(found)] == found and other != found for _, other in unique.values()):
            del unique[str(found)]
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        jobs = [pool.submit(counts, cugen)] + [pool.submit(run_line, cugen, *line, ran) for line in unique.values()]
        wrong = [text for text in (job.result() for job in jobs) if text]
    print("\n".join(wrong) or f"{len(recorded) + sum(len(found) for _, found in unique.values())} commands run as printed")
    return 1 if wrong or len(unique) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

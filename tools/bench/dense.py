"""For tools/bench/run_portfolios.py: a dense matrix of one class, on top of what was measured before, and its best variants timed in turn.

Sizes are added to those of the wisdom, and each is searched, as are those of which little is known. Then the candidates of `cugen tune --portfolio` are measured wherever they are
variants and have no record. Last, bench_retime launches on every size, in turn and in one process: the fastest by the records, what a plan
takes that remembers nothing, and the kernels that serve all sizes best.

Fresh: only new sizes, of which nothing was learnt, are searched, and their fastest timed in turn with what a plan takes that remembers
nothing, by plans as an application opens them."""
import concurrent.futures
import json
import lzma
import math
import os
import random
import re
import statistics
import subprocess
import time

import portfolio

KNOWN = 20  # records of a size; one that has fewer is searched again
SEARCH = 2.1  # seconds for each new size; `cugen tune` gives none less than 2
LATE = 5  # seconds more than given, until tuning is interrupted
FASTEST = 2  # of each size by its records, retimed
HOPELESS = 2.5  # times the fastest by the records: a kernel that is not retimed there
RETIMING = 0.24  # of the time of a class
FRESH_RETIMING = 0.33
TIMING = 0.4  # of the time for it: the rest opens plans


class Dense:
    def __init__(self, run, name, words, gpus, sizes, kernels, retiming, wisdom):
        self.run = run
        self.name = name
        self.size_count = sizes
        self.kernel_count = kernels
        self.retiming = retiming
        self.wisdom = wisdom
        self.folder = run.scratch / name
        self.folder.mkdir()
        device = ["--device", run.given.device] if run.given.device else []
        self.given = portfolio.options([str(run.given.folder), *words, "--gpus", ",".join(gpus), "--threads", str(run.threads), *device,
                                        "--cache", str(self.folder / "cache.db")])
        self.bench = portfolio.Bench(self.given, self.folder)
        self.lines = []
        self.end = 0

    def say(self, text):
        self.lines.append(f"{time.monotonic() - self.run.begin:6.0f} s  {text}")
        print(f"{self.name}: {self.lines[-1]}", flush=True)

    # ---- Problems ----

    def names(self):
        return [re.split("[:=]", part)[0] for part in self.given.sizes.split(",")]

    def open(self):
        """Reads what was measured before; the sizes of that, and new ones."""
        if self.wisdom:
            plain = self.wisdom
            if plain.suffix == ".xz":
                plain = self.folder / self.wisdom.stem
                plain.write_bytes(lzma.decompress(self.wisdom.read_bytes()))
            done = subprocess.run([self.bench.cugen, "cache", "import", str(plain), "-q", "--cache", self.bench.cache],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            self.say(f"{self.wisdom.name}: {done.stderr.strip() if done.returncode else 'imported'}")
        self.known, little = [], []
        for text, found in self.records().items():
            values = dict(word.split("=", 1) for word in text.split())
            (self.known if len(found) >= KNOWN else little).append({name: int(values[name]) for name in self.names()})
        fresh = self.run.given.fresh
        wanted, seed = (fresh, self.run.given.seed) if fresh else (max(self.size_count - len(self.known + little), 0), 20261127)
        self.new = portfolio.draw(self.given, wanted, random.Random(seed), self.known + little) + ([] if fresh else little)
        self.say(f"{len(self.known)} sizes known, {len(self.new)} new, {len(little)} of these by few records")

    def is_wanted(self, problem):
        values = dict(word.split("=", 1) for word in problem.split())
        return not self.run.given.fresh or {name: int(values[name]) for name in self.names()} in self.new

    def records(self):
        """Of each problem, as cugen prints it in full, the seconds of its right variants, the fastest first."""
        if not os.path.exists(self.bench.cache):
            return {}
        records = portfolio.read_records(self.bench)
        right = {problem: {v: s for v, s in sorted(found.items(), key=lambda pair: (pair[1], pair[0])) if math.isfinite(s)}
                 for problem, found in records.items()}
        return {problem: found for problem, found in sorted(right.items()) if found}

    # ---- Measuring ----

    def tune(self, seconds):
        """Searches the new sizes, then fills the matrix of all."""
        searching = min(SEARCH * len(self.new) / len(self.bench.gpus), 0.5 * seconds) if self.new else 0
        if self.run.given.fresh:
            searching = seconds - LATE
        begin = time.monotonic()
        if searching > 1:
            tried = portfolio.tune(self.bench, "search", self.new, searching, portfolio=False, late=LATE)
            self.say(f"searched the new sizes: {tried} variants")
        left = seconds - (time.monotonic() - begin) - LATE / 2
        if left < 5 or self.run.given.fresh:
            return
        problems = self.new + self.known
        random.Random(2).shuffle(problems)
        tried = portfolio.tune(self.bench, "fill", problems, left, late=LATE)
        self.say(f"filled the matrix: {tried} variants")

    # ---- Retiming ----

    def untuned(self, problem):
        device = self.run.given.device or "model:H200"
        done = subprocess.run([self.bench.cugen, "gen", self.given.config, "--device", device, "--cache", "none", "-q", "--json",
                               *portfolio.settings(dict(word.split("=", 1) for word in problem.split()))],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        return json.loads(done.stdout)["variant"] if done.returncode == 0 else None

    def named_kernels(self):
        """Those that a portfolio has: lines of NAME.kernels beside the wisdom."""
        path = self.wisdom.with_name(f"{self.name}.kernels") if self.wisdom else None
        return path.read_text(encoding="utf-8").splitlines() if path and path.is_file() else []

    def write_lines(self, records):
        """What bench_retime reads."""
        if self.run.given.fresh:
            self.say(f"{len(records)} sizes are to be timed in turn")
            return ["\t".join([problem, *list(found)[:FASTEST + 1], "-"]) for problem, found in records.items()]
        kernels = self.named_kernels() or choose(records, self.kernel_count)
        with concurrent.futures.ThreadPoolExecutor(self.run.threads) as pool:
            untuned = dict(zip(records, pool.map(self.untuned, records)))
        lines = []
        for problem, found in records.items():
            most = HOPELESS * min(found.values())
            variants = dict.fromkeys([*list(found)[:FASTEST], untuned[problem], *(kernel for kernel in kernels if found.get(kernel, 0) <= most)])
            lines.append("\t".join([problem, *(variant for variant in variants if variant)]))
        self.say(f"{len(kernels)} kernels and the fastest of {len(lines)} sizes are to be timed in turn")
        return lines

    def start(self, gpu, seconds, lines, output):
        device = {"CUGEN_DEVICE": self.given.device} if self.given.device else {"CUDA_VISIBLE_DEVICES": gpu}
        words = [str(self.run.given.folder / "bench_retime"), self.given.config, f"{seconds:.3f}"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE, text=True,
                                   env=dict(os.environ, CUGEN_CACHE=self.bench.cache, **device))
        try:
            _, failed = process.communicate("".join(f"{line}\n" for line in lines), timeout=max(self.end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return 0
        if process.returncode:
            self.say(f"bench_retime ended with {process.returncode}: {failed.strip()[-200:]}")
        return process.returncode

    def work(self, gpu, seconds, lines, path):
        """A problem at which the process ends is passed over."""
        with open(path, "a", encoding="utf-8") as output:
            while lines and time.monotonic() < self.end and self.start(gpu, seconds, lines, output):
                done = [json.loads(line)["problem"] for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
                problems = [line.split("\t")[0] for line in lines]
                at = problems.index(done[-1]) + 1 if done and done[-1] in problems else 0
                lines = lines[at + 1:]

    def side_by_side(self, lines, seconds, limit, copies, what):
        """Parts of the lines, so many a GPU; until the limit."""
        parts, gpus = copies * len(self.bench.gpus), self.bench.gpus
        self.end = time.monotonic() + limit
        with concurrent.futures.ThreadPoolExecutor(parts) as pool:
            list(pool.map(lambda i: self.work(gpus[i % len(gpus)], seconds, lines[i::parts], self.folder / f"{what}-{i}.jsonl"), range(parts)))

    def compile(self, lines, limit):
        """Each variant once, by as many processes as there are threads for it, so that retiming finds images."""
        first = {}
        for line in lines:
            problem, *variants = line.split("\t")
            for variant in variants:
                if variant == "-":
                    continue
                first.setdefault(variant, f"{problem}\t{variant}")
        copies = max(min(3 * self.run.threads // 4, 12), 1)
        self.side_by_side(list(first.values()), 0, limit, copies, "compile")
        self.say(f"compiled {len(first)} variants")

    def retime(self, seconds):
        records = {problem: found for problem, found in self.records().items() if self.is_wanted(problem)}
        lines = self.write_lines(records)
        random.Random(1).shuffle(lines) # whatever the time is enough for is a fair part
        begin = time.monotonic()
        self.compile(lines, 0.4 * seconds)
        left = max(seconds - (time.monotonic() - begin), 2)
        self.side_by_side(lines, TIMING * left * len(self.bench.gpus) / len(lines), left, 1, "retimed")
        self.sum_up()

    def sum_up(self):
        timed = {}
        path = self.run.given.output / f"{self.name}.retimed.jsonl"
        with open(path, "w", encoding="utf-8") as out:
            for part in sorted(self.folder.glob("retimed-*.jsonl")):
                for line in part.read_text(encoding="utf-8").splitlines(keepends=True):
                    if line.endswith("}\n"):
                        out.write(line)
                        one = json.loads(line)
                        timed.setdefault(one["problem"], []).append((one["seconds"], one["untuned"]))
        losses = sorted(seconds / min(rows)[0] for rows in timed.values() for seconds, untuned in rows if untuned)
        if losses:
            mean = math.exp(statistics.fmean(map(math.log, losses)))
            self.say(f"untuned plans: {mean:.3f} times the fastest, at worst {losses[-1]:.2f}, of {len(losses)} sizes")
        self.say(f"timed in turn: {len(timed)} sizes, {sum(map(len, timed.values()))} pairs")

    def keep(self):
        wisdom = self.folder / f"{self.name}.wisdom"
        self.bench.run(None, "cache", "export", "-q", "-o", str(wisdom))
        if wisdom.is_file():
            (self.run.given.output / f"{self.name}.wisdom.xz").write_bytes(lzma.compress(wisdom.read_bytes(), preset=1))
        self.say("kept")

    def measure(self, limit):
        begin = time.monotonic()
        self.open()
        retiming = (FRESH_RETIMING if self.run.given.fresh else self.retiming) * limit
        self.tune(limit - retiming - (time.monotonic() - begin))
        self.retime(max(limit - (time.monotonic() - begin), 4))


def choose(records, most):
    """The kernels whose best one loses least over all problems, one after the other. A time that is not known counts as four times the
    best."""
    unknown = math.log(4)
    losses = {}
    for number, found in enumerate(records.values()):
        least = min(found.values())
        for variant, seconds in found.items():
            if seconds < 2 * least:
                losses.setdefault(variant, {})[number] = math.log(seconds / least)
    chosen, best = [], [unknown] * len(records)
    for _ in range(most):
        gains = {variant: sum(best[i] - min(best[i], loss) for i, loss in own.items()) for variant, own in sorted(losses.items())}
        variant = max(gains, key=gains.get, default=None)
        if variant is None or gains[variant] <= 1e-3:
            break
        chosen.append(variant)
        for i, loss in losses[variant].items():
            best[i] = min(best[i], loss)
    return chosen

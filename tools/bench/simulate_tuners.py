#!/usr/bin/env python3
"""simulate_tuners.py T4 CLAIM EACH STORE NEWS ROW LATENCY [VARIANTS [CORES [SECONDS]]]: how many tuners one store serves. Discrete events: each tuner claims a
variant while it measures the one before, stores a record, and asks for news as tune/tuner/sharing.c does. Times of variants are replayed from a T4 file (with repetition, to
VARIANTS of them, which take SECONDS on average), once so and once a tenth. The server has CORES processors, each busy with a claim, each further variant of that claim, a store, an
answer of no news, and each record of an answer for these many milliseconds; LATENCY milliseconds pass beside that on the way (tools/bench/store_latency.c measures them).

Not modelled: crashes, compile threads, networks that are full."""
import heapq
import itertools
import json
import random
import sys

PAUSE, EACH, MOST_PAUSE, BATCH = 0.25, 0.01, 5.0, 64  # tune/tuner/sharing.c


def replayed(path, count, seconds):
    with open(path, encoding="utf-8") as file:
        results = json.load(file)["results"]
    times = []
    for result in results:
        given = result["times"]
        times.append((given.get("compilation") or 0) + sum(given.get("runtimes") or [0]) + (given.get("framework") or 0))
    scale, rng = seconds * len(times) / sum(times), random.Random(1)
    return [scale * rng.choice(times) for _ in range(count)]


class Simulation:
    """Each tuner is a generator that gives what it waits for: the server's work for a call, or a moment. The server takes calls in the order in which they
    come."""

    def __init__(self, times, tuners, cost, cores):
        self.times, self.tuners, self.cost, self.now = times, tuners, cost, 0.0
        self.free, self.busy, self.calls = [0.0] * cores, 0.0, 0
        self.taken, self.log, self.end = [False] * len(times), [], 0.0  # log: variants in the order of their records
        self.orders = [random.Random(7 + t).sample(range(len(times)), len(times)) for t in range(min(tuners, 32))]

    def call(self, work):
        self.busy += work
        start = max(self.now + self.cost["latency"] / 2, heapq.heappop(self.free))
        heapq.heappush(self.free, start + work)
        return start + work + self.cost["latency"] / 2

    def proposals(self, tuner):
        """Its own order of the variants: one of 32, from one of many places on."""
        order = self.orders[tuner % len(self.orders)]
        start = tuner // 32 * len(order) // (self.tuners // 32 + 1)
        return order[start:] + order[:start]

    def work(self, tuner):
        order, known, heard, asked, at = self.proposals(tuner), set(), 0, 0.0, 0
        pause = min(max(PAUSE, EACH * self.tuners), MOST_PAUSE)
        began = variant = None
        while True:
            if variant is not None:
                began = self.now
            ahead, size = None, 1
            while ahead is None and at < len(order):  # while the one before is measured
                batch = []
                while len(batch) < size and at < len(order):
                    if order[at] not in known and order[at] != variant:
                        batch.append((order[at], at + 1))
                    at += 1
                if not batch:
                    break
                self.calls += 1
                yield self.call(self.cost["claim"] + self.cost["each"] * (len(batch) - 1))
                for one, behind in batch:
                    if not self.taken[one]:
                        self.taken[one], ahead, at = True, one, behind
                        break
                    known.add(one)
                size = min(2 * size, BATCH)
            if variant is not None:
                yield max(self.now, began + self.times[variant])
                yield self.call(self.cost["store"])
                self.log.append(variant)
                self.end = self.now
            if self.now - asked >= pause:
                asked, came = self.now, self.log[heard:]
                heard += len(came)
                known.update(came)
                yield self.call(self.cost["news"] + self.cost["row"] * len(came))
            if ahead is None and at >= len(order):
                return
            variant = ahead

    def run(self):
        """Seconds until all are measured."""
        number = itertools.count()
        events = [(0.0, next(number), self.work(tuner)) for tuner in range(self.tuners)]
        while events:
            self.now, _, tuner = heapq.heappop(events)
            until = next(tuner, None)
            if until is not None:
                heapq.heappush(events, (until, next(number), tuner))
        return self.end


def main():
    path, words = sys.argv[1], [float(word) / 1000 for word in sys.argv[2:8]]
    cost = dict(zip(("claim", "each", "store", "news", "row", "latency"), words))
    variants, cores, seconds = [kind(word) for kind, word in zip((int, int, float), sys.argv[8:] + ["20000", "2", "0.36"][
        len(sys.argv) - 8:])]
    for mean in (seconds, seconds / 10):
        times = replayed(path, variants, mean)
        one = sum(times)
        print(f"{variants} variants of {1000 * mean:.0f} ms: {one:.0f} s for one tuner")
        for tuners in (1, 8, 32, 64, 128, 256, 512, 1000):
            simulation = Simulation(times, tuners, cost, cores)
            end = simulation.run()
            print(f"  {tuners:5d} tuners: {end:8.1f} s, {one / end:6.1f} times as fast ({100 * one / end / tuners:3.0f} %); server "
                  f"{100 * simulation.busy / end / cores:3.0f} % busy; claims a variant {simulation.calls / variants:.2f}",
                  flush=True)


main()

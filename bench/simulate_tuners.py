#!/usr/bin/env python3
"""simulate_tuners.py T4 CLAIM STORE NEWS ROW LATENCY [VARIANTS [CORES]]: how many tuners one store serves. Discrete events: each tuner claims a
variant while it measures the one before, stores a record, and asks for news as tune/sharing.c does. Times of variants are replayed from a T4 file (with repetition, to
VARIANTS of them), once as they are and once a tenth. The server has CORES processors, each busy with a claim, a store, an answer of no news, and each record of an
answer for these many milliseconds; LATENCY milliseconds pass beside that on the way (bench/store_latency.c measures them).

Not modelled: crashes, compile threads, networks that are full."""
import heapq
import itertools
import json
import random
import sys

PAUSE, EACH, MOST_PAUSE, AGAIN = 0.25, 0.01, 5.0, 0.25  # tune/sharing.c


def replayed(path, count):
    with open(path, encoding="utf-8") as file:
        results = json.load(file)["results"]
    times = []
    for result in results:
        given = result["times"]
        times.append((sum(given.get("runtimes") or [0]) + (given.get("framework") or 0)) / 1000)
    rng = random.Random(1)
    return [max(rng.choice(times), 1e-3) for _ in range(count)]


class Server:
    """Calls wait for a processor in the order in which they come."""

    def __init__(self, cores, latency):
        self.free, self.latency, self.busy = [0.0] * cores, latency, 0.0

    def call(self, now, work):
        start = max(now + self.latency / 2, heapq.heappop(self.free))
        heapq.heappush(self.free, start + work)
        self.busy += work
        return start + work + self.latency / 2


class Simulation:
    def __init__(self, times, tuners, cost, cores):
        self.times, self.tuners, self.cost = times, tuners, cost
        self.server = Server(cores, cost["latency"])
        self.owner, self.stored, self.log = {}, set(), []  # log: variants in the order of their records
        self.order = [random.Random(7 + t).sample(range(len(times)), len(times)) for t in range(min(tuners, 32))]
        self.at = [t * len(times) // tuners // 32 if tuners > 32 else 0 for t in range(tuners)]
        self.heard, self.asked, self.known = [0] * tuners, [0.0] * tuners, [set() for _ in range(tuners)]
        self.refused = self.claims = 0

    def news(self, tuner, now):
        pause = min(max(PAUSE, EACH * self.tuners), MOST_PAUSE)
        if now - self.asked[tuner] < pause:
            return now
        self.asked[tuner] = now
        came = self.log[self.heard[tuner]:]
        self.heard[tuner] = len(self.log)
        self.known[tuner].update(came)
        return self.server.call(now, self.cost["news"] + self.cost["row"] * len(came))

    def claim(self, tuner, now):
        """The variant that it gets, and when; None: none is left."""
        order = self.order[tuner % len(self.order)]
        while self.at[tuner] < 2 * len(order):
            variant = order[self.at[tuner] % len(order)]
            self.at[tuner] += 1
            if variant in self.known[tuner]:
                continue
            now = self.server.call(now, self.cost["claim"])
            self.claims += 1
            if variant not in self.owner:
                self.owner[variant] = tuner
                return variant, now
            self.refused += 1
            self.known[tuner].add(variant)
            now = self.news(tuner, now)
        return None, now

    def run(self):
        """Seconds until all are measured."""
        events, number, end = [], itertools.count(), 0.0
        for tuner in range(self.tuners):
            variant, now = self.claim(tuner, 0.0)
            if variant is not None:
                heapq.heappush(events, (now + self.times[variant], next(number), tuner, variant, now))
        while events:
            now, _, tuner, variant, began = heapq.heappop(events)
            ahead, claimed = self.claim(tuner, began)  # while that one was measured
            done = self.server.call(now, self.cost["store"])
            self.log.append(variant)
            self.known[tuner].add(variant)
            end = max(end, done)
            done = self.news(tuner, done)
            if ahead is not None:
                start = max(done, claimed)
                heapq.heappush(events, (start + self.times[ahead], next(number), tuner, ahead, start))
        return end


def main():
    path, words = sys.argv[1], [float(word) / 1000 for word in sys.argv[2:7]]
    cost = dict(zip(("claim", "store", "news", "row", "latency"), words))
    variants = int(sys.argv[7]) if len(sys.argv) > 7 else 20000
    cores = int(sys.argv[8]) if len(sys.argv) > 8 else 2
    for share, name in ((1, "as replayed"), (0.1, "a tenth of that")):
        times = [share * time for time in replayed(path, variants)]
        one = sum(times)
        print(f"{variants} variants of {1000 * one / variants:.0f} ms ({name}): {one:.0f} s for one tuner")
        for tuners in (1, 8, 32, 64, 128, 256, 512, 1000):
            simulation = Simulation(times, tuners, cost, cores)
            end = simulation.run()
            print(f"  {tuners:5d} tuners: {end:8.1f} s, {one / end:6.1f} times as fast ({100 * one / end / tuners:3.0f} %); server "
                  f"{100 * simulation.server.busy / end / cores:3.0f} % busy, {100 * simulation.refused / max(1, simulation.claims):3.0f} % of "
                  "claims refused", flush=True)


main()

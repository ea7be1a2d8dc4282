#!/usr/bin/env python3
"""hardening.py BEFORE AFTER [REPEATS [DEVICE...]]: variants a second that two builds of cugen tune, on the cpu device and with predictions
for an H200 where no device is named, in turns, as medians. BEFORE and AFTER are programs `cugen`. NVRTC's own cache, which the former
used, is switched off for both. Run it on an idle machine:

    git worktree add /tmp/before 7b2c3f7~1 && (cd /tmp/before && cmake --preset release && ninja -C build cugen)
    tools/bench/hardening.py /tmp/before/build/cugen build/cugen 3 | tee tools/bench/results/2026-11-23-cpu-hardening.txt"""
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time

CONFIGS = [("matmul", 60), ("transpose", 60), ("reduce", 60)]


def rate(program, config, device, variants):
    """Variants a second, of the run's own clock where it has one."""
    begin = time.monotonic()
    done = subprocess.run([program, "tune", config, "--device", device, "--budget", str(variants), "--strategy", "random", "--seed",
                           "1", "--cache", "none", "--verify", "none", "--quiet", "--json"], capture_output=True, text=True,
                          env={**os.environ, "CUDA_CACHE_DISABLE": "1"})
    took = time.monotonic() - begin
    if done.returncode:
        sys.exit(f"{program} tune {config} --device {device}: {done.returncode}: {done.stderr[-500:]}")
    count = len(json.loads(done.stdout)["records"])
    return count / took


def main():
    programs, repeats = sys.argv[1:3], int((sys.argv[3:4] or [5])[0])
    print(f"{time.strftime('%Y-%m-%d %H:%M')}, {platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"tools/bench/hardening.py {' '.join(sys.argv[1:])}: variants a second, medians of {repeats} in turns (least to most)")
    print(f"{'config':10} {'device':11} {'variants':>8} {'before':>22} {'after':>22} {'ratio':>6}")
    devices = sys.argv[4:] or ["cpu", "model:H200"]
    for device, (config, variants) in itertools.product(devices, CONFIGS):
        rates = [[], []]
        for turn in range(repeats):
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                rates[which].append(rate(programs[which], config, device, variants))
        cells = [f"{statistics.median(r):.1f} ({min(r):.1f} to {max(r):.1f})" for r in rates]
        print(f"{config:10} {device:11} {variants:8} {cells[0]:>22} {cells[1]:>22} "
              f"{statistics.median(rates[1]) / statistics.median(rates[0]):6.2f}", flush=True)


main()

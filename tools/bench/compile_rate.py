#!/usr/bin/env python3
"""compile_rate.py CUGEN FAKE [VARIANTS [ROUNDS [THREADS]]]: all of `cugen tune` beside bare NVRTC, on the same sources, in turns.

    ninja -C build && tools/bench/compile_rate.py build/cugen build/tests/fake 40 3

CUGEN tunes so many random variants of matmul (480 x 320 x 640) over the tests' fake driver in the folder FAKE. Launches take no time there, and
nothing is verified, so that what is left is expanding, compiling, counting and recording. Then as many threads compile the same sources with NVRTC
alone, in a process of their own. Rates are variants a second of processor time (user and system, children included), and of the clock. The
first does not depend on what else the machine does. Needs no GPU."""
import ctypes
import json
import os
import pathlib
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIBRARY = os.environ.get("NVRTC", "/usr/local/cuda/lib64/libnvrtc.so")
PROBLEM = ["-s", "M=480", "-s", "N=320", "-s", "K=640", "--device", "cuda"]


def check(result, what):
    if result:
        sys.exit(f"{what}: NVRTC error {result}")


def compile_bare(nvrtc, source, entries, arch, include):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [f"--gpu-architecture={arch}", "--std=c++17", "-default-device", "--ptxas-options=-v", f"--include-path={include}", "--no-cache"]
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"bench", 0, None, None), "create")
    for entry in entries:
        check(nvrtc.nvrtcAddNameExpression(program, entry.encode()), "add a name")
    check(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options))), "compile")
    check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "size")
    check(nvrtc.nvrtcGetCUBIN(program, ctypes.create_string_buffer(size.value)), "cubin")
    check(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)), "destroy")


def bare(path, threads):
    """In a process of its own: `compile_rate.py --bare FILE THREADS`."""
    work = json.loads(pathlib.Path(path).read_text())
    nvrtc = ctypes.CDLL(LIBRARY)
    include = str(pathlib.Path(LIBRARY).resolve().parent.parent / "include")

    def run():
        while work:
            source, entries, arch = work.pop()
            compile_bare(nvrtc, source, entries, arch, include)

    pool = [threading.Thread(target=run) for _ in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()


def timed(command, environment):
    """Its output, seconds of the clock and of the processor."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}: {done.stderr[-800:]}")
    return done.stdout, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    program, fake = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    variants, rounds, threads = (int((sys.argv[i:i + 1] or [d])[0]) for i, d in ((3, 40), (4, 3), (5, os.cpu_count())))
    folder = pathlib.Path(tempfile.mkdtemp())
    configs = pathlib.Path(__file__).resolve().parents[2] / "configs"
    shutil.copytree(configs / "matmul", folder / "matmul")
    text = (configs / "matmul.lua").read_text().replace('reference "matmul_reference.cu"', 'reference "none"')
    config = folder / "matmul.lua"
    config.write_text(text)
    environment = {**os.environ, "LD_LIBRARY_PATH": fake, "XDG_STATE_HOME": str(folder / "state")}
    model = next(l for l in open("/proc/cpuinfo") if l.startswith("model name")).split(":")[1].strip()
    print(f"{time.strftime('%Y-%m-%d %H:%M')}, {model}, {platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {threads} threads")
    print(f"{variants} random variants of matmul; tuned: CPU s, wall s, compiles; bare NVRTC: CPU s, wall s; ratios of rates, tune to bare")
    by_cpu, by_wall = [], []
    for number in range(1, rounds + 1):
        tune = [program, "tune", str(config), *PROBLEM, "--budget", str(variants), "--strategy", "random", "--seed", str(number), "--threads",
                str(threads), "--cache", str(folder / f"{number}.db"), "--quiet", "--json"]
        output, wall, cpu = timed(tune, environment)
        run = json.loads(output)
        work = []
        for record in run["records"]:
            one, _, _ = timed([program, "gen", str(config), *PROBLEM, "--variant", record["variant"], "--cache", "none", "-q", "--json"], environment)
            one = json.loads(one)
            work.append((one["source"], sorted({launch["entry"] for launch in one["launches"]}), one["device"]["arch"]))
        (folder / "work.json").write_text(json.dumps(work))
        _, bare_wall, bare_cpu = timed([sys.executable, __file__, "--bare", str(folder / "work.json"), str(threads)], os.environ)
        by_cpu.append(bare_cpu / cpu)
        by_wall.append(bare_wall / wall)
        print(f"round {number}: {len(work)} tuned, {cpu:.2f} {wall:.2f} {run['run']['compiled']}; bare {bare_cpu:.2f} {bare_wall:.2f}; "
              f"CPU {by_cpu[-1]:.3f}, wall {by_wall[-1]:.3f}", flush=True)
    print(f"medians: CPU {statistics.median(by_cpu):.3f}, wall {statistics.median(by_wall):.3f}")
    shutil.rmtree(folder)


if __name__ == "__main__":
    bare(sys.argv[2], int(sys.argv[3])) if sys.argv[1] == "--bare" else main()

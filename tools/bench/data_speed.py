#!/usr/bin/env python3
"""How long input data takes: tools/bench/data_speed.py [--build build] [--gib 1] [--device DEVICE] [--only KIND].

A kernel that reads one input is tuned with a single variant, and the whole command is timed, from its start to its end: once with a
small input, once with a large one. The difference is what the large input costs, by where it comes from: a fill, a generator, an
expression, a .npy file, a raw file. The bar is 1 second a GiB for each of them on an H200 (expressions have no bar).

Then a config whose reference depends on two shared tunables is tuned: 24 variants over 6 references. Its time is compared with
that of six variants, one a reference: a reference that is wanted again should cost nothing.

Rehearsal without a GPU: tools/bench/data_speed.py --gib 0.0625 --device cpu. Writes about 2 GiB a GiB of input to the temporary folder."""
import argparse
import json
import os
import subprocess
import tempfile
import time

KERNEL = """__global__ void halve(${params}) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    if (i % 64 == 0) out[i / 64] = 0.5f * x[i];
}
"""
REFERENCE = """__global__ void reference(${params}) {
  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t;
  out[t] = 0.5 * x[64 * e];
}
"""
GENERATOR = """__global__ void make(${params}) {
  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t < sample_count) x[t] = (double)(t * 7919 % 1021) / 1024;
}
"""
SOURCES = {
    "fill": "",
    "generator": ', generator = "make.cu"',
    "npy": ', file = "x.npy"',
    "raw": ', file = "x.bin"',
    "values": ', values = "(index * 7919 % 1021) / 1024.0"',
}
CONFIG = """kernel "data" {
  problem "n" (4096),
  check { n = 1024 },
  input "x" { dtype = "f32", shape = { "n" }%s },
  output "out" { dtype = "f32", shape = { "n // 64" }, tolerance = 1e-6 },
  scalar "n" { dtype = "i64" },
  reference "reference.cu",
  implementation "halve" { template "halve.cu", grid { 256 }, block { 256 } },
}
"""

SHARED = """kernel "shared" {
  problem "n" (1 << 22),
  check { n = 1024 },
  tunable "rounds" { 1, 2, 3 },
  tunable "kept" { true, false },
  input "x" { dtype = "f32", shape = { "n" } , generator = "make.cu" },
  output "out" { dtype = "f32", shape = { "n" }, tolerance = 1e-6 },
  scalar "n" { dtype = "i64" },
  reference "reference_rounds.cu",
  flops "n * rounds",
  objective "flops",
  implementation "rounds" {
    template "rounds.cu", tunable "threads" { 128, 256, 512, 1024 },
    grid { "ceil_div(n, threads)" }, block { "threads" },
  },
}
"""
ROUNDS = """__global__ void rounds_of(${params}) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (int r = 0; r < rounds; r++) value = 0.5f * value + 0.25f;
  out[i] = kept ? value : -value;
}
"""
# As slow as a reference may be: it sums over many terms that come to nothing.
REFERENCE_ROUNDS = """__global__ void reference(${params}) {
  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t >= sample_count) return;
  const long long e = samples ? samples[t] : t;
  double value = x[e], nothing = 0;
  for (int r = 0; r < rounds; r++) value = 0.5 * value + 0.25;
  for (long long k = 0; k < %d; k++) nothing += (double)x[(e + k) %% n] * 1e-300;
  out[t] = (kept ? value : -value) + nothing;
}
"""


def write_npy(path, raw, count):
    """The header of NumPy's format 1.0, padded to 64 bytes, then the elements."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % count
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    block = os.urandom(1 << 16).translate(bytes(b & 0x3F for b in range(256)))  # no NaN, no infinity
    with open(path, "wb") as npy, open(raw, "wb") as plain:
        npy.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        for at in range(0, 4 * count, len(block)):
            part = block[: min(len(block), 4 * count - at)]
            npy.write(part)
            plain.write(part)


def run(arguments, folder, *words):
    command = [os.path.abspath(os.path.join(arguments.build, "cugen")), "tune", *words, "--cache", "none", "--json"]
    if arguments.device:
        command += ["--device", arguments.device]
    begin = time.monotonic()
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)}\n{ended.stderr[-2000:]}")
    return seconds, json.loads(ended.stdout)


def measure_inputs(arguments, folder):
    count = int(arguments.gib * (1 << 28))
    print(f"{'input of ' + format(arguments.gib, 'g') + ' GiB':<20} {'small s':>8} {'large s':>8} {'s a GiB':>8}")
    for kind, source in SOURCES.items():
        if arguments.only and kind not in arguments.only.split(","):
            continue
        with open(os.path.join(folder, kind + ".lua"), "w") as config:
            config.write(CONFIG % source)
        small, large = [
            min(run(arguments, folder, kind + ".lua", "--set", f"n={n}", "--budget", "1", "--timeout", "300")[0]
                for _ in range(arguments.repeats)) for n in (4096, count)
        ]
        print(f"{kind:<20} {small:8.2f} {large:8.2f} {(large - small) / arguments.gib:8.2f}", flush=True)


def measure_references(arguments, folder):
    common = ["shared.lua", "--set", f"n={arguments.elements}", "--timeout", "300", "--strategy", "random"]
    once, _ = run(arguments, folder, *common, "--budget", "100", "--where", "threads == 256")
    again, result = run(arguments, folder, *common, "--budget", "100")
    print(f"6 references: 6 variants {once:.2f} s; {result['run']['tried']} variants {again:.2f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--device", default="")
    parser.add_argument("--only", default="", help="kinds: " + ", ".join([*SOURCES, "shared"]))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--elements", type=int, default=1 << 22, help="of the output with shared tunables")
    parser.add_argument("--work", type=int, default=20000, help="terms of each of its reference's sums")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("halve.cu", KERNEL), ("reference.cu", REFERENCE), ("make.cu", GENERATOR),
                           ("rounds.cu", ROUNDS), ("reference_rounds.cu", REFERENCE_ROUNDS % arguments.work),
                           ("shared.lua", SHARED)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        write_npy(os.path.join(folder, "x.npy"), os.path.join(folder, "x.bin"), int(arguments.gib * (1 << 28)))
        measure_inputs(arguments, folder)
        if not arguments.only or "shared" in arguments.only.split(","):
            measure_references(arguments, folder)


if __name__ == "__main__":
    main()

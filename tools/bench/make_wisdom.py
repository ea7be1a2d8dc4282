#!/usr/bin/env python3
"""make_wisdom.py RECORDS PROBLEMS [--variants N] [--shuffle SEED] [--kernels N]: writes wisdom to stdout, in the order of an export.

So many records of so many problems, all of one kernel and device, with hashes that repeat as in life: each variant is a source,
each problem has what its results were held against. --shuffle mixes the lines."""
import argparse
import ctypes.util
import ctypes
import random
import sys


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
library.XXH3_128bits.restype = Hash
library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def checksum(data):
    value = library.XXH3_128bits(data, len(data))
    return b"%016x%016x" % (value.high, value.low)


def finish(line):
    """The line, closed by its checksum. line: an object's text without its closing brace."""
    data = line if isinstance(line, bytes) else line.encode()
    return data + b',"checksum":"' + checksum(data) + b'"}\n'


def header(records, version=9, portfolios=0):
    more = f',"portfolios":{portfolios}' if version >= 8 else ""
    return finish('{"format":"cugen wisdom","version":%d,"cugen":"0.1.0","records":%d%s' % (version, records, more))


def portfolio(values, learnt_at, config="scale", device="NVIDIA H200 sm_90 132 SMs"):
    """Of one variant, for the class of these values."""
    body = f"rule 0\\nproblems 3\\ntuned 1.000000 1.010000\\nheld 0.000000 0.000000\\nvariant 3 {hash_of('source', values)} v=1\\nat n=64\\n"
    return finish(
        f'{{"device":"{device}","config":"{config}","class":"{values}","options":"arch sm_90a","objective":"time",'
        f'"learnt_at":{learnt_at},"portfolio":"{body}"')


def hash_of(*words):
    return checksum(" ".join(map(str, words)).encode()).decode()


def record(problem, variant, number, config="scale", device="NVIDIA H200 sm_90 132 SMs", more=""):
    return finish(
        f'{{"device":"{device}","config":"{config}","problem":"n={problem} dtype=f32","options":"arch sm_90a",'
        f'"variant":"{variant}","hash":"{hash_of(problem, variant)}","outcome":0,"reason":"","samples":11,'
        f'"seconds":{1e-5 * (1 + number % 97)!r},"seconds_min":9.5e-06,"seconds_p20":9.8e-06,"seconds_p80":1.1e-05,"error":0.25,'
        f'"threads":256,"registers":32,"max_threads":1024,"static_shared":0,"dynamic_shared":4096,"local_bytes":0,'
        f'"spill_bytes":0,"constant_bytes":564,"occupancy":1.0,"limiter":"warps","flops":{2.0 * problem!r},"bytes":{8.0 * problem!r},'
        f'"clock_mhz":1980,"power_watts":412,"throttle":"","driver_version":13000,"nvrtc_version":13000,'
        f'"measured_at":{1600000000 + number},"source_hash":"{hash_of("source", variant)}","launches_hash":"{hash_of("launch", variant)}",'
        f'"arguments_hash":"{hash_of("arguments")}","proof_hash":"{hash_of("proof", problem)}","cluster_blocks":1,'
        f'"active_clusters":0,"verdict":0,"unverified":"","compile_seconds":0.31,"measure_seconds":0.05,'
        f'"requested":0.0,"run_began":1600000000000000,"run_seconds":{0.36 * number!r},"energy":0.0,"energy_resolution":0.0,"outputs":""{more}')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int)
    parser.add_argument("problems", type=int)
    parser.add_argument("--shuffle", type=int, metavar="SEED")
    options = parser.parse_args()
    each = -(-options.records // options.problems)
    names = sorted(str(1000 + i) for i in range(options.problems))
    lines = ((int(names[i // each]), f"tiled tile={8 * (i % each + 1):06d} pad=1", i) for i in range(options.records))
    if options.shuffle is not None:
        lines = list(lines)
        random.Random(options.shuffle).shuffle(lines)
    out = sys.stdout.buffer
    out.write(header(options.records))
    for line in lines:
        out.write(record(*line))


if __name__ == "__main__":
    main()

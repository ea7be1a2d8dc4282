#!/usr/bin/env python3
"""tvm_ffi_package.py CUGEN: apache-tvm-ffi loads exported bundles and calls them with NumPy's
arrays, over the fake driver."""
import os
import shutil
import subprocess
import sys
import tempfile

import numpy
import tvm_ffi


def export(cugen, folder, name):
    subprocess.run([cugen, "export", name, "-o", f"{folder}/{name}", "--devices", "sm_90a", "-q"],
                   check=True, capture_output=True)
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", f"{folder}/{name}/{name}.c",
                    "-o", f"{folder}/{name}.so", "-ldl"], check=True)


def refused(function, *arguments):
    try:
        function(*arguments)
    except ValueError as error:
        return str(error).removeprefix("matmul: ")
    return "not refused"


def expect(got, wanted):
    if got != wanted:
        sys.exit(f"got {got!r}, wanted {wanted!r}")


def call(folder):
    matmul = tvm_ffi.load_module(f"{folder}/matmul.so").matmul
    a, b = numpy.ones((130, 64), "f4"), numpy.ones((64, 260), "f4")
    c = numpy.full((130, 260), 3, "f4")
    expect(matmul(a, b, c), None)
    expect(matmul(a, b, c, None, None, "activation=none batch=1"), None)
    expect(float(c.sum()), 3.0 * c.size)  # the fake driver copies, and runs nothing
    expect(refused(matmul, a.astype("f8"), b, c),
           "argument 'A' has elements of type float64, and this bundle has code for f32")
    expect(refused(matmul, a, b[:32], c), "argument 'B' has shape (32, 260), and must have "
           "(64, 260) for M=130 N=260 K=64 batch=1")
    expect(refused(matmul, a, b[:, ::2], c[:, ::2]), "argument 'B' has strides (260, 2), and must "
           "have (130, 1) elements: pass a copy with that layout")
    expect(refused(matmul, a, b), "argument 'C' is missing")
    expect(refused(matmul, a, b, 1.5),
           "argument 'C' must be a tensor: an array that DLPack can describe")
    expect(refused(matmul, a, b, c, "activation=relu"),
           "this bundle has no code for the settings 'activation=relu'")
    sum_of = tvm_ffi.load_module(f"{folder}/sum.so").sum
    for n in (1000, 4097):
        expect(sum_of(numpy.ones(n, "f4"), numpy.zeros(1, "f4")), None)


def main():
    if len(sys.argv) == 3:
        return call(sys.argv[1])
    if not shutil.which("cc"):
        print("skipped: no C compiler")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        export(sys.argv[1], folder, "matmul")
        export(sys.argv[1], folder, "sum")
        environment = {**os.environ, "LD_LIBRARY_PATH": os.environ["CUGEN_TEST_FAKE_CUDA"]}
        subprocess.run([sys.executable, __file__, folder, "call"], check=True, env=environment)


main()

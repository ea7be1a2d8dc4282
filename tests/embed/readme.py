#!/usr/bin/env python3
"""readme.py BUILD c|python: the README's C program compiles without a warning and runs; its Python runs, on arrays of NumPy.

Both ask for "matmul". A config of that name in the working folder is found first, so a stand-in of two variants, which multiplies
no more than a column by a row, answers at once, on the cpu device."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

CONFIG = """
kernel "matmul" {
  problem "M" (8), problem "N" (8), problem "K" (8), problem "dtype" { "f32", "bf16" },
  input "A" { dtype = "f32", shape = { "M", "K" } }, input "B" { dtype = "f32", shape = { "K", "N" } },
  output "C" { dtype = "f32", shape = { "M", "N" } }, scalar "K" {}, scalar "N" {}, reference "none",
  implementation "standin" { template "matmul.cu", tunable "X" { 1, 2 }, grid { "M" }, block { "min(N, 256)" } },
}
"""
KERNEL = """__global__ void matmul(const float *A, const float *B, float *C, int K, int N) {
  for (int i = threadIdx.x; i < N; i += blockDim.x) C[blockIdx.x * N + i] = X * A[blockIdx.x * K] * B[i];
}
"""
AFTER = "\nassert c.shape == (256, 256) and c[255, 255] in (1, 2), c\n"


def block(language):
    [text] = re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    return text


def run(folder, *words, **more):
    apart = {**os.environ, "CUGEN_DEVICE": "cpu", "CUGEN_CACHE": str(folder / "cache.db"), **more}
    return subprocess.run([*map(str, words)], cwd=folder, env=apart, capture_output=True, text=True, check=False)


def main(argv):
    build = pathlib.Path(argv[0]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "matmul.lua").write_text(CONFIG)
        (folder / "matmul.cu").write_text(KERNEL)
        (folder / "app.c").write_text(block("c"))
        (folder / "app.py").write_text(block("python") + AFTER)
        if argv[1] == "c":
            runs = [("compiling the C program", "",
                     run(folder, "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "app.c", "-o", "app", f"-I{ROOT}/include", f"-L{build}", "-lcugen",
                         f"-Wl,-rpath,{build}")),
                    ("the C program", r"standin X=[12]: \S+ s\n", run(folder, "./app"))]
        else:
            runs = [("Python", "", run(folder, sys.executable, "app.py", PYTHONPATH=f"{ROOT}/python", CUGEN_LIBRARY=f"{build}/libcugen.so"))]
    wrong = [(what, done) for what, printed, done in runs if done.returncode or not re.fullmatch(printed, done.stdout)]
    for what, done in wrong:
        print(f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{len(runs)} steps, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

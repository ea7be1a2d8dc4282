#!/usr/bin/env python3
"""older.py CUGEN TOOLKIT: whether the first implementations of every family compile for cards that CUDA 13 has dropped, with the
NVRTC 12 of TOOLKIT (its lib/ and include/; docs/memory.md says how to get one). Needs no GPU. Kept in bench/results."""
import ctypes
import pathlib
import subprocess
import sys

VARIANTS = ["copy element", "copy vector", "access elements", "transpose coalesced_read", "transpose conflicts", "transpose padded",
            "transpose vector", "reduce global", "reduce static", "reduce dynamic", "reduce shuffle", "reduce vector", "reduce onepass",
            "matmul naive", "matmul tiled", "matmul blocked", "filter naive", "filter naive image_in=texture", "filter tiled",
            "filter strips", "particles plain", "reader stream"]
CARDS = {"sm_70": "V100", "sm_61": "GTX 1080", "sm_60": "P100", "sm_52": "GTX 970"}


def compile_with(nvrtc, include, arch, source):
    """The log of a compile that fails."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [f"--gpu-architecture={arch}".encode(), b"-default-device", b"--std=c++17", f"--include-path={include}".encode()]
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() if failed else None


def main(cugen, toolkit):
    toolkit = pathlib.Path(toolkit)
    nvrtc = ctypes.CDLL(str(min((toolkit / "lib").glob("libnvrtc.so.*"))))
    major, minor, wrong = ctypes.c_int(), ctypes.c_int(), 0
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    for arch, card in CARDS.items():
        compiled = 0
        for variant in VARIANTS:
            config, _, text = variant.partition(" ")
            shown = subprocess.run([cugen, "gen", config, "--variant", text, "--device", "model:V100", "--arch", arch, "-q"],
                                   capture_output=True, check=True)
            log = compile_with(nvrtc, toolkit / "include", arch, shown.stdout)
            compiled += log is None
            if log is not None:
                print(f"{arch} {variant}: {log}")
        print(f"NVRTC {major.value}.{minor.value}, {arch} ({card}): {compiled} of {len(VARIANTS)} variants compile")
        wrong += len(VARIANTS) - compiled
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

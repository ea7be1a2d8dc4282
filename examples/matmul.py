#!/usr/bin/env python3
"""cugen from Python through ctypes alone: tunes matmul briefly, launches the best variant, checks the result.

    matmul.py [libcugen.so]

The library is the one named, else $CUGEN_LIBRARY, else the one beside this file, else the one that is installed. On a GPU
memory and streams come from libcuda, opened the same way; without one, or with CUGEN_DEVICE=cpu, the arrays of
ctypes are the kernel's memory.
"""

import ctypes
import os
import sys
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

M, N, K = 64, 48, 40


# ---- cugen.h, as far as it is used here ----


class Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("message", c_char * 4096), ("cause", c_int)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("id", c_char * 32), ("name", c_char * 128)]  # and more


class TuneOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("strategy", c_char_p),
        ("seed", c_uint64),
        ("budget_seconds", c_double),
        ("budget_count", c_size_t),
        ("variant_timeout", c_double),
        ("threads", c_int),
        ("again", c_int),
        ("implementation", c_char_p),
        ("progress", c_void_p),
        ("context", c_void_p),
        ("flags", c_uint),
        ("cuda_context", c_void_p),
        ("verify_seconds", c_double),
        ("compile_timeout", c_double),
    ]


class PlanInfo(ctypes.Structure):
    _fields_ = [("kernel", c_char_p), ("problem", c_char_p), ("variant", c_char_p), ("choice", c_int)]  # and more


CHOICES = ("the best remembered", "the best of a near problem", "the default, never measured")


def find_library():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libcugen.so")
    if len(sys.argv) > 1:
        return sys.argv[1]
    return os.environ.get("CUGEN_LIBRARY") or (beside if os.path.exists(beside) else "libcugen.so")


def load():
    lib = ctypes.CDLL(find_library())
    for name in ("cugen_open", "cugen_kernel_open", "cugen_kernel_tune", "cugen_plan_open", "cugen_call_bind",
                 "cugen_call_launch"):
        getattr(lib, name).restype = c_int
    lib.cugen_kernel_device.restype = POINTER(DeviceInfo)
    lib.cugen_plan_about.restype = POINTER(PlanInfo)
    return lib


class Cugen:
    """Handles as plain addresses; a failure is an exception with cugen's own words."""

    def __init__(self):
        self.lib = load()

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.lib, name)(*arguments, byref(error)):
            raise RuntimeError(error.message.decode())

    def open(self, name, *arguments):
        handle = c_void_p()
        self.call(name, *arguments, byref(handle))
        return handle

    def close(self, name, handle):
        getattr(self.lib, name)(handle)


# ---- Where a kernel's memory is ----


class Host:
    """The cpu device: the arrays themselves, no stream."""

    stream = None

    def address(self, array):
        return ctypes.addressof(array)

    def fetch(self, array):
        pass


class Gpu:
    """The GPU's primary context and a stream, through the driver's own functions."""

    def __init__(self, ordinal):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.memory = {}
        device, context, self.stream = c_int(), c_void_p(), c_void_p()
        self.check("cuInit", c_uint(0))
        self.check("cuDeviceGet", byref(device), c_int(ordinal))
        self.check("cuDevicePrimaryCtxRetain", byref(context), device)
        self.check("cuCtxSetCurrent", context)
        self.check("cuStreamCreate", byref(self.stream), c_uint(1))  # CU_STREAM_NON_BLOCKING

    def check(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result:
            raise RuntimeError(f"{name}: CUDA error {result}")

    def address(self, array):
        place = c_uint64()
        self.check("cuMemAlloc_v2", byref(place), c_size_t(ctypes.sizeof(array)))
        self.check("cuMemcpyHtoDAsync_v2", place, array, c_size_t(ctypes.sizeof(array)), self.stream)
        self.memory[id(array)] = place
        return place.value

    def fetch(self, array):
        place = self.memory[id(array)]
        self.check("cuMemcpyDtoHAsync_v2", array, place, c_size_t(ctypes.sizeof(array)), self.stream)
        self.check("cuStreamSynchronize", self.stream)


def open_device(cugen, kernel):
    info = cugen.lib.cugen_kernel_device(kernel).contents
    kind, _, ordinal = info.id.decode().partition(":")
    return info.name.decode(), Gpu(int(ordinal)) if kind == "cuda" else Host()


# ---- The application ----


def tune(cugen, kernel):
    options = TuneOptions(size=ctypes.sizeof(TuneOptions), seed=1, budget_count=4)
    cugen.call("cugen_kernel_tune", kernel, byref(options), None)


def multiply(cugen, plan, device, a, b, c):
    addresses = [device.address(array) for array in (a, b, c)]
    arguments = (c_void_p * 6)(*addresses, None, None, None)  # M, N, K: the problem's
    call = cugen.open("cugen_call_bind", plan, arguments, c_size_t(6))
    cugen.call("cugen_call_launch", call, device.stream)
    device.fetch(c)
    cugen.close("cugen_call_close", call)


def wrong_elements(a, b, c):
    wanted = (sum(a[i * K + k] * b[k * N + j] for k in range(K)) for i in range(M) for j in range(N))
    return sum(got != want for got, want in zip(c, wanted))


def main():
    cugen = Cugen()
    lib = cugen.open("cugen_open", None)
    settings = (c_char_p * 3)(*(f"{name}={size}".encode() for name, size in (("M", M), ("N", N), ("K", K))))
    kernel = cugen.open("cugen_kernel_open", lib, b"matmul", settings, c_size_t(3))
    name, device = open_device(cugen, kernel)
    tune(cugen, kernel)
    plan = cugen.open("cugen_plan_open", kernel, None)
    info = cugen.lib.cugen_plan_about(plan).contents
    print(f"matmul {M}x{N}x{K} on {name}: {info.variant.decode()} ({CHOICES[info.choice]})")

    a = (c_float * (M * K))(*(i % 5 - 2 for i in range(M * K)))  # small integers: exact sums
    b = (c_float * (K * N))(*(i % 7 - 3 for i in range(K * N)))
    c = (c_float * (M * N))()
    multiply(cugen, plan, device, a, b, c)
    wrong = wrong_elements(a, b, c)
    print(f"{wrong} wrong elements")
    for close, handle in (("cugen_plan_close", plan), ("cugen_kernel_close", kernel), ("cugen_close", lib)):
        cugen.close(close, handle)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

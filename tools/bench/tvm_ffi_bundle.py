#!/usr/bin/env python3
"""tvm_ffi_bundle.py CUGEN [--devices sm_90a] [--ctypes]: calls bundles on a GPU by TVM-FFI.

Results are compared with the host's or torch's, on the default stream and on another one, and the
cost of a call is timed. With apache-tvm-ffi its loader calls them; without, or with --ctypes,
ctypes does, with structures and a stand-in for libtvm_ffi that are made here. Tensors are torch's,
or without torch arrays in host memory, which the bundle copies.
"""
import argparse
import array
import ctypes
import importlib.util
import random
import subprocess
import sys
import tempfile
import time

STAND_IN = r"""
#include <stdint.h>
#include <stdio.h>
char raised[2048];
void *stream;
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message) {
  snprintf(raised, sizeof raised, "%s: %s", kind, message);
}
void *TVMFFIEnvGetStream(int32_t type, int32_t id) { return (void)type, (void)id, stream; }
"""


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h"""
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("rank", ctypes.c_int32),
                ("dtype", Type), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Any(ctypes.Structure):
    """TVMFFIAny of tvm/ffi/c_api.h"""
    _fields_ = [("type", ctypes.c_int32), ("padding", ctypes.c_uint32),
                ("pointer", ctypes.c_uint64)]


class Host:
    """A matrix of floats in host memory."""

    def __init__(self, rows, columns, values=None):
        self.shape, self.strides, self.device = (rows, columns), (columns, 1), (1, 0)
        self.values = array.array("f", values if values is not None else bytes(4 * rows * columns))
        self.pointer = self.values.buffer_info()[0]


def describe(tensor):
    """Returns a Tensor of torch's or of the host's array."""
    if isinstance(tensor, Host):
        pointer, shape, strides = tensor.pointer, tensor.shape, tensor.strides
        device, bits = tensor.device, 32
    else:
        pointer, shape, strides = tensor.data_ptr(), tensor.shape, tensor.stride()
        device = (2, tensor.device.index) if tensor.is_cuda else (1, 0)
        bits = 8 * tensor.element_size()
    numbers = ctypes.c_int64 * max(1, len(shape))
    return Tensor(pointer, Device(*device), len(shape), Type(2, bits, 1), numbers(*shape),
                  numbers(*strides), 0)


def value_of(given):
    """Returns a Tensor or a string of C."""
    if isinstance(given, str):
        return ctypes.create_string_buffer(given.encode())
    return describe(given)


class ByCtypes:
    """Calls a bundle's function as TVM-FFI does."""

    def __init__(self, folder):
        path = f"{folder}/stand_in.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path], input=STAND_IN,
                       text=True, check=True)
        self.stand_in = ctypes.CDLL(path, ctypes.RTLD_GLOBAL)

    def load(self, path, name):
        function = getattr(ctypes.CDLL(path), f"__tvm_ffi_{name}")

        def call(*arguments):
            kept = [value_of(argument) for argument in arguments]
            values = (Any * len(kept))(*[
                Any(7 if isinstance(one, Tensor) else 8, 0, ctypes.addressof(one)) for one in kept])
            result = Any()
            if function(None, values, len(kept), ctypes.byref(result)):
                raised = ctypes.c_char.in_dll(self.stand_in, "raised")
                raise ValueError(ctypes.string_at(ctypes.addressof(raised)).decode())
        return call

    def use_stream(self, stream):
        ctypes.c_void_p.in_dll(self.stand_in, "stream").value = stream


class ByPackage:
    def load(self, path, name):
        import tvm_ffi
        return getattr(tvm_ffi.load_module(path), name)

    def use_stream(self, stream):
        """The package asks torch."""


def build(cugen, folder, name, devices):
    subprocess.run([cugen, "export", name, "-o", f"{folder}/{name}", "--devices", devices, "-q"],
                   check=True)
    subprocess.run(["cc", "-std=c11", "-O2", "-shared", "-fPIC", f"{folder}/{name}/{name}.c",
                    "-o", f"{folder}/{name}.so", "-ldl"], check=True)
    return f"{folder}/{name}.so"


def say(what, right):
    print(f"{'right' if right else 'WRONG'}  {what}")
    return 0 if right else 1


def refuses(call, message, *arguments):
    try:
        call(*arguments)
    except (ValueError, RuntimeError) as error:
        return say(f"refused: {error}", message in str(error))
    return say(f"refused: {message}", False)


def on_host(matmul):
    m, n, k = 130, 260, 67
    a = Host(m, k, [random.random() for _ in range(m * k)])
    b = Host(k, n, [random.random() for _ in range(k * n)])
    c = Host(m, n)
    matmul(a, b, c)
    worst = max(abs(c.values[i * n + j]
                    - sum(a.values[i * k + x] * b.values[x * n + j] for x in range(k)))
                for i in range(0, m, 7) for j in range(0, n, 11))
    return say(f"matmul {m} x {n} x {k} of host memory, largest error {worst:.1e}", worst < 1e-4)


def on_torch(torch, way, matmul, total):
    wrong, device = 0, torch.device("cuda:0")
    for m, n, k in ((1024, 1024, 1024), (130, 260, 67), (1, 4, 3), (2048, 512, 4096)):
        a, b = (torch.rand(shape, device=device) for shape in ((m, k), (k, n)))
        c = torch.full((m, n), float("nan"), device=device)
        way.use_stream(torch.cuda.current_stream().cuda_stream)
        matmul(a, b, c)
        error = float(((c - a @ b).abs() / k).max())
        wrong += say(f"matmul {m} x {n} x {k}, error {error:.1e} of a product", error < 1e-6)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        way.use_stream(stream.cuda_stream)
        a, b, c = (torch.zeros((512, 512), device=device) for _ in range(3))
        stream.synchronize()
        torch.cuda._sleep(200_000_000)
        a.fill_(2), b.fill_(3)
        matmul(a, b, c)
        wrong += say("the call waits for its stream, not the host for it", not stream.query())
        stream.synchronize()
        wrong += say("matmul on a stream of its own", bool((c == 6 * 512).all()))
        for n in (1000, 1_000_003):
            x, result = torch.ones(n, device=device), torch.zeros(1, device=device)
            total(x, result)
            stream.synchronize()
            found = float(result[0])
            wrong += say(f"sum of {n} on that stream, with scratch: {found:.0f}", found == n)
    way.use_stream(torch.cuda.current_stream().cuda_stream)
    a, b, c = (torch.rand((64, 64), device=device) for _ in range(3))
    wrong += refuses(matmul, "argument 'A' has strides", a.t(), b, c)
    wrong += refuses(matmul, "argument 'B' has shape (32, 64)", a, b[:32], c)
    wrong += refuses(matmul, "code for f32", a.double(), b, c)
    wrong += refuses(matmul, "in host memory", a.cpu(), b, c)
    crooked = torch.rand(4097, device=device)[1:].view(64, 64)
    wrong += refuses(matmul, "multiple of 16 bytes", crooked, b, c)
    wrong += refuses(matmul, "no code for the settings", a, b, c, "activation=relu")
    for what, call in (("the bundle", lambda: matmul(a, b, c)),
                       ("torch.mm", lambda: torch.mm(a, b, out=c))):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(2000):
            call()
        torch.cuda.synchronize()
        print(f"{what}: {1e6 * (time.perf_counter() - begin) / 2000:.1f} us a call of 64 x 64 x 64")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cugen")
    parser.add_argument("--devices", default="sm_90a")
    parser.add_argument("--ctypes", action="store_true")
    options = parser.parse_args()
    packaged = importlib.util.find_spec("tvm_ffi") and not options.ctypes
    has_torch = importlib.util.find_spec("torch") is not None
    with tempfile.TemporaryDirectory() as folder:
        way = ByPackage() if packaged else ByCtypes(folder)
        matmul, total = (way.load(build(options.cugen, folder, name, options.devices), name)
                         for name in ("matmul", "sum"))
        print(f"called by {'apache-tvm-ffi' if packaged else 'ctypes'}, "
              f"{'torch' if has_torch else 'host memory'}")
        wrong = 0
        if has_torch:
            import torch
            wrong += on_torch(torch, way, matmul, total)
        if not packaged:
            wrong += on_host(matmul)
            wrong += refuses(matmul, "argument 'C' is missing", Host(4, 4), Host(4, 4))
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main()))

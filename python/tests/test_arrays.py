"""What a kernel may be called with: views of every protocol, their checks, streams, numbers. No device is needed."""

import array
import ctypes
import struct
import sys
import types
import unittest
import unittest.mock
from dataclasses import fields, replace

from cugen import Argument, ArgumentKind, Error
from cugen import _arrays as arrays

def argument(**given):
    """An Argument with these fields; the others are empty."""
    return Argument(**{**{field.name: "" for field in fields(Argument)}, "absent": False, "overwrite": False, **given})


MATRIX = argument(name="A", kind=ArgumentKind.INPUT, dtype="f32", shape=(2, 3), stride=(3, 1), bytes=24, memory="device")


class Managed(ctypes.Structure):
    _fields_ = [("tensor", arrays.DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Tensor:
    """Has DLPack, as a library for GPUs would."""

    def __init__(self, shape=(2, 3), strides=None, kind=(2, 32, 1), device=(2, 0), address=0x1000, offset=0):
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        self.managed = Managed(arrays.DLTensor(address, *device, len(shape), *kind, self.shape, self.strides, offset))
        self.device, self.streams = device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


class Interface:
    """Has an array interface, which `name` says: of a GPU's memory by default."""

    def __init__(self, name="__cuda_array_interface__", shape=(2, 3), typestr="<f4", readonly=False, **more):
        setattr(self, name, {"shape": shape, "typestr": typestr, "data": (0x1000, readonly), "version": 3, **more})


def take(source, wanted=MATRIX, device="cuda:0", stream=None):
    return arrays.Slot(wanted, device).view(source, stream).address


def view_of(source):
    return arrays._make_view(source, None)


class Case(unittest.TestCase):
    def refuses(self, pattern, function, *arguments, **named):
        with self.assertRaisesRegex(Error, pattern):
            function(*arguments, **named)


class Buffers(Case):
    def test_elements(self):
        for code, name in zip("bBhHiIqQfd", ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64")):
            view = view_of(array.array(code, [1, 2]))
            self.assertEqual((view.element, view.shape, view.where), (name, (2,), arrays.HOST))
        if sys.version_info >= (3, 12):
            self.assertEqual(view_of(memoryview(bytes(4)).cast("e")).element, "f16")
        self.assertEqual(view_of((ctypes.c_long * 2)()).element, "i64")
        swapped = (ctypes.c_float.__ctype_be__ * 6)()
        self.refuses("its elements are '>f', should be f32", take, swapped, device="cpu")

    def test_read_only(self):
        self.assertFalse(view_of(bytes(4)).writable)
        self.assertTrue(view_of(bytearray(4)).writable)

    def test_empty(self):
        view = view_of(array.array("f"))
        self.assertEqual(view.shape, (0,))


class DLPack(Case):
    def test_view(self):
        tensor = Tensor(strides=(3, 1), offset=16)
        self.assertEqual(take(tensor, stream=7), 0x1010)
        take(tensor, replace(MATRIX, stride=(3, 1)), stream=0)
        self.assertEqual(tensor.streams, [7, 1])
        self.assertEqual(take(Tensor()), 0x1000)

    def test_types(self):
        for kind, name in (((4, 16, 1), "bf16"), ((10, 8, 1), "e4m3"), ((12, 8, 1), "e5m2"), ((2, 16, 1), "f16"), ((0, 64, 1), "i64"),
                           ((1, 8, 1), "u8")):
            size = kind[1] // 8
            take(Tensor(kind=kind), replace(MATRIX, dtype=name, bytes=6 * size))
        self.refuses("its elements are f32, should be bf16", take, Tensor(), replace(MATRIX, dtype="bf16"))
        self.refuses("its elements are vectors", take, Tensor(kind=(2, 32, 4)))

    def test_where_it_is(self):
        self.refuses("it is on cuda:1, the kernel is for cuda:0", take, Tensor(device=(2, 1)))
        self.assertEqual(take(Tensor(device=(2, 1)), device="cuda:1"), 0x1000)
        self.refuses("it is in host memory, the kernel runs on cuda:0: copy it to the GPU", take, Tensor(device=(1, 0)))
        self.refuses("it is in cuda memory, the kernel runs on cpu: copy it to the host", take, Tensor(), device="cpu")
        for both in (3, 13):  # pinned, managed
            self.assertEqual(take(Tensor(device=(both, 0))), take(Tensor(device=(both, 0)), device="cpu"))
        self.refuses("a device of another kind .DLPack's 10.", take, Tensor(device=(10, 0)))
        for wanted in (replace(MATRIX, memory="mapped"), replace(MATRIX, kind=ArgumentKind.CONSTANT)):
            take(Tensor(device=(1, 0)), wanted)

    def test_a_library_that_refuses(self):
        class Gradient(Tensor):
            def __dlpack__(self, stream=None):
                raise RuntimeError("detach it first")

        self.refuses("argument 'A': its memory cannot be used: detach it first", take, Gradient())


class Interfaces(Case):
    def test_view(self):
        self.assertEqual(take(Interface()), 0x1000)
        self.assertEqual(take(Interface("__array_interface__"), device="cpu"), 0x1000)
        self.refuses("its elements are '>f4'", take, Interface(typestr=">f4"))
        self.refuses("it has a mask", take, Interface(mask=Interface()))

    def test_stand_ins(self):
        bf16, e4m3 = replace(MATRIX, dtype="bf16", bytes=12), replace(MATRIX, dtype="e4m3", bytes=6)
        for typestr in ("<u2", "<V2"):
            take(Interface(typestr=typestr), bf16)
        for typestr in ("|u1", "|V1"):
            take(Interface(typestr=typestr), e4m3)
        self.refuses("its elements are f16, should be bf16", take, Interface(typestr="<f2"), bf16)
        self.refuses("its elements are u16, should be f16", take, Interface(typestr="<u2"), replace(bf16, dtype="f16"))

    def test_shapes_and_strides(self):
        pitched = replace(MATRIX, stride=(4, 1), bytes=32)
        column = replace(MATRIX, stride=(1, 2), layout="col")
        take(Interface(strides=(16, 4)), pitched)
        take(Interface(strides=(4, 8)), column)
        take(Interface(shape=(6,)), column)  # the buffer as it lies in memory
        take(Interface(shape=(8,)), pitched)
        self.refuses(r"strides are \(3, 1\) elements, should be \(4, 1\)", take, Interface(), pitched)
        self.refuses(r"strides are \(3, 1\) elements, should be \(1, 2\)", take, Interface(), column)
        self.refuses(r"strides are \(1.5, 1\) elements", take, Interface(strides=(6, 4)))
        self.refuses(r"shape is \(6,\), should be \(2, 3\)", take, Interface(shape=(6,), strides=(8,)))
        self.refuses(r"shape is \(6,\), should be \(2, 3\)", take, Interface(shape=(6,)), pitched)
        tiled = replace(MATRIX, stride=(0, 0), layout="row/2x2", bytes=32)
        take(Interface(shape=(8,)), tiled)
        self.refuses("its layout is row/2x2, which no strides describe: .* one dimension of 8 elements", take, Interface(), tiled)
        take(Interface(shape=(1, 3), strides=(400, 4)), replace(MATRIX, shape=(1, 3), bytes=12))  # one row: its stride says nothing
        take(Interface(shape=(), strides=None), replace(MATRIX, shape=(), stride=(), bytes=4))

    def test_read_only(self):
        output = replace(MATRIX, kind=ArgumentKind.OUTPUT)
        take(Interface(readonly=True))
        self.refuses("the kernel writes to it and it is read-only", take, Interface(readonly=True), output)
        self.refuses("the kernel writes to it and it is read-only", take, Interface(readonly=True), replace(MATRIX, overwrite=True))


class Streams(Case):
    def test_handles(self):
        class Torch:
            cuda_stream = 5

        class Cupy:
            ptr = 6

        class Numba:
            handle = ctypes.c_void_p(7)

        class Cuda:
            def __cuda_stream__(self):
                return (0, 8)

        self.assertEqual([arrays.stream_handle(s) for s in (0, 4, Torch(), Cupy(), Numba(), Cuda())], [0, 4, 5, 6, 7, 8])
        self.refuses("a float is no stream", arrays.stream_handle, 1.5)
        for number in (-1, 1 << 64):
            self.refuses(f"{number} is no stream's number", arrays.stream_handle, number)

    def test_current(self):
        self.assertEqual(arrays.current_stream(Interface(stream=9)), 9)
        self.assertIsNone(arrays.current_stream(Interface()))
        self.assertIsNone(arrays.current_stream(array.array("f")))


    def test_torch_is_asked_for_its_stream(self):
        """A launch on the tensor's own stream need not wait for it."""

        class Torch(Tensor):
            is_cuda = True

        module = types.ModuleType("torch")
        module.Tensor = Torch
        module.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=5))
        tensor = Torch()
        with unittest.mock.patch.dict(sys.modules, {"torch": module}):
            self.assertEqual(arrays.current_stream(tensor), 5)
            take(tensor, stream=5)
            take(tensor, stream=6)
        self.assertEqual(tensor.streams, [-1, 6])


class Numbers(Case):
    def pack(self, dtype, value, size=4):
        return arrays.pack(argument(name="s", kind=ArgumentKind.SCALAR, dtype=dtype, bytes=size), value)

    def test_numbers(self):
        self.assertEqual(self.pack("f32", 1.5), struct.pack("f", 1.5))
        self.assertEqual(self.pack("f64", 2), struct.pack("d", 2))
        self.assertEqual(self.pack("f16", 0.5), b"\x00\x38")
        self.assertEqual(self.pack("i32", -1), b"\xff" * 4)
        self.assertEqual(self.pack("u64", 2**64 - 1), b"\xff" * 8)
        for dtype, value in (("i8", 128), ("u8", -1), ("i32", 1.5), ("f32", "1"), ("f16", 1e9), ("f32", 1e300), ("i32", None)):
            with self.subTest(dtype=dtype, value=value):
                self.refuses(f"argument 's': .* is no {dtype}", self.pack, dtype, value)

    def test_whole_numbers_have_a_least_and_a_greatest(self):
        for bits in (8, 16, 32, 64):
            for kind, least, greatest in (("i", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1), ("u", 0, 2**bits - 1)):
                dtype, size = f"{kind}{bits}", bits // 8
                for value in (least, greatest):
                    self.assertEqual(self.pack(dtype, value, size), value.to_bytes(size, sys.byteorder, signed=kind == "i"), (dtype, value))
                for value in (least - 1, greatest + 1):
                    self.refuses(f"argument 's': {value} is no {dtype}", self.pack, dtype, value, size)

    def test_floats_have_a_least_and_a_greatest(self):
        for dtype, form, greatest, beyond in (("f16", "e", 65504.0, 65536.0), ("f32", "f", float.fromhex("0x1.FFFFFEp127"), 2.0**128), ("f64", "d", sys.float_info.max, None)):
            for value in (greatest, -greatest):
                self.assertEqual(self.pack(dtype, value), struct.pack(f"={form}", value), (dtype, value))
                if beyond:
                    self.refuses(f"argument 's': .* is no {dtype}", self.pack, dtype, beyond if value > 0 else -beyond)
        self.assertEqual(self.pack("bf16", float.fromhex("0x1.FEp127"), 2), b"\x7f\x7f")
        self.assertEqual(self.pack("bf16", -float.fromhex("0x1.FEp127"), 2), b"\x7f\xff")

    def test_bf16_is_rounded_to_nearest_even(self):
        for value, bits in ((1.0, 0x3F80), (1 + 2**-8, 0x3F80), (1 + 3 * 2**-8, 0x3F82), (1 + 2**-8 + 2**-20, 0x3F81), (-2.0, 0xC000),
                            (float("inf"), 0x7F80), (3.4e38, 0x7F80)):
            self.assertEqual(self.pack("bf16", value, 2), struct.pack("<H", bits), value)
        self.assertEqual(self.pack("bf16", float("nan"), 2)[1] & 0x7F, 0x7F)

    def test_bytes(self):
        class Pair(ctypes.Structure):
            _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]

        self.assertEqual(self.pack("struct", Pair(1, 2), 8), struct.pack("ff", 1, 2))
        self.assertEqual(self.pack("e4m3", b"\x38", 1), b"\x38")
        self.refuses("a e4m3 is passed as 1 bytes", self.pack, "e4m3", 1.0, 1)
        self.refuses("3 bytes, should be 8", self.pack, "struct", b"abc", 8)


if __name__ == "__main__":
    unittest.main()

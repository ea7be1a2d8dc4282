"""Kernels of a GPU over the fake driver: which stream a launch is on, what it is passed, when a call is bound again."""

import ctypes
import os
import unittest

import cugen

FILES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tests", "configs")
N = 1000


class Launch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("parameters", ctypes.POINTER(ctypes.c_void_p)), ("stream", ctypes.c_void_p)]  # and more


RUN = ctypes.CFUNCTYPE(None, ctypes.POINTER(Launch))


class Fake(ctypes.Structure):
    """The head of tests/fault/fake_cuda.h's struct fake_cuda."""

    _fields_ = [("version", ctypes.c_int), ("devices", ctypes.c_int), ("fail_at", ctypes.c_long), ("fail_on", ctypes.c_bool),
                ("fail_only", ctypes.c_char_p), ("fail_with", ctypes.c_int), ("run", RUN)]


class Array:
    def __init__(self, address, stream=None, size=N):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "<f4", "data": (address, False), "version": 3, "stream": stream}


class Stream:
    def __init__(self, number):
        self.cuda_stream = number


class Cuda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fake = Fake.in_dll(ctypes.CDLL("libcuda.so.1"), "fake_cuda")
        cls.fake.version, cls.fake.devices = 13000, 2
        cls.run_ = RUN(lambda launch: cls.seen.append(cls.parts(launch.contents)))
        cls.fake.run = cls.run_
        cls.library = cugen.Library("cuda:0", cache="none")
        cls.addClassCleanup(cls.library.close)
        cls.kernel = cls.library.kernel(os.path.join(FILES, "wild.lua"), n=N)

    @staticmethod
    def parts(launch):
        """The stream, and the addresses of out, x, y and the value of alpha."""
        addresses = [ctypes.c_void_p.from_address(launch.parameters[i]).value for i in range(3)]
        return launch.stream, *addresses, ctypes.c_float.from_address(launch.parameters[3]).value

    def setUp(self):
        type(self).seen = []

    def test_streams(self):
        arrays = [Array(0x1000), Array(0x2000), Array(0x3000)]
        self.kernel(*arrays)
        self.kernel(Array(0x1000, stream=7), *arrays[1:])
        self.kernel(*arrays, stream=9)
        self.kernel(*arrays, stream=Stream(11))
        self.assertEqual([launch[0] for launch in self.seen], [None, 7, 9, 11])
        with self.assertRaisesRegex(cugen.Error, "of different streams"):
            self.kernel(Array(0x1000, stream=7), Array(0x2000, stream=8), arrays[2])

    def test_arguments(self):
        first, second = [Array(a) for a in (0x1000, 0x2000, 0x3000)], [Array(a) for a in (0x1000, 0x2000, 0x4000)]
        self.kernel(*first)
        self.kernel(*second)
        self.kernel(*second)
        self.kernel(*second, alpha=-1)
        self.kernel(*first)
        self.assertEqual([launch[1:] for launch in self.seen],
                         [(0x1000, 0x2000, 0x3000, 2.5), (0x1000, 0x2000, 0x4000, 2.5), (0x1000, 0x2000, 0x4000, 2.5),
                          (0x1000, 0x2000, 0x4000, -1), (0x1000, 0x2000, 0x3000, 2.5)])

    def test_bind(self):
        call = self.kernel.bind(Array(0x1000, stream=3), Array(0x2000), Array(0x3000))
        call()
        call(5)
        self.assertEqual([launch[0] for launch in self.seen], [3, 5])

    def test_refusals(self):
        with self.assertRaisesRegex(cugen.Error, "argument 'x': it is in host memory, the kernel runs on cuda:0"):
            self.kernel(Array(0x1000), (ctypes.c_float * N)(), Array(0x3000))
        with self.assertRaisesRegex(cugen.Error, "argument 'x' was given 0x2001, which is 1 bytes past a multiple of 4"):
            self.kernel(Array(0x1000), Array(0x2001), Array(0x3000))
        with self.assertRaisesRegex(cugen.Error, r"its shape is \(7,\), should be \(1000,\)"):
            self.kernel(Array(0x1000), Array(0x2000, size=7), Array(0x3000))

    def test_the_driver_fails(self):
        self.fake.fail_only, self.fake.fail_with, self.fake.fail_on, self.fake.fail_at = b"cuLaunchKernel", 2, True, 1
        with self.assertRaisesRegex(cugen.Error, "out of memory") as caught:
            self.kernel(Array(0x1000), Array(0x2000), Array(0x3000))
        self.fake.fail_on, self.fake.fail_at = False, 0
        self.assertIn(caught.exception.status, (cugen.Status.DEVICE, cugen.Status.MEMORY))


if __name__ == "__main__":
    unittest.main()

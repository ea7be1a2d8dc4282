"""The package with NumPy's arrays, on the cpu device."""

import unittest

import cugen
import numpy as np


class Numpy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = cugen.Library("cpu", cache="none")
        cls.addClassCleanup(cls.library.close)
        cls.random = np.random.default_rng(1)

    def matrix(self, rows, columns, dtype=np.float32):
        return self.random.integers(-4, 5, (rows, columns)).astype(dtype)  # exact sums

    def test_matmul(self):
        a, b = self.matrix(20, 24), self.matrix(24, 28)
        c = np.empty((20, 28), np.float32)
        matmul = self.library.kernel("matmul", M=20, N=28, K=24)
        matmul(a, b, c)
        np.testing.assert_array_equal(c, a @ b)
        matmul(a, b, c.reshape(-1))
        np.testing.assert_array_equal(c, a @ b)

    def test_types(self):
        for name, dtype in (("f64", np.float64), ("f16", np.float16), ("bf16", np.uint16)):
            a, b = self.matrix(8, 8, dtype), self.matrix(8, 8, dtype)
            c = np.zeros((8, 8), dtype)
            if name == "bf16":  # the upper halves of floats
                a, b = (self.matrix(8, 8).view(np.uint32) >> 16).astype(np.uint16), np.eye(8, dtype=np.float32).view(np.uint32) >> 16
                b = b.astype(np.uint16)
            self.library.kernel("matmul", M=8, N=8, K=8, dtype=name)(a, b, c)
            np.testing.assert_array_equal(c, a if name == "bf16" else a @ b)

    def test_layouts(self):
        a, b = np.asfortranarray(self.matrix(16, 12)), self.matrix(12, 20)
        c = np.empty((16, 20), np.float32)
        self.library.kernel("matmul", M=16, N=20, K=12, layout_a="col")(a, b, c)
        np.testing.assert_array_equal(c, a @ b)
        with self.assertRaisesRegex(cugen.Error, r"argument 'A': its strides are \(1, 16\) elements, should be \(12, 1\)"):
            self.library.kernel("matmul", M=16, N=20, K=12, layout_a="row")(a, b, c)
        self.library.kernel("matmul", M=16, N=20, K=12)(a, b, c.fill(0) or c)
        np.testing.assert_array_equal(c, a @ b)
        with self.assertRaisesRegex(cugen.Error, "argument 'A': its strides"):
            self.library.kernel("matmul", M=16, N=20, K=12)(self.matrix(16, 24)[:, ::2], b, c)

    def test_outputs_are_made(self):
        matmul = self.library.kernel("matmul", dtype="f32")
        for rows in (16, 5, 16):
            a, b = self.matrix(rows, 12), self.matrix(12, 20)
            made = matmul(a, b)
            self.assertIsInstance(made, np.ndarray)
            np.testing.assert_array_equal(made, a @ b)
        column = self.library.kernel("matmul", layout_c="col", dtype="f64")(a.astype(np.float64), b.astype(np.float64))
        np.testing.assert_array_equal(column, a @ b)
        self.assertEqual(column.strides, (8, 8 * 16))
        with self.assertRaisesRegex(cugen.Error, "argument 'C' is missing: .* a ndarray tells no way to make it"):
            self.library.kernel("matmul", dtype="bf16")(np.zeros((2, 2), np.uint16), np.zeros((2, 2), np.uint16))

    def test_read_only_and_scalars(self):
        a, b, c = self.matrix(8, 8), self.matrix(8, 8), np.empty((8, 8), np.float32)
        a.flags.writeable = False
        matmul = self.library.kernel("matmul", M=8, N=8, K=8)
        matmul(a, b, c, np.int32(8), N=np.int64(8))
        np.testing.assert_array_equal(c, a @ b)
        with self.assertRaisesRegex(cugen.Error, "the kernel writes to it and it is read-only"):
            matmul(c, b, a)

    def test_what_is_no_plain_array(self):
        a, c = self.matrix(8, 8), np.empty((8, 8), np.float32)
        matmul = self.library.kernel("matmul", M=8, N=8, K=8)
        for wrong, pattern in ((np.ma.masked_array(a, mask=a > 0), "it has a mask"), (np.empty((8, 8), object), r"'\|O8?', which are no numbers"),
                               (np.zeros((8, 8), "datetime64[ns]"), r"'<M8\[ns\]', which are no numbers"),
                               (np.zeros((8, 8), "U2"), "'<U2', which are no numbers")):
            with self.subTest(pattern), self.assertRaisesRegex(cugen.Error, f"argument 'A': .*{pattern}"):
                matmul(wrong, a, c)
        matmul(np.ma.masked_array(a), a, c)
        np.testing.assert_array_equal(c, a @ a)

    def test_numbers_are_in_range(self):
        matmul = self.library.kernel("matmul", M=8, N=8, K=8)
        with self.assertRaisesRegex(cugen.Error, r"count=.*-1.* is out of range"):
            matmul.tune(count=np.int64(-1))
        self.assertEqual(matmul.tune(np.float32(60), count=np.int64(1)).tried, 1)

    def test_bool_settings(self):
        for value in (True, np.True_):
            self.assertIn("specialize=true", self.library.kernel("matmul", specialize=value).problem)


if __name__ == "__main__":
    unittest.main()

"""Kernels that are described in Python, with NumPy's arrays, on the cpu device."""

import os
import tempfile
import unittest

import cugen
import numpy as np

AXPY = """
__global__ void axpy(float *out, const float *x, const float *y, float alpha, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) out[i] = alpha * x[i] + y[i];
}
"""
SWAP = """
template <int BLOCK>
__global__ void turn(double *x, int *count, int n) {
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    x[i] = x[i] * 2 + 1;
    count[i] += 1;
  }
}
"""


class Scalar:
    """A number as NumPy 2 has them."""
    shape = ()
    device = "cpu"

    def item(self):
        return 2.5


class Described(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.environ["CUGEN_CACHE"] = os.path.join(cls.folder.name, "cache.db")
        cls.x, cls.y = np.random.default_rng(1).random((2, 1000), np.float32)
        cls.out = np.zeros_like(cls.x)

    def axpy(self, source=AXPY, answer=None, **more):
        arguments = [self.out, self.x, self.y, Scalar(), np.int32(1000)]
        return cugen.Config(source, "axpy", arguments, **{"tunables": {"BLOCK": [64, 128]}, "grid": "ceil_div(n, BLOCK)", "block": "BLOCK",
                                                          "answer": answer, **more})

    def test_tune(self):
        asked = []

        def right(out, x, y, alpha, n):
            asked.append((alpha, n))
            return alpha * x + y

        tuned = cugen.tune(AXPY, "axpy", [self.out, self.x, self.y, 2.5, 1000], tunables={"BLOCK": [64, 128, 256]}, grid="ceil_div(n, BLOCK)",
                           block="BLOCK", restrictions=["BLOCK < 256"], answer=right, device="cpu", budget="20s")
        self.assertEqual((tuned.tried, asked), (2, [(2.5, 1000)]))
        shown = str(tuned).split("\n")
        self.assertEqual((shown[0], len(shown)), ("n=1000 on cpu: 2 of 2 variants tried, 0 failed", 3))
        self.assertTrue(shown[1].endswith(" us  " + tuned.best.variant))
        self.assertTrue(tuned.best.verified)

    def test_call(self):
        config = self.axpy(answer=2.5 * self.x.astype(np.float64) + self.y, tolerance="2 * eps('f32')")
        kernel = cugen.kernel(config, device="cpu")
        kernel.tune("20s")
        kernel(self.out, self.x, self.y, alpha=-1)
        np.testing.assert_array_equal(self.out, self.y - self.x)

    def test_wrong(self):
        with self.assertRaisesRegex(cugen.Error, "not one of 2 variants came out right.*out.0. is .*should be"):
            cugen.kernel(self.axpy(answer=2 * self.x + self.y), device="cpu").tune("20s")

    def test_small_results(self):
        small = np.full(1000, 1e-7, np.float32)
        nothing = AXPY.replace("alpha * x[i] + y[i]", "0")
        config = cugen.Config(nothing, "axpy", [self.out, small, small, 1.0, 1000], tunables={"BLOCK": [64]}, grid="ceil_div(n, BLOCK)",
                              block="BLOCK", answer=lambda out, x, y, a, n: x + y)
        with self.assertRaisesRegex(cugen.Error, "off as a whole"):
            cugen.kernel(config, device="cpu").tune("20s")

    def test_without_a_gpu(self):
        kernel = cugen.kernel(self.axpy(answer=2.5 * self.x + self.y))
        if kernel.fallback is None:
            self.skipTest("there is a GPU")
        with self.assertWarnsRegex(UserWarning, 'predicted for A100; device="cpu" tunes'):
            tuned = kernel.tune("20s")
        self.assertEqual((tuned.device, tuned.tried), ("model:A100", 2))
        self.assertGreater(tuned.verified, 0)
        kernel(self.out, self.x, self.y)  # on the cpu device
        np.testing.assert_allclose(self.out, 2.5 * self.x + self.y, rtol=1e-6)

    def test_without_an_answer(self):
        tuned = cugen.kernel(self.axpy(), device="cpu").tune("20s")
        self.assertFalse(tuned.best.verified)

    def test_source_in_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "axpy.cu")
            with open(path, "w") as file:
                file.write('#include "helper.cuh"\n' + AXPY)
            with open(os.path.join(folder, "helper.cuh"), "w") as file:
                file.write("// nothing\n")
            config = self.axpy(path, answer=2.5 * self.x + self.y)
            self.assertEqual(cugen.kernel(config, device="cpu").run().outcome, "ok")
            broken = os.path.join(folder, "broken.cu")
            with open(broken, "w") as file:
                file.write(AXPY.replace("alpha *", "alfa *"))
            with self.assertRaisesRegex(cugen.Error, f"{broken}:4.*alfa"):
                cugen.kernel(self.axpy(broken, answer=self.x), device="cpu").tune("20s")

    def test_what_it_amounts_to(self):
        config = self.axpy(answer=2.5 * self.x + self.y)
        with tempfile.TemporaryDirectory() as folder, cugen.Library("cpu", cache="none") as library:
            path = config.write(os.path.join(folder, "axpy"))
            with open(path) as file:
                self.assertEqual(file.read(), config.lua)
            self.assertEqual(library.kernel(path).run("axpy BLOCK=64").outcome, "ok")

    def test_results_in_place(self):
        x, count = np.arange(100.0), np.arange(100, dtype=np.int32)
        config = cugen.Config(SWAP, None, [x, count, 100], tunables={"BLOCK": [32, 64]}, grid=2, block="BLOCK", tolerance=0,
                              answer=lambda x, count, n: {"x": 2 * x + 1, "count": count + 1})
        self.assertEqual([record.outcome for record in cugen.kernel(config, device="cpu").tune("20s").records], ["ok", "ok"])
        wrong = cugen.Config(SWAP, "turn<BLOCK>", [x, count, 100], tunables={"BLOCK": [32]}, grid=2, block="BLOCK", tolerance=0,
                             answer=[2 * x + 1, count])
        with self.assertRaisesRegex(cugen.Error, r"count\[0\] is 1, should be 0"):
            cugen.kernel(wrong, device="cpu").tune("20s")

    def test_types_of_templates(self):
        source = """template <int BLOCK, typename T> __global__ void twice(T *out, const T *x, int n) {
                      const int i = blockIdx.x * BLOCK + threadIdx.x;
                      if (i < n) out[i] = 2 * x[i];
                    }"""
        for dtype in (np.float64, np.int16):
            x, out = np.arange(100).astype(dtype), np.zeros(100, dtype)
            kernel = cugen.kernel(cugen.Config(source, None, [out, x, 100], tunables={"BLOCK": [np.int64(32)]}, grid=np.int64(4), block="BLOCK",
                                               answer=lambda out, x, n: 2 * x), device="cpu")
            self.assertEqual(kernel.run().outcome, "ok")
            kernel(out, x)
            np.testing.assert_array_equal(out, 2 * x)

    def test_strided(self):
        wide = np.arange(2000, dtype=np.float32).reshape(1000, 2)
        config = cugen.Config(AXPY, "axpy", [self.out, wide[:, 0], self.y, 1.0, 1000], tunables={"BLOCK": [64]}, grid="ceil_div(n, BLOCK)",
                              block="BLOCK", answer=wide[:, 0] + self.y)
        self.assertEqual(cugen.kernel(config, device="cpu").run().outcome, "ok")

    def test_mistakes(self):
        for pattern, make in (
            ("axpy takes 5 arguments .out, x, y, alpha, n. and was given 2", lambda: cugen.Config(AXPY, "axpy", [self.out, self.x], tunables={"BLOCK": [64]}, grid=1, block=64)),
            ("grid: give a number, an expression of tunables .* instead of <function",
             lambda: cugen.Config(AXPY, "axpy", [self.out, self.x, self.y, 1.0, 1000], tunables={"BLOCK": [64]}, grid=lambda BLOCK: 1, block=64)),
            ("has no kernel 'apxy'; it has axpy", lambda: cugen.Config(AXPY, "apxy", [], tunables={"BLOCK": [64]}, grid=1, block=64)),
            ("block: say how many threads", lambda: self.axpy(block=None)),
            ("tunables: give the values", lambda: self.axpy(tunables={})),
            ("tunables: 'BLOCK' takes a list", lambda: self.axpy(tunables={"BLOCK": 64})),
            ("the results are out, and 2 were given", lambda: self.axpy(answer={"out": self.x, "x": self.x})),
            (r"'out' has the shape \(999,\), and its argument \(1000,\)", lambda: self.axpy(answer=self.x[1:])),
            ("'out' is i32: give f32, or f64", lambda: self.axpy(answer=self.x.astype(np.int32))),
            ("kinds: 'z': 'input'", lambda: self.axpy(kinds={"z": "input"})),
            ("a line end", lambda: self.axpy(restrictions=["BLOCK\n< 3"])),
            ("no array", lambda: cugen.Config(AXPY, "axpy", [self.out, "x", self.y, 1.0, 1000], tunables={"BLOCK": [64]}, grid=1, block=64)),
            ("1000.5 is no whole number", lambda: cugen.Config(AXPY, "axpy", [self.out, self.x, self.y, 2.5, 1000.5], tunables={"BLOCK": [64]}, grid=1, block=64)),
            ("the kernel takes a number", lambda: cugen.Config(AXPY, "axpy", [self.out, self.x, self.y, self.y, 1000], tunables={"BLOCK": [64]}, grid=1, block=64)),
        ):
            with self.subTest(pattern), self.assertRaisesRegex(cugen.Error, pattern):
                make()
        with self.assertRaisesRegex(cugen.Error, r"axpy.lua:\d+: where.*unknown name \"BLOK\""):
            cugen.kernel(self.axpy(restrictions=["BLOK < 3"]), device="cpu")


if __name__ == "__main__":
    unittest.main()

"""The package on the cpu device, with Python's standard library alone."""

import array
import ctypes
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

import cugen
from cugen import _library

FILES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tests", "configs")
SCALE_ADD = os.path.join(FILES, "wild.lua")  # out = alpha * x + y, alpha is 2.5
N = 1000


def floats(values):
    return array.array("f", values)


def python(*lines, **environment):
    """Runs a program of these lines in a process of its own."""
    return subprocess.run([sys.executable, "-c", "\n".join(lines)], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=300)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.library = cugen.Library("cpu", cache=os.path.join(folder.name, "cugen.db"))
        cls.addClassCleanup(cls.library.close)

    def kernel(self, config=SCALE_ADD, **problem):
        return self.library.kernel(config, **problem)

    def refuses(self, pattern, function, *arguments, status=cugen.Status.USAGE, **named):
        with self.assertRaisesRegex(cugen.Error, pattern) as caught:
            function(*arguments, **named)
        self.assertEqual(caught.exception.status, status)
        self.assertEqual(caught.exception.cause, cugen.Cause.NONE)


class Places(Case):
    """Errors have the place that their message names."""

    def place(self, config, template="__global__ void k(${params}) {\n  y[0] = 1;\n}\n"):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("k.lua", config), ("k.cu", template)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            with self.assertRaises(cugen.Error) as caught:
                self.kernel(os.path.join(folder, "k.lua")).plan()
        error = caught.exception
        self.assertIn(f"{error.file}:{error.line}:", str(error))
        return os.path.basename(error.file), error.line

    def test_options(self):
        """A message names an option as it is called here."""
        self.refuses("^toolkit '/nonexistent' is no folder", cugen.Library, "cpu", cache="none", toolkit="/nonexistent",
                     status=cugen.Status.MISSING)

    def test_places(self):
        good = """kernel "k" {
  problem "n" (64), output "y" { dtype = "f32", shape = { "n" } }, reference "none",
  implementation "i" { template "k.cu", grid { 1 }, block { 64 } },
}
"""
        self.assertEqual(self.place(good.replace("problem", "problm")), ("k.lua", 2))
        self.assertEqual(self.place(good, "\n//@ local a = b.c\n"), ("k.cu", 2))
        self.assertEqual(self.place(good, "__global__ void k(${params}) {\n\n  y[0] = nobody;\n}\n"), ("k.cu", 3))

    def test_none(self):
        with self.assertRaises(cugen.Error) as caught:
            self.kernel(nothing=3)
        self.assertEqual((caught.exception.file, caught.exception.line), (None, None))


class Calls(Case):
    def setUp(self):
        self.scale_add = self.kernel(n=N)
        self.x, self.y, self.out = floats(range(N)), floats([1] * N), floats([-1] * N)

    def test_in_order_and_by_name(self):
        self.scale_add(self.out, self.x, self.y)
        self.assertEqual(self.out, floats(2.5 * x + 1 for x in range(N)))
        self.scale_add(y=self.y, out=self.out, x=self.x, alpha=-2, n=N)
        self.assertEqual(self.out[:12], floats([-2 * x + 1 for x in range(12)]))
        for alpha in (1, 3):  # with nothing else changed
            self.scale_add(self.out, self.x, self.y, alpha)
            self.assertEqual(self.out[:3], floats([1, alpha + 1, 2 * alpha + 1]))
        self.scale_add(self.out, self.x, self.y, None, None)
        self.assertEqual(self.out[:3], floats([1, 3.5, 6]))

    def test_a_size_is_the_problems(self):
        """Another size is refused: with a larger one the kernel would leave the arrays."""
        transpose = self.kernel("transpose", rows=10, cols=7, batch=1)
        a, b = floats(range(70)), floats([0] * 70)
        for rows in (100000, 9):
            self.refuses(f"^argument 'rows': {rows}, but the kernel is open for 10. Leave it out, or open a kernel for that size",
                         transpose, a, b, rows=rows)
        transpose(a, b, rows=10)
        self.assertEqual(b[:3], floats([0, 7, 14]))

    def test_matmul_of_every_kind_of_host_memory(self):
        matmul = self.kernel("matmul", M=3, N=4, K=2)
        wanted = [10, 13, 16, 19, 28, 37, 46, 55, 46, 61, 76, 91]
        a, b = floats([1, 2, 4, 5, 7, 8]), floats([2, 3, 4, 5, 4, 5, 6, 7])
        for c in (floats([0] * 12), (ctypes.c_float * 12)(), ((ctypes.c_float * 4) * 3)(), memoryview(bytearray(48)).cast("f"),
                  memoryview(bytearray(48)).cast("B").cast("f", [3, 4])):
            matmul(memoryview(a).cast("B").cast("f", [3, 2]), memoryview(b).toreadonly(), c)
            self.assertEqual(array.array("f", bytes(c)).tolist(), wanted)

    def test_what_is_passed_is_checked(self):
        matmul = self.kernel("matmul", M=3, N=4, K=2, dtype="f32", layout_b="col", biased=False)
        a, b, c = floats(range(6)), floats(range(8)), floats(range(12))
        rows = ((ctypes.c_float * 4) * 2)()
        two = memoryview(bytes(24)).cast("B").cast("f", [2, 3])
        self.refuses("argument 'C' is missing: matmul takes A, B, C, M", matmul, a, b)
        self.refuses("argument 'A': its elements are f64, should be f32", matmul, array.array("d", a), b, c)
        self.refuses("argument 'A': its elements are i32, should be f32", matmul, (ctypes.c_int * 6)(), b, c)
        self.refuses(r"argument 'A': its shape is \(5,\), should be \(3, 2\)", matmul, a[:5], b, c)
        self.refuses(r"argument 'A': its shape is \(2, 3\), should be \(3, 2\)", matmul, two, b, c)
        self.refuses(r"argument 'B': its strides are \(4, 1\) elements, should be \(1, 2\)", matmul, a, rows, c)
        self.refuses("argument 'C': the kernel writes to it and it is read-only", matmul, a, b, memoryview(c).toreadonly())
        self.refuses("argument 'A': a list is no array", matmul, [1, 2], b, c)
        self.refuses("argument 'A': its shape", matmul, memoryview(a)[::2], b, c)
        self.refuses("matmul takes 15 arguments .* and was given 16", matmul, *range(16))
        self.refuses("matmul has no argument 'D2'; it has A, B", matmul, a, b, c, D2=1)
        self.refuses("argument 'A' was given twice", matmul, a, b, c, A=a)
        self.refuses("argument 'bias' is none of this problem's", matmul, a, b, c, bias=a)
        self.refuses("argument 'M': 2.5 is no i32", matmul, a, b, c, 2.5)
        self.refuses("argument 'M': 4294967296 is no i32", matmul, a, b, c, 2**32)
        self.refuses("argument 'M': 3 bytes, should be 4", matmul, a, b, c, b"abc")

    def test_sizes_are_the_arrays(self):
        """A kernel without sizes takes them from its arguments; a wrong argument is an error."""
        transpose, n = self.kernel("transpose"), self.kernel(SCALE_ADD)
        for rows, cols in ((2, 3), (5, 1), (2, 3)):
            a = memoryview(floats(range(rows * cols))).cast("B").cast("f", [1, rows, cols])
            b = memoryview(bytearray(4 * rows * cols)).cast("B").cast("f", [1, cols, rows])
            self.assertIs(transpose(a, b), b)
            self.assertEqual(b.tolist()[0], [[a[0, r, c] for r in range(rows)] for c in range(cols)])
        self.refuses(r"argument 'B': its shape is \(1, 3, 2\), should be \(1, 5, 1\)|should be \(1, 1, 5\)", transpose,
                     memoryview(bytes(20)).cast("B").cast("f", [1, 5, 1]), memoryview(bytearray(24)).cast("B").cast("f", [1, 3, 2]))
        for count in (4, 7, 4):
            out, x = floats([0] * count), floats(range(count))
            n(out, x, x)
            self.assertEqual(out, floats(3.5 * i for i in range(count)))
        self.refuses(r"argument 'x': its shape is \(3,\), should be \(7,\)", n, floats([0] * 7), floats([0] * 3), floats([0] * 7))
        self.refuses("argument 'out' is missing: .*; a array tells no way to make it", n, None, x, x)
        self.assertIs(n(out=out, x=x, y=x), out)

    def test_an_input_that_is_overwritten(self):
        kernel = self.kernel("sum", n=N)
        data = bytes(floats(range(N)))
        self.assertTrue(kernel.arguments[0].overwrite)
        self.refuses("argument 'x': the kernel writes to it and it is read-only", kernel, memoryview(data).cast("f"), floats([0]))
        self.assertEqual(data, bytes(floats(range(N))))

    def test_an_array_in_tiles(self):
        for rows, cols in ((5, 7), (8, 3)):
            tiled = self.library.kernel(os.path.join(FILES, "tiled.lua"), rows=rows, cols=cols)
            tiles = (cols + 1) // 2
            x, y = floats(range(rows * cols)), floats([-1]) * ((rows + 3) // 4 * tiles * 9)
            tiled(x, y)
            places = {(r // 4 * tiles + c // 2) * 9 + c % 2 * 4 + r % 4: float(r * cols + c) for r in range(rows) for c in range(cols)}
            self.assertEqual(list(y), [places.get(i, -1.0) for i in range(len(y))])
            argument = tiled.arguments[1]
            self.assertEqual((argument.layout, argument.stride, argument.bytes), ("row/4x2:col+1", (0, 0), 4 * len(y)))

    def test_no_stream_on_the_processor(self):
        self.refuses("stream", self.scale_add, self.out, self.x, self.y, stream=7)
        self.refuses("stream: a str is no stream", self.scale_add, self.out, self.x, self.y, stream="7")

    def test_bind(self):
        call = self.scale_add.bind(self.out, self.x, self.y, alpha=3)
        self.x[5] = 100
        call()
        self.assertEqual(self.out[5], 301)
        del self.out, self.x  # the call keeps them
        gc.collect()
        call()
        call.close()
        self.refuses("the call is closed", call)

    def test_arrays_are_given_back(self):
        self.scale_add(self.out, self.x, self.y)
        self.scale_add(floats([0] * N), self.x, self.y)
        self.out.append(1)  # a BufferError while somebody has it
        call = self.scale_add.bind(self.y, self.x, self.x)
        with self.assertRaises(BufferError):
            self.y.append(1)
        del call
        self.y.append(1)

    def test_scratch_and_constants(self):
        steps = self.kernel(os.path.join(FILES, "steps.lua"), size=N)
        total = floats([0])
        for _ in range(2):
            for source in (self.y, self.x):
                steps(source, total)
                self.assertEqual(total[0], sum(source))
        rows = self.kernel(os.path.join(FILES, "export.lua"), M=4, N=4)  # y = x * scale * factors[0]; scale is 1 / N
        x, y, factors = floats([1] * 16), floats([0] * 16), array.array("d", [4, 8, 12, 16])
        rows(x, y, factors=factors)
        self.assertEqual(y, floats([1] * 16))
        factors[0] = 40
        rows(x, y, factors=factors, scale=1)
        self.assertEqual(y, floats([40] * 16))
        factors[0] = 8  # the same memory with other contents
        rows(x, y, factors=factors, scale=1)
        self.assertEqual(y, floats([8] * 16))
        self.refuses("argument 'factors': its elements are f32, should be f64", rows, x, y, factors=floats([0] * 4))

    def test_addresses_in_symbols_and_structs(self):
        """Buffers are passed as usual, and structs that hold their addresses are left out."""
        pointers = self.kernel(os.path.join(FILES, "pointers.lua"), n=4)  # data = data / 2 + table
        table = floats([1] * 16)
        for first in (10, 20):
            data = floats([first] * 4)
            pointers(table, data)
            self.assertEqual(data, floats([first / 2 + 1] * 4))
        matrices = self.kernel(os.path.join(FILES, "..", "..", "docs", "examples", "cookbook", "matrices.lua"), M=16, N=16, K=16)
        a, b, c = floats([2] * 16 * 64), floats([3] * 16 * 24), floats([0] * 16 * 16)
        matrices(c, a, b)
        self.assertEqual(c, floats([96] * 16 * 16))

    def test_several_threads(self):
        wrong = []

        def work(number):
            x, out = floats([number] * N), floats([0] * N)
            for _ in range(20):
                self.scale_add(out, x, self.y)
                if out[N - 1] != 2.5 * number + 1:
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_numpy_is_not_needed(self):
        done = python("import sys, cugen, array", f"k = cugen.kernel({SCALE_ADD!r}, n=4, device='cpu')",
                      "k(*(array.array('f', [0] * 4) for _ in range(3)))",
                      "assert not {'numpy', 'torch'} & set(sys.modules)", CUGEN_CACHE="none")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Commands(Case):
    """The command line in a process of its own, with the library's options."""

    def test_command(self):
        space = self.library.command("space", SCALE_ADD, "--set", f"n={N}")
        self.assertEqual((space.kernel, space.problem, space.device.id), ("scale_add", f"n={N}", "cpu"))
        self.assertEqual(sum(part.valid for part in space.implementations), space.valid)
        self.assertEqual(self.library.command("space", SCALE_ADD, "--device", "model:H200").device.id, "model:H200")

    def test_failures(self):
        self.refuses("there is no command 'spce'", self.library.command, "spce")
        self.refuses("'cugen help' has no option --json", self.library.command, "help")
        self.refuses("has no problem 'm'; it has n", self.library.command, "space", SCALE_ADD, "--set", "m=3")
        with cugen.Library("cpu", cache="none", worker="none") as library:
            self.refuses("the worker program, which runs commands, was not found", library.command, "devices",
                         status=cugen.Status.MISSING)

    def test_a_worker_that_knows_no_commands(self):
        with cugen.Library("cpu", cache="none", worker="/bin/false") as library:
            self.refuses("/bin/false does not run commands of cugen", library.command, "devices", status=cugen.Status.MISSING)

    def test_values(self):
        devices = self.library.command("devices")
        self.assertEqual(devices["version"], devices.version)
        self.assertEqual(devices, dict(devices))
        with self.assertRaisesRegex(AttributeError, "no field 'gpus'; there are version, devices"):
            devices.gpus
        with self.assertRaisesRegex(AttributeError, "cannot be changed"):
            devices.version = 2


class Facts(Case):
    def test_kernel(self):
        kernel = self.kernel("matmul", M=3, N=4, K=2, settings={"dtype": "bf16"}, specialize=True)
        self.assertEqual(kernel.name, "matmul")
        self.assertIn("M=3 N=4 K=2 dtype=bf16", kernel.problem)
        self.assertIn("specialize=true", kernel.problem)
        self.assertEqual(kernel.device.id, "cpu")
        self.assertIsNone(kernel.fallback)
        a = kernel.arguments[0]
        self.assertEqual((a.name, a.kind, a.dtype, a.shape, a.stride), ("A", cugen.ArgumentKind.INPUT, "bf16", (3, 2), (2, 1)))
        self.assertIn("M=3 N=4", repr(kernel))
        self.assertIn("#include", kernel.source())
        self.refuses("no tuned problem serves", kernel.plan, tuned_only=True)

    def test_library(self):
        self.assertIn("cpu", [device.id for device in self.library.devices()])
        self.assertIn("matmul", self.library.configs())
        self.assertIn("worker: ", self.library.where())
        with open(SCALE_ADD, encoding="utf-8") as file:
            self.library.add_file("mine.lua", file.read().replace('kernel "scale_add"', 'kernel "mine"'))
        for name in ("wild.cu", "wild_reference.cu"):
            with open(os.path.join(FILES, name), encoding="utf-8") as file:
                self.library.add_file(name, file.read())
        self.assertEqual(self.kernel("mine", n=5).name, "mine")

    def test_errors_are_cugens(self):
        missing = cugen.Status.MISSING
        self.refuses("no config 'matmull'.*nearest 'matmul'", self.kernel, "matmull", status=missing)
        self.refuses(r"setting 'M=x'.*matmul.lua:\d+", self.kernel, "matmul", M="x")
        self.refuses("no device 'nonsense'", cugen.kernel, "matmul", device="nonsense")
        self.refuses("device and library", cugen.kernel, "matmul", device="cpu", library=self.library)
        self.refuses("[Nn]ot|is described", cugen.kernel("matmul", M=64, N=64, K=64, device="model:H200"), 1, 2, 3,
                     status=cugen.Status.DEVICE)

    def test_texts_are_whole(self):
        kernel = self.kernel(n=4)
        for function, arguments, named in ((self.kernel, ["matmul\0zz"], {}), (self.kernel, ["matmul"], {"dtype": "f32\0zz"}),
                                           (kernel.run, ["wild\0zz"], {}), (kernel.tune, [], {"strategy": "random\0zz"}),
                                           (kernel.source, ["\0"], {}), (self.library.add_file, ["a.lua\0zz", ""], {}),
                                           (self.library.import_records, ["file\0zz"], {}), (cugen.Library, ["cpu\0zz"], {})):
            self.refuses("holds a NUL character", function, *arguments, **named)
        self.refuses("is no text", self.kernel, "\ud800")

    def test_numbers_are_in_range(self):
        kernel, nan = self.kernel(n=4), float("nan")
        self.refuses("count=-1 is out of range", kernel.tune, count=-1)
        self.refuses("threads=4294967297 is out of range", kernel.tune, count=1, threads=2**32 + 1)
        self.refuses("--sample -1: a whole number", kernel.check, sample=-1)
        self.refuses("--variant, --all, --branches and --sample", kernel.check, all=True, sample=3)
        self.refuses("distance=nan is out of range", kernel.plan, distance=nan)
        self.refuses("budget", kernel.tune, nan)
        self.refuses("seconds=10+ is out of range", kernel.tune, 10**400)
        with self.assertRaisesRegex(TypeError, "count='3': "):
            kernel.tune(count="3")
        for wrong in (-1, nan):
            self.refuses(f"timeout={wrong}: the seconds must be 0", kernel.run, timeout=wrong)
            self.refuses(f"timeout={wrong}: the seconds must be 0", kernel.check, timeout=wrong)
            self.refuses(f"variant_timeout={wrong}: the seconds must be 0", kernel.tune, variant_timeout=wrong)

    def test_a_plan_outlives_its_kernel(self):
        kernel = self.kernel(n=4)
        plan = kernel.plan()
        kernel.close()
        del kernel
        out = floats([0] * 4)
        plan(out, floats(range(4)), floats(range(4)))
        self.assertEqual(out, floats([0, 3.5, 7, 10.5]))
        self.assertEqual(plan.info.choice, cugen.PlanChoice.DEFAULT)
        self.assertIn("wild", repr(plan))


class Tuning(Case):
    def test_choice(self):
        kernel = self.kernel(n=N)
        choice = kernel.plan().choice
        pinned = kernel.plan(choice=choice, tuned_only=True)
        self.assertEqual((pinned.info.choice, pinned.choice), (cugen.PlanChoice.PINNED, choice))
        with self.assertRaisesRegex(cugen.Error, "its checksum is another"):
            kernel.plan(choice=choice[:-3] + b"00\n")
        with self.assertRaisesRegex(cugen.Error, "the choice is for .* the kernel is"):
            self.kernel(n=N + 7).plan(choice=choice)
        with self.assertRaisesRegex(cugen.Error, "it does not begin like one"):
            kernel.plan(choice=b"")

    def test_tune_several(self):
        small, large = self.kernel(n=N + 3), self.kernel(n=2 * N + 3)
        seen = []
        first, second = cugen.tune([small, large], count=4, progress=seen.append)
        self.assertEqual((first.tried, second.tried), (2, 2))
        self.assertEqual((small.best, large.best), (first.best, second.best))
        self.assertEqual((seen[-1].problems, seen[-1].problem_index, seen[-1].planned), (2, 1, 4))
        with self.assertRaisesRegex(cugen.Error, "a budget of 1 variants for 2 problems"):
            cugen.tune([small, large], count=1)
        with self.assertRaisesRegex(cugen.Error, "0 problems to tune"):
            cugen.tune([])

    def test_tune_and_records(self):
        kernel = self.kernel(n=N + 1)
        seen = []
        self.assertIsNone(kernel.best)
        out = [floats([0] * (N + 1)) for _ in range(3)]
        kernel(*out)
        before = weakref.ref(kernel.current)
        tuned = kernel.tune(count=3, seed=2, progress=seen.append)
        self.assertEqual(tuned.tried, 3)
        self.assertEqual((len(tuned.records), tuned.best), (3, tuned.records[0]))
        self.assertEqual(kernel.records(), tuned.records)
        self.assertEqual(kernel.best, tuned.best)
        self.assertEqual(tuned.best.outcome, "ok")
        self.assertTrue(tuned.best.verified)
        self.assertGreater(tuned.best.seconds, 0)
        self.assertTrue(seen and isinstance(seen[-1], cugen.Progress) and seen[-1].planned == 3)
        self.assertIsNot(kernel.current, before())
        self.assertEqual(kernel.current.info.choice, cugen.PlanChoice.EXACT)
        self.assertEqual(kernel.current.info.variant, tuned.best.variant)
        kernel(*out)
        before()(*out)  # the kernel keeps it: its launches may still run
        self.assertEqual(kernel.run().outcome, "ok")
        (stored,) = self.library.records("scale_add", problem=f"n={N + 1}")
        self.assertEqual((stored.records, stored.best), (3, tuned.best.variant))
        with tempfile.TemporaryDirectory() as folder, cugen.Library("cpu", cache="none") as other:
            path = os.path.join(folder, "wisdom")
            self.assertEqual(self.library.export_records(path, "scale_add", problem=f"n={N + 1}"), 3)
            self.assertEqual(other.import_records(path).added, 3)
            self.assertEqual(other.kernel(SCALE_ADD, n=N + 1).best.variant, tuned.best.variant)

    def test_a_function_to_compare_with(self):
        with tempfile.TemporaryDirectory() as folder:
            library, source = os.path.join(folder, "mine.so"), os.path.join(folder, "mine.c")
            with open(source, "w") as file:
                file.write("int mine(void *const *a, const void *about, void *stream) {\n"
                           "  float *out = a[0], *x = a[1], *y = a[2], alpha = *(float *)a[3];\n"
                           "  for (int i = 0; i < *(int *)a[4]; i++) out[i] = alpha * x[i] + y[i];\n"
                           "  return about == stream;\n}\n")
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
            kernel = self.kernel(n=N + 2)
            tuned = kernel.tune(count=2, baseline=f"{library}:mine")
            self.assertEqual((tuned.baseline.outcome, tuned.baseline.reason), ("ok", None))
            self.assertGreater(tuned.baseline.ratio, 0)
            self.assertIn(f" x your baseline {library}:mine", str(tuned))
            self.assertIsNone(kernel.tune(count=1).baseline)
            (tuned,) = cugen.tune([kernel], count=1, baseline=f"{library}:mine")
            self.assertGreater(tuned.baseline.ratio, 0)
            self.refuses("baseline .*has no function 'other'", kernel.tune, baseline=f"{library}:other")
            with self.assertRaisesRegex(TypeError, "baseline"):
                kernel.tune(baseline=ctypes.CDLL(library).mine)

    def test_the_kernel_keeps_its_problem(self):
        with tempfile.TemporaryDirectory() as folder, cugen.Library("cpu", cache=os.path.join(folder, "c.db")) as library:
            kernel = library.kernel(SCALE_ADD)
            arrays = [floats([1] * 100000) for _ in range(3)]
            kernel(*arrays)
            tuned = kernel.tune(count=1)
            self.assertEqual((tuned.tried, len(tuned.records)), (1, 1))
            self.assertEqual([found.problem for found in library.records("scale_add")], ["n=1003"])
            self.assertEqual(kernel.run().outcome, "ok")
            self.assertEqual((kernel.problem, kernel.best), ("n=100000", None))
            kernel(*arrays)
            self.assertEqual(arrays[0][99999], 3.5)

    def test_budgets(self):
        kernel = self.kernel(n=N)
        for budget in ("10", "10 parsecs", "0s", -1, 0):
            self.refuses("budget", kernel.tune, budget)
        self.assertGreater(kernel.tune("2m", count=1).tried, 0)
        self.refuses("strategy", kernel.tune, strategy="nonsense")

    def test_progress_stops_it(self):
        kernel = self.kernel("matmul", M=32, N=32, K=32)
        tuned = kernel.tune("30s", progress=lambda p: p.done >= 2)
        self.assertTrue(tuned.interrupted)
        self.assertGreaterEqual(len(tuned.records), 2)

    def test_progress_raises(self):
        kernel = self.kernel("matmul", M=32, N=32, K=31)

        def fail(progress):
            if progress.done:
                raise ZeroDivisionError("of the callback")

        with self.assertRaisesRegex(ZeroDivisionError, "of the callback"):
            kernel.tune("30s", progress=fail)
        self.assertGreaterEqual(len(kernel.records()), 1)

    def test_a_callback_may_not_use_its_kernel(self):
        kernel = self.kernel("matmul", M=32, N=31, K=31)
        self.refuses("in use by the function that calls this callback", kernel.tune, "30s", progress=lambda _: kernel.records())

    def test_interrupt(self):
        kernel = self.kernel("matmul", M=31, N=32, K=32)
        handler = signal.getsignal(signal.SIGINT)
        sent = []

        def watch(progress):
            if progress.done and not sent:
                sent.append(progress.done)
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()

        with self.assertRaises(KeyboardInterrupt):
            kernel.tune("5m", progress=watch)
        self.assertIs(signal.getsignal(signal.SIGINT), handler)
        kept = len(kernel.records())
        self.assertGreaterEqual(kept, sent[0])
        again = kernel.tune(count=1)
        self.assertEqual(again.remembered, kept)

    def test_interrupt_without_a_callback(self):
        kernel = self.kernel("matmul", M=31, N=31, K=32)
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            kernel.tune("5m")


class Checking(Case):
    def test_clean(self):
        kernel = self.kernel(n=N)
        check = kernel.check("wild BLOCK_SIZE=128 ITEMS=1")
        self.assertTrue(check.ok, check.message)
        self.assertEqual(check.findings, ())
        self.assertTrue(check.traffic)
        self.assertEqual((check.runs_done, check.variants), (check.runs_planned, 1))
        self.assertIn(f"n={N}", kernel.problem)

    def test_for_a_gpu(self):
        """On the cpu device, whatever device the library is for."""
        with cugen.Library("model:H200", cache="none") as library:
            self.assertTrue(library.kernel(SCALE_ADD, n=N).check("wild BLOCK_SIZE=128 ITEMS=1").ok)

    def test_findings(self):
        check = self.kernel(os.path.join(FILES, "planted.lua")).check("wrong_last")
        self.assertFalse(check.ok)
        self.assertEqual(check.status, cugen.Status.WRONG)
        self.assertEqual(check.findings[0].kind, "wrong result")
        self.assertIn("1 of ", check.findings[0].message)

    def test_interrupt(self):
        """Ctrl-C ends the command's process."""
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            self.kernel("matmul").check(all=True)


class Exporting(unittest.TestCase):
    def test_bundle(self):
        with tempfile.TemporaryDirectory() as folder, cugen.Library("model:H200", cache="none") as library:
            done = library.kernel(SCALE_ADD, n=N).export(os.path.join(folder, "bundle"), devices="sm_90a")
            self.assertEqual((done.name, done.devices), ("scale_add", 1))
            self.assertIn("scale_add.c", os.listdir(os.path.join(folder, "bundle")))
            with self.assertRaises(cugen.Error):
                library.kernel(SCALE_ADD, n=N).export(folder, devices="sm_90a")

    def test_one_variant(self):
        with tempfile.TemporaryDirectory() as folder, cugen.Library("model:H200", cache="none") as library:
            kernel, bundle = library.kernel(SCALE_ADD, n=N), os.path.join(folder, "bundle")
            self.assertEqual(kernel.export(bundle, devices="sm_90a", variant="wild ITEMS=4").variants, 1)
            with open(os.path.join(bundle, "README.md"), encoding="utf-8") as readme:
                self.assertIn("One variant, wild BLOCK_SIZE=128 ITEMS=4,", readme.read())
            with self.assertRaisesRegex(cugen.Error, "did you mean .wild."):
                kernel.export(bundle, devices="sm_90a", variant="wld")

    def test_without_a_gpu(self):
        """As the command, it exports for a usual GPU. Who named the cpu device is told to name a GPU."""
        with tempfile.TemporaryDirectory() as folder, cugen.Library(cache="none") as library:
            kernel = library.kernel(SCALE_ADD, n=N)
            if kernel.fallback is None:
                self.skipTest("a GPU is here, or a device is named")
            self.assertTrue(kernel.export(os.path.join(folder, "bundle")).images)
        with tempfile.TemporaryDirectory() as folder, cugen.Library("cpu", cache="none") as library:
            with self.assertRaisesRegex(cugen.Error, "name an architecture"):
                library.kernel(SCALE_ADD, n=N).export(os.path.join(folder, "bundle"))


class Guide(unittest.TestCase):
    def test_example(self):
        """The example of docs/python.md that needs no GPU prints what it says."""
        with open(os.path.join(os.path.dirname(os.path.dirname(FILES)), "docs", "python.md"), encoding="utf-8") as file:
            code = file.read().split("## Without a GPU")[1].split("```python")[1].split("```")[0]
        done = python(code, CUGEN_CACHE="none")
        self.assertEqual((done.stdout.strip(), done.stderr), (code.rsplit("# ", 1)[1].strip(), ""))


class Handles(Case):
    def test_closing(self):
        kernel = self.kernel(n=4)
        plan = kernel.current
        with kernel:
            kernel.source()
        self.refuses("the kernel is closed", kernel.records)
        self.refuses("the plan is closed", plan.bind, floats([0] * 4), floats([0] * 4), floats([0] * 4))
        self.refuses("the kernel is closed", kernel, *(floats([0] * 4) for _ in range(3)))
        self.refuses("the kernel is closed", kernel.check)
        kernel.close()
        self.assertEqual(repr(kernel), "<cugen.Kernel closed>")

    def test_closing_the_library_first(self):
        library = cugen.Library("cpu", cache="none")
        kernel = library.kernel(SCALE_ADD, n=4)
        call = kernel.bind(*(floats([0] * 4) for _ in range(3)))
        library.close()
        self.refuses("the call is closed", call)
        self.refuses("the kernel is closed", lambda: kernel.name)
        self.refuses("the library is closed", library.kernel, SCALE_ADD)

    def test_closing_the_library_waits(self):
        """close() waits for a tune and launches in other threads. Until then nothing is opened. A callback may not close it."""
        # A line is written at once, since threads write at the same time.
        done = python("import cugen, array, sys, threading", "def say(what): sys.stdout.write(f'{what}\\n')", "library = cugen.Library('cpu', cache='none')",
                      "kernel, begun, closed = library.kernel('matmul', M=32, N=32, K=32), threading.Event(), []",
                      "def refused(function, *arguments):", "    try: function(*arguments)", "    except cugen.Error as error: say(error)",
                      "def progress(state):", "    if not begun.is_set(): refused(library.close)",
                      "    closing = library._closing", "    if closing: refused(library.kernel, 'matmul')",
                      "    begun.set()", "    closed.append(kernel._handle.closed)", "    return closing",
                      "tuning = threading.Thread(target=lambda: say(kernel.tune('30s', progress=progress).interrupted))",
                      "other = library.kernel('matmul', M=200, N=200, K=200)", "a = [array.array('f', [0] * 40000) for _ in range(3)]",
                      "call = other.plan().bind(*a)",
                      "def launch():", "    try:", "        while True: call()", "    except cugen.Error as error: say(error)",
                      "launching = threading.Thread(target=launch)",
                      "tuning.start(); begun.wait(); launching.start(); library.close(); tuning.join(); launching.join()",
                      "say(any(closed))", "refused(library.kernel, 'matmul')")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()), sorted((
            "the library is in use by the function that calls this callback: use it when that has returned", "True", "the call is closed",
            "False", "the library is closed", "the library is closed")))

    def test_closing_waits_for_a_launch(self):
        """A plan, a call, and a plan whose call is launched."""
        kernel = self.kernel("matmul", M=300, N=300, K=300)
        arrays = [floats([0] * 90000) for _ in range(3)]
        for closes, launches in (("plan", "plan"), ("call", "call"), ("plan", "call")):
            with self.subTest(closes=closes, launches=launches):
                plan = kernel.plan()
                opened = {"plan": plan, "call": plan.bind(*arrays)}
                refused, begun = [], threading.Event()

                def launch(function, values):
                    with self.assertRaisesRegex(cugen.Error, "is closed"):
                        while True:
                            function(*values)
                            begun.set()
                    refused.append(True)

                thread = threading.Thread(target=launch, args=(opened[launches], arrays if launches == "plan" else ()))
                thread.start()
                begun.wait()
                opened[closes].close()
                thread.join()
                self.assertEqual(refused, [True])

    def test_the_first_calls_open_one_plan(self):
        kernel, found = self.kernel("matmul", M=33, N=33, K=33), []
        start = threading.Barrier(6)
        threads = [threading.Thread(target=lambda: (start.wait(), found.append(kernel.current))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(found), len(set(found))), (6, 1))

    def test_any_order_of_collection(self):
        for _ in range(3):
            library = cugen.Library("cpu", cache="none")
            ring = [library, library.kernel(SCALE_ADD, n=4)]
            ring.append(ring[1].bind(*(floats([0] * 4) for _ in range(3))))
            ring.append(ring)
            del library, ring
            gc.collect()

    def test_end_and_fork(self):
        done = python("import cugen, array, os", f"k = cugen.kernel({SCALE_ADD!r}, n=4, device='cpu')",
                      "a = [array.array('f', [0] * 4) for _ in range(3)]", "call = k.bind(*a)", "call()",
                      "if os.fork() == 0: del k, call; raise SystemExit(0)", "print(os.wait()[1]); call()", CUGEN_CACHE="none")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("0\n", "", 0))

    def test_a_handle_is_closed_by_its_own_process(self):
        for process, closed in ((os.getpid(), [7]), (os.getpid() + 1, [])):
            made, called = _library.Handle("thing", 7, "cugen_close"), []
            made._close, made._process = called.append, process
            made.close()
            self.assertEqual((called, made.closed), (closed, True))


class Loading(unittest.TestCase):
    def fails(self, pattern, **environment):
        done = python("import cugen", "try: cugen.kernel('matmul')",
                      "except cugen.Error as error: print(error.status.name, error)", **environment)
        self.assertRegex(done.stdout, pattern, done.stderr)

    def test_missing(self):
        self.fails("^MISSING libcugen.so was not found; looked at /nowhere/libcugen.so; install", CUGEN_LIBRARY="/nowhere/libcugen.so")

    def test_another_library(self):
        self.fails("^MISSING libc.so.6 is not the libcugen .* of this package: .*cugen_version", CUGEN_LIBRARY="libc.so.6")

    def test_another_version(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libcugen.so")
            source = os.path.join(folder, "other.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write('const char *cugen_version(void);\nconst char *cugen_version(void) { return "0.0.7"; }\n')
            subprocess.run(["cc", "-shared", "-fPIC", source, "-o", path], check=True)
            self.fails("^MISSING .*libcugen.so is cugen 0.0.7, this package is for ", CUGEN_LIBRARY=path)

    def test_no_worker(self):
        with cugen.Library("cpu", cache="none", worker="none") as library:
            with self.assertRaisesRegex(cugen.Error, "worker") as caught:
                library.kernel(SCALE_ADD, n=N).tune(count=1)
            self.assertEqual(caught.exception.status, cugen.Status.MISSING)
            self.assertEqual(library.kernel(SCALE_ADD, n=N).tune(count=1, in_process=True).tried, 1)


if __name__ == "__main__":
    unittest.main()

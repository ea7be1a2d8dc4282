"""PyTorch's tensors on the cpu device: outputs that are made, strides, all sizes from one kernel,
torch.compile, gradients."""

import os
import threading
import unittest

import torch  # before cugen: kernels know it from the start

import cugen

FILES = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tests", "configs"
)


def whole(*shape, dtype=torch.float32):
    """Small whole numbers, whose products every type sums exactly."""
    return torch.randint(-3, 4, shape).to(dtype)


def gradients(grad, a, b):
    return grad @ b.t(), a.t() @ grad


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = cugen.Library("cpu", cache="none")
        cls.addClassCleanup(cls.library.close)

    def matmul(self, **named):
        return self.library.kernel("matmul", **named)

    def same(self, left, right):
        self.assertEqual((left.shape, left.dtype), (right.shape, right.dtype))
        self.assertTrue(torch.equal(left, right), f"{left} is not {right}")


class Calls(Case):
    def test_all_sizes_of_one_kernel(self):
        matmul = self.matmul(dtype="f32")
        for _ in range(3):  # the long way, and then the short one
            for m, n, k in ((4, 8, 4), (5, 8, 4), (1, 1, 1), (17, 3, 9)):
                a, b = whole(m, k), whole(k, n)
                c = torch.full((m, n), 9.0)
                self.assertIs(matmul(a, b, out=c), c)
                self.same(c, a @ b)
                self.same(matmul(a, b), a @ b)
                self.assertIs(matmul(a, b, c.zero_()), c)
                self.same(c, a @ b)
                self.assertIs(matmul(B=b, A=a, C=c.zero_()), c)
                self.same(c, a @ b)

    def test_types_and_strides_are_the_tensors(self):
        matmul = self.matmul()
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            a, b = whole(6, 4, dtype=dtype), whole(4, 8, dtype=dtype)
            turned_a, turned_b = a.t().contiguous().t(), b.t().contiguous().t()
            for _ in range(2):
                for left in (a, turned_a):
                    for right in (b, turned_b):
                        self.same(matmul(left, right), (a.double() @ b.double()).to(dtype))
        a, b = whole(6, 4), whole(4, 8)
        column = torch.zeros(8, 6).t()
        for _ in range(2):
            self.same(matmul(a, b, out=column.zero_()), a @ b)
        wide = whole(6, 100)[:, :4]  # a pitch that no flag of the config gives
        for _ in range(2):
            with self.assertRaisesRegex(
                cugen.Error,
                r"argument 'A': its strides are \(100, 1\) elements, should be \(4, 1\)",
            ):
                matmul(wide, b)
        bias = whole(8)
        for _ in range(2):
            self.same(matmul(a, b, bias=bias), a @ b + bias)

    def test_a_setting_holds(self):
        matmul = self.matmul(M=4, dtype="f32", layout_b="row")
        a, b = whole(4, 4), whole(4, 8)
        self.same(matmul(a, b), a @ b)
        for pattern, left, right in (
            (r"argument 'A': its shape is \(5, 4\), should be \(4, 4\)", whole(5, 4), b),
            ("argument 'B': its strides are", a, whole(8, 4).t()),
            ("argument 'A': its elements are f64, should be f32", a.double(), b.double()),
            (r"argument 'B': its shape is \(5, 8\), should be \(4, 8\)", a, whole(5, 8)),
            ("a list is no array", a, [1]),
        ):
            for _ in range(2):
                with self.assertRaisesRegex(cugen.Error, pattern):
                    matmul(left, right)

    def test_what_has_no_memory_of_its_own(self):
        matmul = self.matmul(dtype="f32")
        a, b = whole(4, 4), whole(4, 4)
        matmul(a, b)
        for wrong in (
            torch.zeros(4, 4, device="meta"),
            torch.zeros(4, 4).to_sparse(),
            torch.zeros(1, 1).expand(4, 4),
            torch.zeros(0, 4),
        ):
            with self.assertRaises(cugen.Error):
                matmul(a, wrong)
        negative = (torch.ones(4, 4, dtype=torch.complex64) * 1j).conj().imag
        self.assertTrue(negative.is_neg())
        try:
            self.same(
                matmul(a, negative.t().contiguous().t()), a @ negative
            )  # resolved by the copy
            self.same(matmul(a, negative), a @ negative)
        except cugen.Error:
            pass  # its strides are 2

    def test_outputs_are_given_in_other_ways(self):
        scale_add = self.library.kernel(os.path.join(FILES, "wild.lua"))  # out = 2.5 * x + y
        x, y, out = whole(10), whole(10), torch.zeros(10)
        for _ in range(2):
            self.assertIs(scale_add(x=x, y=y, out=out), out)
            self.same(out, 2.5 * x + y)
            self.same(scale_add(None, x, y), 2.5 * x + y)
            self.same(scale_add(x=x, y=y, alpha=2), 2 * x + y)
        matmul = self.matmul(dtype="f32")
        with self.assertRaisesRegex(cugen.Error, "argument 'C' was given twice"):
            matmul(x.view(2, 5), x.view(5, 2), out, out=out)
        with self.assertRaisesRegex(cugen.Error, "out: 2 arrays, and matmul has 1 outputs"):
            matmul(x.view(2, 5), x.view(5, 2), out=(out, out))

    def test_closed(self):
        matmul, a = self.matmul(dtype="f32"), whole(4, 4)
        for _ in range(2):
            matmul(a, a)
        matmul.close()
        with self.assertRaisesRegex(cugen.Error, "the kernel is closed"):
            matmul(a, a)

    def test_threads(self):
        matmul, wrong = self.matmul(dtype="f32"), []

        def work(number):
            a, b = whole(4 + number, 4), whole(4, 8)
            for _ in range(50):
                if not torch.equal(matmul(a, b), a @ b):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(i % 3,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Gradients(Case):
    def test_backward(self):
        matmul = self.matmul(dtype="f32", backward=gradients)
        a, b, weight = whole(6, 4), whole(4, 8), whole(6, 8)
        for left, right in ((True, True), (False, True), (True, False)):
            mine = [a.clone().requires_grad_(left), b.clone().requires_grad_(right)]
            torchs = [a.clone().requires_grad_(left), b.clone().requires_grad_(right)]
            (matmul(*mine) * weight).sum().backward()
            ((torchs[0] @ torchs[1]) * weight).sum().backward()
            for one, other in zip(mine, torchs):
                self.assertEqual(one.grad is None, other.grad is None)
                if one.grad is not None:
                    self.same(one.grad, other.grad)
        (matmul(B=mine[1], A=mine[0]) * weight).sum().backward()

    def test_without_one(self):
        matmul = self.matmul(dtype="f32")
        a, b = whole(4, 4), torch.nn.Parameter(whole(4, 4))
        for _ in range(2):
            with self.assertRaisesRegex(
                cugen.Error, "requires gradients and matmul has no backward: give cugen.kernel one"
            ):
                matmul(a, b)
            with torch.no_grad():
                self.same(matmul(a, b), a @ b)
        wrong = self.matmul(dtype="f32", backward=lambda grad, a, b: grad)
        with self.assertRaisesRegex(
            Exception, "gave 1 gradients: give one for each of its 2 tensors"
        ):
            wrong(a, b).sum().backward()


class Compiled(Case):
    """fullgraph: no graph breaks."""

    def test_compile(self):
        matmul, plain = self.matmul(dtype="f32", backward=gradients), self.matmul(dtype="f32")
        a, b = whole(6, 4), whole(4, 8)
        for backend in ("eager", "aot_eager"):
            torch._dynamo.reset()
            compiled = torch.compile(
                lambda a, b: matmul(a, b).relu() + 1, fullgraph=True, backend=backend
            )
            self.same(compiled(a, b), (a @ b).relu() + 1)
            into = torch.compile(
                lambda a, b, c: plain(a, b, out=c) * 2, fullgraph=True, backend=backend
            )
            c = torch.zeros(6, 8)
            self.same(into(a, b, c), a @ b * 2)
            self.same(c, a @ b)
            turned = torch.compile(
                lambda a, b: plain(A=a, B=b.t()), fullgraph=True, backend=backend
            )
            self.same(turned(a, b.t().contiguous()), a @ b)
            left = a.clone().requires_grad_()
            compiled(left, b).sum().backward()
            right = a.clone().requires_grad_()
            ((right @ b).relu() + 1).sum().backward()
            self.same(left.grad, right.grad)

    def test_one_graph_for_all_sizes(self):
        from torch._dynamo.testing import CompileCounterWithBackend

        matmul = self.matmul(dtype="f32")
        counter = CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(lambda a, b: matmul(a, b) * 2, fullgraph=True, backend=counter)
        b = whole(4, 8)
        for rows in range(2, 20):
            a = whole(rows, 4)
            self.same(compiled(a, b), a @ b * 2)
        self.assertLessEqual(counter.frame_count, 2)

    def test_numbers_and_names(self):
        scale_add = self.library.kernel(os.path.join(FILES, "wild.lua"))
        x, y, out = whole(10), whole(10), torch.zeros(10)
        made = torch.compile(
            lambda x, y: scale_add(x=x, y=y, alpha=2.0) + 1, fullgraph=True, backend="aot_eager"
        )
        self.same(made(x, y), 2 * x + y + 1)
        default = torch.compile(
            lambda x, y: scale_add(None, x, y) + 1, fullgraph=True, backend="aot_eager"
        )
        self.same(default(x, y), 2.5 * x + y + 1)
        into = torch.compile(
            lambda x, y, out: scale_add(out, x, y, 3) + 1, fullgraph=True, backend="aot_eager"
        )
        self.same(into(x, y, out), 3 * x + y + 1)
        self.same(out, 3 * x + y)

    def test_operators(self):
        matmul = self.matmul(dtype="f32", backward=gradients)
        a, b, c = whole(6, 4).requires_grad_(), whole(4, 8), torch.zeros(6, 8)
        torch.library.opcheck(torch.ops.cugen.launch, (matmul._id, [0, 1], [a, b], []))
        torch.library.opcheck(
            torch.ops.cugen.launch_into, (matmul._id, [0, 1, 2], [a.detach(), b], [c], [])
        )
        with self.assertRaisesRegex(
            cugen.Error, "the kernel that was compiled into a graph is gone"
        ):
            torch.ops.cugen.launch("nothing", [0, 1], [a.detach(), b], [])


if __name__ == "__main__":
    unittest.main()

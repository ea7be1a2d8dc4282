"""The package with PyTorch's tensors on a GPU: DLPack, streams, CUDA graphs, tuning. Prints what a call costs."""

import os
import signal
import sys
import threading
import time
import unittest

import cugen
import torch

SIZE = 256


def cost(function, count=2000):
    """Microseconds of the host's time for one call."""
    for _ in range(20):
        function()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        function()
    spent = time.perf_counter() - begin
    torch.cuda.synchronize()
    return 1e6 * spent / count


def matrices(dtype, rows=SIZE, columns=SIZE, inner=SIZE):
    """Small whole numbers, whose products every type here sums exactly."""
    a = torch.randint(-2, 3, (rows, inner), device="cuda").to(dtype)
    b = torch.randint(-2, 3, (inner, columns), device="cuda").to(dtype)
    return a, b, (a.double() @ b.double())


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = cugen.Library("cuda:0", cache="none")

    def matmul(self, dtype="f32", **problem):
        return self.library.kernel("matmul", **{"M": SIZE, "N": SIZE, "K": SIZE, "dtype": dtype, **problem})

    def test_types(self):
        for name, dtype in (("f32", torch.float32), ("f64", torch.float64), ("f16", torch.float16), ("bf16", torch.bfloat16)):
            with self.subTest(name):
                a, b, wanted = matrices(dtype)
                c = torch.empty_like(a)
                self.matmul(name)(a, b, c)
                self.assertTrue(torch.equal(c, wanted.to(dtype)))

    def test_float8_as_bytes(self):
        a, b, wanted = matrices(torch.float8_e4m3fn)
        c = torch.empty(SIZE, SIZE, dtype=torch.bfloat16, device="cuda")
        self.matmul("e4m3")(a.view(torch.uint8), b.view(torch.uint8), c)
        self.assertTrue(torch.equal(c, wanted.to(torch.bfloat16)))

    def test_cuda_array_interface(self):
        class Only:
            def __init__(self, tensor):
                self.__cuda_array_interface__ = tensor.__cuda_array_interface__

        a, b, wanted = matrices(torch.float32)
        c = torch.empty_like(a)
        self.matmul()(Only(a), Only(b), Only(c))
        self.assertTrue(torch.equal(c, wanted.float()))

    def test_layout_is_the_tensors(self):
        a, b, wanted = matrices(torch.float32)
        c = torch.empty_like(a)
        turned = b.t().contiguous().t()
        with self.assertRaisesRegex(cugen.Error, "argument 'B': its strides are"):
            self.matmul(layout_b="row")(a, turned, c)
        self.matmul()(a, turned, c)
        self.assertTrue(torch.equal(c, wanted.float()))

    def test_refusals(self):
        a, b, _ = matrices(torch.float32)
        matmul = self.matmul()
        for pattern, wrong in (("in host memory", b.cpu()), ("elements are f16, should be f32", b.half()),
                               ("shape", b[:-1]), ("requires gradients and matmul has no backward", b.clone().requires_grad_())):
            with self.assertRaisesRegex(cugen.Error, pattern):
                matmul(a, wrong, torch.empty_like(a))

    def test_the_current_stream(self):
        """The product waits for what its own stream does before it, and for nothing else."""
        a, b, wanted = matrices(torch.bfloat16)
        matmul = self.matmul("bf16")
        matmul(a, b, torch.empty_like(a))
        torch.cuda.synchronize()
        streams, results = [torch.cuda.Stream() for _ in range(3)], []
        for stream in streams * 5:
            with torch.cuda.stream(stream):
                late = torch.zeros_like(a)
                torch.cuda._sleep(2_000_000)
                late.copy_(a)
                c = torch.empty_like(a)
                matmul(late, b, c)
                results.append(c)
                late.record_stream(stream)
        torch.cuda.synchronize()
        self.assertTrue(all(torch.equal(c, wanted.bfloat16()) for c in results))
        c = torch.empty_like(a)
        matmul(a, b, c, stream=streams[0])
        streams[0].synchronize()
        self.assertTrue(torch.equal(c, wanted.bfloat16()))

    def test_graph(self):
        for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
            with self.subTest(name):
                a, b, _ = matrices(dtype)
                c = torch.empty_like(a)
                call = self.matmul(name).bind(a, b, c)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    call()
                    c.mul_(2)
                for _ in range(3):
                    new, _, _ = matrices(dtype)
                    a.copy_(new)
                    graph.replay()
                    torch.cuda.synchronize()
                    self.assertTrue(torch.equal(c, (2 * (new.double() @ b.double())).to(dtype)))

    def test_graph_of_plain_calls(self):
        """The outputs, and the scratch, lie in the graph's own memory; two graphs are replayed side by side."""
        for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
            matmul = self.library.kernel("matmul", dtype=name)
            a, b, _ = matrices(dtype, 64, 96, 4096)
            matmul(a, b)
            torch.cuda.synchronize()
            graphs = []
            for _ in range(2):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    results = [matmul(a, b) for _ in range(3)]
                graphs.append((graph, results, torch.cuda.Stream()))
            for _ in range(5):
                new, _, _ = matrices(dtype, 64, 96, 4096)
                a.copy_(new)
                torch.cuda.synchronize()
                for graph, _, stream in graphs:
                    with torch.cuda.stream(stream):
                        graph.replay()
                torch.cuda.synchronize()
                for _, results, _ in graphs:
                    for result in results:
                        self.assertTrue(torch.equal(result, (new.double() @ b.double()).to(dtype)))

    def test_all_sizes_of_one_kernel(self):
        matmul = self.library.kernel("matmul", dtype="bf16")
        compiled = torch.compile(lambda a, b: matmul(a, b).float() + 1, fullgraph=True)
        for size in (64, 129, 256, 1000):
            a, b, wanted = matrices(torch.bfloat16, size, 72, 40)
            for _ in range(2):
                self.assertTrue(torch.equal(matmul(a, b), wanted.bfloat16()))
                self.assertTrue(torch.equal(matmul(a, b.t().contiguous().t()), wanted.bfloat16()))
                self.assertTrue(torch.equal(compiled(a, b), wanted.bfloat16().float() + 1))
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                c = matmul(a, b)
            d = matmul(a, b, stream=stream)
            stream.synchronize()
            self.assertTrue(torch.equal(c, wanted.bfloat16()) and torch.equal(d, c))

    def test_tune(self):
        matmul = self.matmul("bf16", M=2048, N=2048, K=2048)
        a, b, wanted = matrices(torch.bfloat16, 2048, 2048, 2048)
        c = torch.empty_like(a)
        matmul(a, b, c)
        tuned = matmul.tune("8s")
        self.assertEqual(matmul.current.info.choice, cugen.PlanChoice.EXACT)
        matmul(a, b, c)
        self.assertTrue(torch.equal(c, wanted.bfloat16()))
        print(f"tuned {tuned.tried} variants in {tuned.seconds:.1f} s: {tuned.best.variant}: {1e6 * tuned.best.seconds:.2f} us")

    def test_interrupted_tune(self):
        matmul = self.matmul("f16")
        sent = []

        def watch(progress):
            if progress.done and not sent:
                sent.append(progress.done)
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

        with self.assertRaises(KeyboardInterrupt):
            matmul.tune("1m", progress=watch)
        self.assertGreaterEqual(len(matmul.records()), sent[0])

    def test_what_a_call_costs(self):
        a, b, _ = matrices(torch.float32)
        c = torch.empty_like(a)
        matmul = self.matmul()
        call, stream = matmul.bind(a, b, c), torch.cuda.current_stream().cuda_stream
        for what, function in (("matmul(a, b, c)", lambda: matmul(a, b, c)), ("matmul(a, b)", lambda: matmul(a, b)), ("call()", call), ("call(stream)", lambda: call(stream)),
                               ("torch.matmul(a, b, out=c)", lambda: torch.matmul(a, b, out=c))):
            print(f"{what}: {cost(function):.2f} us of the host")


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}, torch {torch.__version__}, {torch.cuda.get_device_name()}")
    unittest.main()

#!/usr/bin/env python3
"""host_torch.py [--sizes 64,128] [--types bf16,f32] [--seconds 0.5] [--device cuda:0]: what a call
costs the host, beside PyTorch.

Needs PyTorch, python/ of the checkout and build/libcugen.so (or CUGEN_LIBRARY). For products of
square matrices it prints microseconds of the host's time for a call: medians over batches of a few
calls, after each of which the GPU is waited for outside of the timing, so that no call waits for
room in a queue. The ways take turns. "first" is the first call of that size, in milliseconds: a
plan is chosen, compiled or taken from the cache, and loaded. Bar: matmul(a, b, out=c) costs at most
what torch.matmul(a, b, out=c) does. Then it checks calls in CUDA graphs, on another stream and
under torch.compile(fullgraph=True). Exit code 1: a bar is missed, or a check failed. --device cpu
rehearses all this on the processor, where the kernels' own time is counted, too."""

import argparse
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

import torch  # noqa: E402

import cugen  # noqa: E402

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
BATCH = 10  # calls between two waits


def wait(device):
    if device != "cpu":
        torch.cuda.synchronize()


def matrices(size, dtype, device):
    """Small whole numbers, whose products every type sums exactly up to a K of 64; larger ones are
    rounded alike or compared loosely."""
    return [torch.randint(-2, 3, (size, size), device=device).to(dtype) for _ in range(2)]


def costs(ways, device, seconds):
    """The median microseconds of a call of each way."""
    samples = [[] for _ in ways]
    for way in ways:
        for _ in range(3):
            way()
    wait(device)
    end = time.perf_counter() + seconds * len(ways)
    while time.perf_counter() < end or len(samples[0]) < 5:
        for way, found in zip(ways, samples):
            begin = time.perf_counter()
            for _ in range(BATCH):
                way()
            found.append((time.perf_counter() - begin) / BATCH)
            wait(device)
    return [1e6 * statistics.median(found) for found in samples]


def close(got, wanted):
    loose = 2e-2 if got.dtype in (torch.bfloat16, torch.float16) else 1e-3
    return torch.allclose(
        got.double(), wanted.double(), rtol=loose, atol=loose * wanted.abs().max().item()
    )


def table(options, failures):
    print(
        f"{'type':5} {'size':>5} {'first ms':>9} {'(a,b,out=c)':>12} {'(a,b)':>8} "
        f"{'call()':>8} {'call(s)':>8} {'torch out=':>11} {'torch':>8} {'ratio':>6}"
    )
    ratios = []
    for name in options.types.split(","):
        matmul = cugen.kernel("matmul", dtype=name, device=options.device)
        for size in map(int, options.sizes.split(",")):
            a, b = matrices(size, TYPES[name], options.device)
            c = torch.empty_like(a)
            begin = time.perf_counter()
            matmul(a, b, out=c)
            wait(options.device)
            first = 1e3 * (time.perf_counter() - begin)
            if not close(c, torch.matmul(a, b)) or not close(matmul(a, b), torch.matmul(a, b)):
                failures.append(f"{name} {size}: the product is not torch's")
            call, stream = matmul.bind(a, b, c), (
                0 if options.device == "cpu" else torch.cuda.current_stream().cuda_stream
            )
            found = costs(
                [
                    lambda: matmul(a, b, out=c),
                    lambda: matmul(a, b),
                    call,
                    lambda: call(stream),
                    lambda: torch.matmul(a, b, out=c),
                    lambda: torch.matmul(a, b),
                ],
                options.device,
                options.seconds,
            )
            ratios.append(found[0] / found[4])
            print(
                f"{name:5} {size:5} {first:9.1f} {found[0]:12.2f} {found[1]:8.2f} "
                f"{found[2]:8.2f} {found[3]:8.2f} {found[4]:11.2f} "
                f"{found[5]:8.2f} {ratios[-1]:6.2f}",
                flush=True,
            )
    print(
        f"matmul(a, b, out=c) / torch.matmul(a, b, out=c): "
        f"median {statistics.median(ratios):.2f}, most {max(ratios):.2f}; bar <= 1.00  "
        f"{'met' if max(ratios) <= 1 else 'MISSED'}"
    )
    if max(ratios) > 1 and options.device != "cpu":
        failures.append("the bar is missed")


def in_graphs(matmul, device, dtype):
    a, b = matrices(96, dtype, device)
    matmul(a, b)
    wait(device)
    graph, results = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for _ in range(3):
            results.append(matmul(a, b))
    for _ in range(3):
        new, _ = matrices(96, dtype, device)
        a.copy_(new)
        graph.replay()
        wait(device)
        if not all(close(result, new @ b) for result in results):
            return False
    return True


def on_streams(matmul, device, dtype):
    """The product waits for what its stream does before it."""
    a, b = matrices(256, dtype, device)
    streams, right = [torch.cuda.Stream() for _ in range(3)], True
    wait(device)
    for stream in streams * 3:
        with torch.cuda.stream(stream):
            late = torch.zeros_like(a)
            torch.cuda._sleep(2_000_000)
            late.copy_(a)
            c = matmul(late, b)
        stream.synchronize()
        right = right and close(c, a @ b)
    return right


def compiled(matmul, device, dtype):
    """One graph for all sizes, and gradients."""
    function = torch.compile(lambda a, b: matmul(a, b).float().relu() + 1, fullgraph=True)
    right = True
    for size in (64, 65, 130, 256):
        a, b = matrices(size, dtype, device)
        right = right and close(function(a, b), (a @ b).float().relu() + 1)
        a.requires_grad_()
        function(a, b).sum().backward()
        wanted = a.detach().clone().requires_grad_()
        ((wanted @ b).float().relu() + 1).sum().backward()
        right = right and close(a.grad, wanted.grad)
    return right


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="64,128,256,512,1024,2048,4096,8192")
    parser.add_argument("--types", default="bf16,f32")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--device", default="cuda:0")
    options, failures = parser.parse_args(), []
    where = (
        "the processor" if options.device == "cpu" else torch.cuda.get_device_name(options.device)
    )
    print(
        f"Python {sys.version.split()[0]}, torch {torch.__version__}, "
        f"cugen {cugen.__version__}, {where}: microseconds of the host"
    )
    table(options, failures)
    for name in options.types.split(","):
        matmul = cugen.kernel(
            "matmul",
            dtype=name,
            device=options.device,
            backward=lambda grad, a, b: (grad @ b.t(), a.t() @ grad),
        )
        for what, check in (
            ("in a CUDA graph", in_graphs),
            ("on other streams", on_streams),
            ("compiled, with gradients", compiled),
        ):
            if options.device == "cpu" and check is not compiled:
                continue
            try:
                right, why = check(matmul, options.device, TYPES[name]), ""
            except Exception as error:  # the other checks go on
                right, why = False, f": {type(error).__name__}: {error}"
            print(f"{name} {what}: {'right' if right else 'WRONG'}{why}", flush=True)
            if not right:
                failures.append(f"{name} {what}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""cugen from Python: tunes matmul briefly, launches the best variant, checks the result.

On a GPU the arrays are PyTorch's. On the cpu device (CUGEN_DEVICE=cpu) they are the standard library's."""

import array
import sys

import cugen

M, N, K = 64, 48, 40


def make_array(values, device):
    if device == "cpu":
        return array.array("f", values)
    import torch

    return torch.tensor(values, dtype=torch.float32, device=device)


def main():
    matmul = cugen.kernel("matmul", M=M, N=N, K=K)
    matmul.tune(count=4)
    left = [i % 5 - 2 for i in range(M * K)]  # small integers: exact sums
    right = [i % 7 - 3 for i in range(K * N)]
    a, b, c = (make_array(values, matmul.device.id) for values in (left, right, [0] * (M * N)))
    matmul(a, b, c)

    wanted = [sum(left[i * K + k] * right[k * N + j] for k in range(K)) for i in range(M) for j in range(N)]
    wrong = sum(got != want for got, want in zip(c.tolist(), wanted))
    print(f"matmul {M}x{N}x{K} on {matmul.device.name}: {matmul.current.variant}")
    print(f"{wrong} wrong elements")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

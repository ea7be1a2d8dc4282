#!/usr/bin/env python3
"""mutants.py CUGEN [--write FOLDER] [--only TEXT]: plants one fault at a time in the shipped templates, and holds `cugen check` to finding it.

A mutant is an edit of a template's text, so that it follows the template; one whose text is no longer there is an error. Prints a table of
what was found; exit code 1 when one is not found as it should be. --write FOLDER only writes the mutated templates, FOLDER/N/template.cu, and
FOLDER/list: a line for each with its number, config, variant, settings, and what is expected.

The untouched templates are held to be clean by cpu/shipped."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2] / "templates"
CONFLICTS = "bank conflicts"  # no finding, but four times the passes that are needed at the fewest

MATMUL = "M=67 N=70 K=37"
TILED = "tiled tile=16 pad=0"
PIPELINED = "pipelined BM=64 BN=64 BK=8 TM=8 TN=8 lanes_m=4 order=rows bursts=1 stages=3 group=1 split=1"
SPLIT = "pipelined BM=64 BN=64 BK=16 TM=8 TN=8 bursts=7 stages=4 group=8 split=2"
BLOCKED = "blocked BM=64 BN=64 BK=8 TM=8 TN=8 vec=1 double_buffer=true group=1 min_blocks=1"
TRANSPOSE = "rows=75 cols=133 batch=2"
COPY = "width=1003 height=3 depth=1"
REDUCE = "rows=3 cols=2111"
SUM = "n=2111"
FILTER = "rows=35 cols=71"

WGMMA = "wgmma BM=64 BN=64 consumers=1 cluster_x=1 split_k=1 swap=false deferred=false store_buffers=1"
WGMMA_CLUSTER = "wgmma BM=128 BN=64 consumers=2 cluster_x=2 split_k=1 swap=false deferred=false store_buffers=1"
WGMMA_SPLIT = "wgmma BM=64 BN=64 consumers=1 cluster_x=1 split_k=2 swap=false deferred=false"
WGMMA_TWO = "wgmma BM=128 BN=64 consumers=2 cluster_x=1 split_k=1 swap=false deferred=false store_buffers=1 pingpong=false"
WGMMA_TURNS = "wgmma BM=128 BN=64 consumers=2 cluster_x=1 split_k=1 swap=false deferred=false pingpong=true"
WGMMA_SPLIT_TWO = "wgmma BM=128 BN=64 consumers=2 cluster_x=1 split_k=2 swap=false deferred=false"
WGMMA_PROMOTE = "wgmma BM=64 BN=64 consumers=1 cluster_x=1 cluster_y=1 split_k=1 promote=4"
STEPS = "dtype=bf16 M=200 N=136 K=1048"  # more steps along k than stages, more tiles than blocks
TURNS = "dtype=bf16 layout_b=col M=1160 N=264 K=648"  # several tiles for each consumer
PADDED = "dtype=bf16 M=67 N=61 K=133"
STREAM = "dtype=bf16 layout_b=col M=1160 N=520 K=264"
MMA = "mma BM=64 BN=64 WM=32 WN=32 k_bytes=64 stages=4 group=1 min_blocks=1"
MMA_STEPS = "dtype=bf16 M=67 N=132 K=392"
PIPELINED_SPLIT = "pipelined BM=64 BN=64 BK=16 TM=8 TN=8 lanes_m=4 order=rows bursts=7 stages=4 group=8 split=2"
BULK = "width=20011 height=3 depth=1"  # more pieces for a block than stages
ONE_PASS = "rows=3 cols=70011"

# config, variant, settings, template, what is done, text, its replacement, what must be found (one of them)
MUTANTS = [
    ("copy", "element", COPY, "copy_element.cu", "guard condition removed",
     "if (i < width * rows) y[i] = x[i];", "y[i] = x[i];", {"out of bounds"}),
    ("copy", "vector", COPY, "copy_vector.cu", "index off by one",
     "held[i] = load_bits(from + i * threads);\n#pragma", "held[i] = load_bits(from + i * threads + 1);\n#pragma", {"wrong result"}),
    ("copy", "vector", COPY, "copy_vector.cu", "guard condition removed",
     "if (first + i * threads < whole) store_bits", "store_bits", {"out of bounds"}),
    ("copy", "bulk", COPY, "copy_bulk.cu", "wait removed", "barrier_wait(full_0 + stage * 8, parity);", "", {"copy in flight", "trap"}),
    ("copy", "bulk", BULK, "copy_bulk.cu", "wait for the store before removed", "bulk_wait_read<1>();", "", {"copy in flight"}),
    ("copy", "bulk", BULK, "copy_bulk.cu", "wait for stores one too weak", "bulk_wait_read<1>();", "bulk_wait_read<2>();",
     {"copy in flight"}),
    ("copy", "bulk", BULK, "copy_bulk.cu", "last wait for stores removed", "    bulk_finish();\n", "", {"asynchronous misuse"}),
    ("copy", "bulk", BULK, "copy_bulk.cu", "parity stays", "        parity ^= 1;\n", "", {"asynchronous misuse"}),
    ("copy", "bulk", BULK, "copy_bulk.cu", "fence of the barriers removed", "    barrier_fence_init();\n", "", {"missing fence"}),
    ("copy", "bulk", BULK, "copy_bulk.cu", "wrong stage filled", "stage == 0 ? stages - 1 : stage - 1", "stage", {"copy in flight"}),
    ("transpose", "padded", TRANSPOSE, "transpose_tiled.cu", "barrier removed", "  __syncthreads();\n", "\n", {"race"}),
    ("transpose", "padded", TRANSPOSE, "transpose_tiled.cu", "padding dropped", "  const int x = threadIdx.x;\n",
     "  (void)part;\n  __shared__ dtype own[tile][tile];\n  const auto part = [&](int r, int c) -> dtype & { return own[r][c]; };\n"
     "  const int x = threadIdx.x;\n", {CONFLICTS}),
    ("transpose", "padded", TRANSPOSE, "transpose_tiled.cu", "guard condition removed",
     "if (y + c < cols_left && x < rows_left) to[", "to[", {"out of bounds"}),
    ("transpose", "padded", TRANSPOSE, "transpose_tiled.cu", "array a row too small", "  const int x = threadIdx.x;\n",
     "  (void)part;\n  __shared__ dtype own[tile - 1][tile + pad];\n  const auto part = [&](int r, int c) -> dtype & { return own[r][c]; };\n"
     "  const int x = threadIdx.x;\n", {"index out of bounds"}),
    ("transpose", "vector", TRANSPOSE, "transpose_vector.cu", "barrier removed", "  __syncthreads();\n", "\n", {"race"}),
    ("sum", "global", SUM, "sum_global.cu", "barrier of the tree removed", "    __syncthreads();\n", "\n", {"race"}),
    ("sum", "global", SUM, "sum_global.cu", "guard condition removed", " && i + reach < n", "", {"out of bounds"}),
    ("sum", "static", SUM, "sum_shared.cu", "guard condition removed", "i < n ? x[i] : x_t(0)", "x[i]", {"out of bounds"}),
    ("reduce", "static", REDUCE, "reduce_tree.cu", "barrier of the tree removed",
     "numbers[threadIdx.x + reach]);\n    __syncthreads();", "numbers[threadIdx.x + reach]);", {"race"}),
    ("reduce", "static", REDUCE, "reduce_tree.cu", "index off by one", "if (threadIdx.x < reach)", "if (threadIdx.x <= reach)",
     {"out of bounds", "race"}),
    ("reduce", "dynamic", REDUCE, "reduce_tree.cu", "loop one too far", "i < parts", "i <= parts", {"uninitialised read", "out of bounds"}),
    ("reduce", "shuffle", REDUCE, "lib/reduce.cuh", "barrier removed",
     "warps[threadIdx.x / 32] = value;\n  __syncthreads();", "warps[threadIdx.x / 32] = value;", {"race"}),
    ("reduce", "vector", REDUCE + " axis=row", "reduce_vector.cu", "elements before the first wide load forgotten",
     "/ sizeof(x_t) % vec)", "/ sizeof(x_t) % vec * 0)", {"misaligned access"}),
    ("reduce", "onepass", "rows=3 cols=21011 axis=row", "reduce_vector.cu", "fence before the ticket removed",
     "__threadfence(); // the number is written before the ticket", "", {"missing fence", "race between blocks"}),
    ("reduce", "columns", "rows=3001 cols=61 axis=col", "reduce_columns.cu", "barrier before the ticket removed",
     "__threadfence(); // the numbers are written before the ticket\n  __syncthreads();", "__threadfence();", {"race between blocks"}),
    ("matmul", SPLIT, "M=67 N=70 K=300", "lib/last_part.cuh", "fence behind the ticket removed",
     "__threadfence(); // the ticket is read before the sums", "", {"missing fence", "race between blocks"}),
    ("reduce", "onepass", ONE_PASS, "reduce_vector.cu", "barrier before the decision removed",
     "      }\n    }\n    __syncthreads();\n    if (of > 1", "      }\n    }\n    if (of > 1", {"race"}),
    ("reduce", "onepass", ONE_PASS, "reduce_vector.cu", "fences removed", "__threadfence();", "", {"missing fence", "race between blocks"}),
    ("reduce", "onepass", ONE_PASS, "reduce_vector.cu", "ticket not returned",
     "        tickets[segment] = 0; // for the next launch\n", "", {"wrong result"}),
    ("matmul", TILED, MATMUL, "matmul_tiled.cu", "first barrier removed",
     "__syncthreads(); // read after write", "// read after write", {"race"}),
    ("matmul", TILED, MATMUL, "matmul_tiled.cu", "second barrier removed",
     "__syncthreads(); // write after read", "// write after read", {"race"}),
    ("matmul", TILED, MATMUL, "matmul_tiled.cu", "guard condition removed",
     "if (row < M - block_row && col < N - block_col) {", "{", {"out of bounds", "race", "race between blocks"}),
    ("matmul", TILED, MATMUL, "matmul_tiled.cu", "barrier in a branch", "__syncthreads(); // read after write",
     "if (inside_a || y < 8) __syncthreads(); else\n __syncthreads(); // read after write", {"barrier divergence"}),
    ("matmul", PIPELINED, MATMUL, "matmul_pipelined.cu", "wait count one too large",
     "wait<stages - 2>();", "wait<stages - 1>();", {"copy in flight"}),
    ("matmul", PIPELINED, MATMUL, "matmul_pipelined.cu", "barrier of the loop removed",
     "    copy_wait<stages - 2>();\n    __syncthreads();\n    writing", "    copy_wait<stages - 2>();\n    writing", {"race"}),
    ("matmul", PIPELINED, MATMUL, "matmul_pipelined.cu", "one tile too many", "left >= stages,", "left >= stages - 1,", {"out of bounds"}),
    ("matmul", PIPELINED_SPLIT, "M=67 N=70 K=137", "lib/last_part.cuh", "ticket not returned",
     "    if (last) *ticket = 0;\n", "", {"wrong result"}),
    ("matmul", MMA, MMA_STEPS, "matmul_mma.cu", "wait count one too large",
     "copy_wait<stages - 2>();\n        __sync", "copy_wait<stages - 1>();\n        __sync", {"copy in flight"}),
    ("matmul", MMA, MMA_STEPS, "matmul_mma.cu", "first wait removed",
     "  copy_wait<stages - 2>();\n  __syncthreads();\n  load", "  __syncthreads();\n  load", {"copy in flight"}),
    ("matmul", MMA, MMA_STEPS, "matmul_mma.cu", "barrier of the loop removed",
     "copy_wait<stages - 2>();\n        __syncthreads();", "copy_wait<stages - 2>();", {"race"}),
    ("matmul", MMA, MMA_STEPS, "lib/tile_copies.cuh", "commit removed", "    if (last < copies) return;\n    copy_commit();",
     "    if (last < copies) return;", {"copy in flight"}),
    ("matmul", MMA, MMA_STEPS, "matmul_mma.cu", "wrong stage written",
     "        writing = reading;\n        reading = reading == (stages - 1) * stage ? 0 : reading + stage;",
     "        reading = reading == (stages - 1) * stage ? 0 : reading + stage;\n        writing = reading;", {"copy in flight"}),
    ("matmul", MMA, MMA_STEPS, "matmul_mma.cu", "one tile too many", "left >= stages, step", "left >= stages - 1, step", {"out of bounds"}),
    ("matmul", MMA, MMA_STEPS, "matmul_mma.cu", "guard condition removed", "if (line < ", "if (true || line < ",
     {"out of bounds", "race between blocks"}),
    ("matmul", MMA, MMA_STEPS, "lib/swizzled_tile.cuh", "copies beyond the operand's end",
     "wanted < i_left ? wanted : i_left - (k_contiguous ? 1 : Width)", "wanted", {"out of bounds"}),
    ("matmul", BLOCKED, MATMUL, "matmul_blocked.cu", "barrier of the loop removed",
     "next_b.store(shared_b.at(buffer, 0, 0));\n        __syncthreads();", "next_b.store(shared_b.at(buffer, 0, 0));", {"race"}),
    ("filter", "tiled", FILTER, "filter_tiled.cu", "barrier removed", "  __syncthreads();\n", "\n", {"race"}),
    ("filter", "tiled", FILTER, "filter_tiled.cu", "tile a row short", "i < tile_y &&", "i < tile_y - 1 &&", {"uninitialised read"}),
    ("filter", "tiled", FILTER, "filter_tiled.cu", "guard condition removed", "if (row >= rows) return;", "", {"out of bounds"}),
    ("filter", "tiled", FILTER, "filter_tiled.cu", "early return before the barrier",
     "  __syncthreads();\n", "  if (col0 + x >= cols) return;\n  __syncthreads();\n", {"barrier after exit"}),
    ("particles", "plain", "n=1004", "particles.cu", "guard condition removed", "if (p >= n) return;", "", {"out of bounds"}),
    ("particles", "plain", "n=1004", "particles.cu", "index off by one", "+ threadIdx.x) *", "+ threadIdx.x + 1) *",
     {"out of bounds", "wrong result"}),
    ("particles", "plain", "n=1004", "particles.cu", "threads share an element", "* block + threadIdx.x)",
     "* block + threadIdx.x / 2)", {"same value written"}),
    ("access", "elements", "n=1021", "access.cu", "guard of the store removed", "if (element < mine) store_bits", "store_bits", {"out of bounds"}),
    ("access", "elements", "n=1021", "access.cu", "guard of the load removed", "if (element < mine) held[i]", "held[i]", {"out of bounds"}),
    ("access", "elements", "n=1021", "access.cu", "index off by one", "(element + store_offset)", "(element + 1 + store_offset)",
     {"out of bounds", "wrong result"}),
    ("reader", "stream", "n=3011 passes=2", "reader.cu", "barrier removed", "  __syncthreads();\n", "\n", {"race"}),
    ("reader", "stream", "n=3011 passes=2", "reader.cu", "every other warp left out",
     "if (threadIdx.x % 32 == 0)", "if (threadIdx.x % 64 == 0)", {"uninitialised read"}),
    ("reader", "stream", "n=3011 passes=2", "reader.cu", "return moved before the barrier",
     "  __syncthreads();\n  if (threadIdx.x > 0) return;", "  if (threadIdx.x > 0) return;\n  __syncthreads();", {"barrier after exit"}),
    ("reader", "stream", "n=3011 passes=2", "reader.cu", "index off by one", "if (i + k < count)", "if (i + k <= count)",
     {"out of bounds", "wrong result"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "wait for a full stage removed", "barrier_wait(full_0 + stage * 8, phase);", "",
     {"copy in flight", "uninitialised read"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "wait for an empty stage removed", "barrier_wait(empty_0 + stage * 8, phase);", "",
     {"asynchronous misuse", "race", "copy in flight"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "wrong parity", "unsigned phase = 0;", "unsigned phase = 1;",
     {"copy in flight", "uninitialised read"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "wrong parity of the producer", "unsigned phase = 1;", "unsigned phase = 0;", {"deadlock"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "stage released before it is read", "if (!first) release(last);\n      last = stage;",
     "last = stage;\n      release(last);", {"race", "copy in flight"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "bytes expected too few", "barrier_expect(barrier, stage_bytes);",
     "barrier_expect(barrier, stage_bytes - 1024);", {"asynchronous misuse"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "bytes expected too many", "barrier_expect(barrier, stage_bytes);",
     "barrier_expect(barrier, stage_bytes + 1024);", {"deadlock"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "wait for products one too weak", "wgmma_wait<1>();", "wgmma_wait<2>();",
     {"race", "copy in flight"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "last wait for products removed",
     '"wgmma_wait<0>(), release(last);"', '"release(last);"',
     {"sums in flight"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "wgmma.fence removed", "      wgmma_fence();\n", "", {"missing fence"}),
    ("matmul", WGMMA, STEPS, "lib/wgmma_store.cuh", "fence before the store removed", "      tensor_fence();\n", "", {"missing fence"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "fence of the barriers removed", "    barrier_fence_init();\n", "", {"missing fence"}),
    ("matmul", WGMMA, STEPS, "lib/wgmma_store.cuh", "barrier before the store removed",
     "      tensor_fence();\n      named_sync(6 + consumer, 128);", "      tensor_fence();", {"race"}),
    ("matmul", WGMMA, STEPS, "lib/wgmma_store.cuh", "wait for the store before removed",
     "if (thread == 0) bulk_wait_read<store_buffers - 1>();", "", {"copy in flight"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "last wait for stores removed",
     "    if (thread == 0) bulk_wait_read<0>();\n", "", {"asynchronous misuse"}),
    ("matmul", WGMMA_CLUSTER, STEPS, "matmul_wgmma.cu", "first barrier of the cluster removed",
     '  ${(swap or stream) and "cluster_start" or "cluster_sync"}();\n', "", {"asynchronous misuse", "race"}),
    ("matmul", WGMMA_CLUSTER, STEPS, "matmul_wgmma.cu", "releases only its own block's stage",
     "if (thread < cluster_x * cluster_y) barrier_arrive", "if (thread == rank) barrier_arrive", {"deadlock"}),
    ("matmul", WGMMA_CLUSTER, STEPS, "matmul_wgmma.cu", "one arrival at an empty stage too few",
     "sharers * cluster_x * cluster_y);\n    }", "sharers * cluster_x * cluster_y - 1);\n    }",
     {"race", "copy in flight", "asynchronous misuse"}),
    ("matmul", WGMMA_SPLIT, "dtype=bf16 M=64 N=64 K=1048", "matmul_wgmma.cu", "barrier between the sums removed",
     "      cluster_sync();\n#pragma", "#pragma", {"race"}),
    ("matmul", WGMMA_SPLIT, "dtype=bf16 M=64 N=64 K=1048", "matmul_wgmma.cu", "last barrier of the cluster removed (sums)",
     "  cluster_sync(); // no block leaves", "  // no block leaves", {"asynchronous misuse"}),
    ("matmul", WGMMA_SPLIT_TWO, "dtype=bf16 M=128 N=64 K=1048", "matmul_wgmma.cu", "barrier before the sums removed",
     "      named_sync(5, consumers * 128);\n", "", {"race"}),
    ("matmul", WGMMA_CLUSTER, STEPS, "matmul_wgmma.cu", "last barrier of the cluster removed",
     "  cluster_sync(); // no block leaves", "  // no block leaves", {"asynchronous misuse"}),
    ("matmul", WGMMA_CLUSTER, STEPS, "matmul_wgmma.cu", "multicast to its own block only", "mask_y |= 1u << (i +", "mask_y |= 1u << (in_x +",
     {"deadlock"}),
    ("matmul", WGMMA_TWO, STEPS, "lib/wgmma_store.cuh", "consumers share a barrier", "named_sync(6 + consumer, 128)", "named_sync(6, 128)",
     {"asynchronous misuse"}),
    ("matmul", WGMMA_TURNS, TURNS, "matmul_wgmma.cu", "the other's steps are not skipped",
     "      skip_steps(steps); // the steps", "      // the steps", {"deadlock"}),
    ("matmul", WGMMA_TURNS, TURNS, "matmul_wgmma.cu", "turn not waited for", "      named_sync(1 + consumer, 256);\n", "", {"copy in flight"}),
    ("matmul", WGMMA, STEPS, "matmul_wgmma.cu", "launch before not waited for", "  wait_for_launch();\n\n", "\n",
     {"missing fence"}),
    ("matmul", WGMMA, PADDED, "lib/pad_lines.cuh", "last elements of a line forgotten", "at.x + column < length && at.y + line < lines;", "at.x + column + 1 < length && at.y + line < lines;",
     {"wrong result", "uninitialised read"}),
    ("matmul", WGMMA, PADDED, "lib/pad_lines.cuh", "barrier before the store removed", "  tensor_fence();\n  __syncthreads();\n", "  tensor_fence();\n", {"race"}),
    ("matmul", WGMMA, PADDED, "lib/pad_lines.cuh", "box not waited for", "  barrier_wait(barrier, 0);\n", "",
     {"copy in flight", "uninitialised read"}),
    ("matmul", WGMMA, PADDED, "lib/pad_lines.cuh", "launch before not waited for (C)", "  __syncthreads();\n  wait_for_launch();\n", "  __syncthreads();\n",
     {"missing fence"}),
    ("matmul", WGMMA_PROMOTE, "dtype=e4m3 layout_b=col M=64 N=64 K=784", "matmul_wgmma.cu", "wait before sums are taken over removed",
     '"wgmma_wait<0>(), release(last);"', '"release(last);"', {"sums in flight"}),
    ("matmul", "wgmma_stream", STREAM, "matmul_wgmma.cu", "launch before not waited for (sums)",
     "  launch_next();\n  wait_for_launch();\n  const int tiles_x", "  launch_next();\n  const int tiles_x", {"missing fence"}),
    ("matmul", "wgmma_stream", STREAM, "matmul_wgmma.cu", "fence before the store of sums removed", "  tensor_fence();\n  __syncthreads();",
     "  __syncthreads();", {"missing fence"}),
    ("matmul", "wgmma_stream", STREAM, "matmul_wgmma.cu", "barrier before the store of sums removed", "  tensor_fence();\n  __syncthreads();",
     "  tensor_fence();", {"race"}),
    ("matmul", "wgmma_stream", STREAM, "matmul_wgmma.cu", "parts lie in one place", "static_cast<size_t>(cluster + tile) * cluster_size",
     "static_cast<size_t>(tile) * cluster_size", {"race between blocks"}),
]


def mutate(mutant, folder):
    name, text, replacement = mutant[3], mutant[5], mutant[6]
    source = (ROOT / name).read_text()
    if text not in source:
        raise SystemExit(f"mutants.py: {name} no longer has {text!r}: change the mutant '{mutant[4]}'")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source.replace(text, replacement))


def command(cugen, mutant, *more):
    settings = [word for setting in mutant[2].split() for word in ("-s", setting)]
    return [cugen, "check", mutant[0], "--variant", mutant[1], *settings, "--cache", "none", "--threads", "1", "--json", "-q", *more]


def check(cugen, mutant, *more):
    run = subprocess.run(command(cugen, mutant, *more), capture_output=True, text=True, check=False, timeout=1200)
    result = json.loads(run.stdout)
    if "findings" not in result:
        return {result.get("error", {}).get("message", run.stderr)}
    kinds = {finding["kind"] for finding in result["findings"]}
    for skip in result["not_checked"]:
        kinds.add("not checked: " + skip["why"])
    ratios = [row["needed"] / row["ideal"] for row in result["traffic"] if row["memory"] == "shared" and row["ideal"]]
    if max(ratios, default=1) >= 4:
        kinds.add(CONFLICTS)
    return kinds


def counts(mutant):
    """Of each template the first mutant is checked with the traffic counted, the others without: both find what is wrong, and what is counted
    takes an image of its own."""
    return CONFLICTS in mutant[7] or mutant == next(other for other in MUTANTS if other[3] == mutant[3])


def try_one(cugen, mutant):
    with tempfile.TemporaryDirectory() as folder:
        mutate(mutant, pathlib.Path(folder))
        return check(cugen, mutant, "--template-dir", folder, *([] if counts(mutant) else ["--no-traffic"]))


def write(folder):
    lines = []
    for number, mutant in enumerate(MUTANTS):
        mutate(mutant, folder / str(number))
        lines.append("|".join([str(number), *mutant[:3], mutant[3], mutant[4], ", ".join(sorted(mutant[7]))]))
    (folder / "list").write_text("\n".join(lines) + "\n")


def main():
    cugen = sys.argv[1]
    if "--write" in sys.argv:
        return write(pathlib.Path(sys.argv[sys.argv.index("--write") + 1]))
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    mutants = [mutant for mutant in MUTANTS if only in " ".join(mutant[:5])]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(lambda mutant: try_one(cugen, mutant), mutants))
    print("| Template | Mutant | Found |\n|---|---|---|")
    for mutant, kinds in zip(mutants, found):
        right = bool(kinds & mutant[7])
        wrong += not right
        text = ", ".join(sorted(kinds)) or "nothing"
        print(f"| {mutant[3]} | {mutant[4]} | {text}{'' if right else ' (expected ' + ', '.join(sorted(mutant[7])) + ')'} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

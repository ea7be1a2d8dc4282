#!/bin/bash
# Compiling in processes beside compiling on threads, in two minutes on 16 processors, without a GPU: run_compile.sh [FOLDER]
# in the repository's root, where FOLDER (default: build) holds cugen and bench_compile. The pool alone, seven times in turn; then
# `cugen tune` of a described GPU, three times in turn. What it prints is kept under tools/bench/results.
set -u
programs=${1:-build}
lscpu | grep -E '^(Model name|CPU\(s\)|Thread)'
"$programs/bench_compile" "$(nproc)" "$((6 * $(nproc)))" 7

# tune NAME WORKER: compiles a second; the worker "none" is NVRTC on threads of cugen itself.
tune() {
  CUGEN_WORKER=$2 "$programs/cugen" tune matmul -s M=480 -s N=320 -s K=640 --device model:H200 --budget 8s --cache none --json 2>/dev/null |
    python3 -c '
import json, sys
run = json.load(sys.stdin)["run"]
compiled, seconds = run["compiled"], run["seconds"]
print(f"cugen tune, {sys.argv[1]}: {compiled} compiled in {seconds:.1f} s = {compiled / seconds:.2f}/s")' "$1"
}

for _ in 1 2 3; do
  tune threads none
  tune processes "$programs/cugen"
done

#!/bin/bash
# Every family beside its peers: run_families.sh [BUILD] [SECONDS] [OPTION]... in the repository's root, on a machine with a
# GPU and a whole CUDA toolkit. BUILD (default: build) holds libcugen.so, nothing else of cugen is built. In at most SECONDS
# (default: 900) each case is tuned for --budget (default: 20) more seconds, or until no variant is left, and then raced; with
# --budget 0 what the cache remembers is.
# The table goes to stdout and into bench/results/DATE-GPU-families.txt.
set -eu
build=${1:-build}
seconds=${2:-900}
shift $(($# < 2 ? $# : 2))
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$nvcc" -O2 -std=c++17 -arch=native -Iinclude bench/families.cu -L"$build" -lcugen -lcublas -lcublasLt \
  -Xlinker "-rpath=$(realpath "$build")" -o "$scratch/families"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0 | sed 's/.* //' | tr '[:upper:]' '[:lower:]')
mkdir -p bench/results
"$scratch/families" --limit "$seconds" -o "bench/results/$(date -u +%F)-$gpu-families.txt" "$@"

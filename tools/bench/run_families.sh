#!/bin/bash
# Every family beside its peers: run_families.sh [BUILD] [SECONDS] [OPTION]... in the repository's root, on a machine with a
# GPU and a whole CUDA toolkit. BUILD (default: build) holds libcugen.so, nothing else of cugen is built; build_families.sh beside this
# builds the program there where it must. In at most SECONDS (default: 240) all cases are tuned and raced; `--only
# copy,transpose` chooses families, `--cache FILE` goes on with what was tuned before, `--budget 0` only races that. ARCH
# (default: native) is the GPU's architecture.
# The table goes to stdout and into tools/bench/results/DATE-GPU-NAME.txt, where NAME is families unless it is set.
set -eu
build=${1:-build}
seconds=${2:-240}
shift $(($# < 2 ? $# : 2))
command -v nvidia-smi >/dev/null || { echo "run_families.sh: no nvidia-smi: it needs a GPU" >&2 && exit 2; }
tools/bench/build_families.sh "$build"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0 | sed 's/.* //' | tr '[:upper:]' '[:lower:]')
mkdir -p tools/bench/results
"$build/families" --limit "$seconds" -o "tools/bench/results/$(date -u +%F)-$gpu-${NAME:-families}.txt" "$@"

#!/bin/bash
# Builds BUILD/families (default: build) of tools/bench/families where its sources are others than those it was built of: it may be built on one
# machine, ARCH=sm_90a tools/bench/build_families.sh, and carried with BUILD/families.sources to another.
set -eu
build=${1:-build}
sources=$(cat tools/bench/families/* include/* | cksum)
[[ -x $build/families && -f $build/families.sources && $(<"$build/families.sources") == "$sources" ]] && exit
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
"$nvcc" -O2 -std=c++17 -arch="${ARCH:-native}" --threads 0 -Iinclude tools/bench/families/*.cu -L"$build" -lcugen -lcublas \
  -lcublasLt -Xlinker '-rpath=$ORIGIN' -o "$build/families"
echo "$sources" >"$build/families.sources"

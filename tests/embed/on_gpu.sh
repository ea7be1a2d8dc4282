#!/bin/sh
# on_gpu.sh CUGEN PROGRAM...: runs the program on the first GPU; skipped where there is none.
set -eu
cugen=$1
shift
if ! "$cugen" devices | grep -q '^cuda:0'; then
  echo "skipped: no CUDA GPU"
  exit 77
fi
exec env CUGEN_DEVICE=cuda:0 "$@"

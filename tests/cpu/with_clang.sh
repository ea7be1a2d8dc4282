#!/bin/sh
# with_clang.sh PROGRAM...: runs the program with clang++ as the cpu device's compiler; skipped where there is none.
set -eu
if ! command -v clang++ >/dev/null; then
  echo "skipped: no clang++"
  exit 77
fi
exec env CUGEN_CXX=clang++ "$@"

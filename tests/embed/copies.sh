#!/bin/sh
# copies.sh TOOLKIT: compiles the programs of docs/examples/copies with nvcc. On a GPU (CUGEN_DEVICE=cuda:0) it runs them,
# too: their last line is "right". Without nvcc: skipped.
set -eu
PATH="$1/bin:$PATH"
if ! command -v nvcc >/dev/null; then
  echo "skipped: nvcc was not found (a CUDA toolkit)"
  exit 77
fi
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
source=$(cd "$(dirname "$0")/../../docs/examples/copies" && pwd)

for name in copies layouts; do
  nvcc -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -o "$top/$name" "$source/$name.cu"
  case ${CUGEN_DEVICE:-} in
  cuda:*) "$top/$name" >"$top/said" || { cat "$top/said"; exit 1; }
    cat "$top/said"
    test "$(tail -n 1 "$top/said")" = right ;;
  *) echo "$name: compiled, not run" ;;
  esac
done

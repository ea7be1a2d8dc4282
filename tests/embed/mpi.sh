#!/bin/sh
# mpi.sh BUILD INCLUDE: docs/examples/mpi on four ranks: rank 0 tunes, and all have its variant and the same bits. INCLUDE has cuda.h. Without Open MPI: skipped.
set -eu
build=$1
include=$2
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
  echo "skipped: mpicc or mpirun was not found (openmpi-bin, libopenmpi-dev)"
  exit 77
fi
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export CUGEN_CACHE="$top/cache.db" TMPDIR="$top"
source=$(cd "$(dirname "$0")/../.." && pwd)

mpicc -std=gnu11 -O2 -Wall -Wextra -Werror -I"$source/include" -isystem "$include" "$source/docs/examples/mpi/ranks.c" -L"$build" \
  -Wl,-rpath,"$build" -lcugen -ldl -o "$top/ranks"

# Open MPI refuses root and more ranks than processors unless told otherwise, and looks for networks that a container has not.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader \
  OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=
mpirun -np 4 "$top/ranks" >"$top/said" 2>"$top/errors" || { cat "$top/said" "$top/errors"; exit 1; }
cat "$top/said"
grep -q '^4 ranks: the same bits everywhere$' "$top/said"
test "$(grep -c '^rank [0-3] on ' "$top/said")" = 4
test "$(sed -n 's/^rank [0-3] on [^ ]*: //p' "$top/said" | sort -u | wc -l)" = 1

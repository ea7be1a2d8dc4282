#!/bin/bash
# Products on Hopper's tensor cores: run_products.sh table|tune [BUILD] [SECONDS] in the repository's root, on an H200 with a whole CUDA
# toolkit. BUILD (default: build) holds cugen and libcugen.so.
#
# table: every shape, type and layout beside the best of cuBLASLt's heuristics, in turns, bursts and sustained, the geometric mean at
#   the end, in at most SECONDS (default: 340); what it tunes stays in BUILD/products.db. Options of `families` may follow:
#   `--only fused` races a bias and GELU in the same pass beside cuBLASLt's own epilogue and beside cuBLASLt and a kernel after it.
# tune: how soon 60 s of tuning from nothing come how near to their own best, for five problems SECONDS (default: 60) for
#   the first and 15 for the others, then ncu on three variants: what the tensor cores and the warps do. Under 3 minutes.
# What it prints goes to bench/results/DATE-GPU-products-{table,tune}.txt too.
set -u
part=${1:-table}
build=${2:-build}
seconds=${3:-}
shift $(($# < 3 ? $# : 3))
if [[ $part == table ]]; then
  export NAME=products-table
  exec bench/run_families.sh "$build" "${seconds:-340}" --only hopper --cache "$build/products.db" --rounds 11 "$@"
fi

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0 | sed 's/.* //' | tr '[:upper:]' '[:lower:]')
mkdir -p bench/results
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
exec > >(tee "bench/results/$(date -u +%F)-$gpu-products-tune.txt") 2>&1
nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw,temperature.gpu --format=csv

# From nothing in steps that go on from each other: what is best after each, and how many variants that took.
tune() { # STEPS SETTINGS...
  local steps=$1 step
  shift
  echo "---- tune matmul $*"
  rm -f "$scratch"/c.db*
  for step in $steps; do
    "$build/cugen" tune matmul "$@" --budget "${step}s" --cache "$scratch/c.db" --json >"$scratch/$step.json" 2>"$scratch/log" ||
      cat "$scratch/log"
    python3 - "$scratch/$step.json" "$step" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
run, best = result["run"], (result["records"] or [{"seconds": 0, "variant": "none yet"}])[0]
print(f'  {sys.argv[2]:>3} s more: tried {run["tried"]} ({run["failed"]} failed), compiled {run["compiled"]}, the device at work '
      f'{100 * run["measuring"] / run["seconds"]:.0f}%; best {best["seconds"] * 1e6:.2f} us: {best["variant"]}')
END
  done
}
tune "2 3 5 10 20 $((${seconds:-60} - 40))" --set dtype=bf16
for shape in "M=512 N=512 K=32768" "M=16 N=4096 K=4096" "M=8192 N=8192 K=8192" "M=4096 N=2112 K=7168"; do
  settings=()
  for word in $shape layout_b=col; do settings+=(--set "$word"); done
  tune "3 4 8" --set dtype=bf16 "${settings[@]}"
done

profile() { # VARIANT SETTINGS...
  local variant=$1
  shift
  echo "---- ncu: $variant ($*)"
  timeout 40 ncu --target-processes all -k 'regex:^matmul_wgmma' -c 2 --metrics \
    sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__cycles_elapsed.max,gpu__time_duration.sum,lts__t_sectors.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed,smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio,smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio,smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio,smsp__average_warps_issue_stalled_wait_per_issue_active.ratio,smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio \
    "$build/cugen" run matmul --set dtype=bf16 --set layout_b=col "$@" --variant "$variant" --cache none --timeout 35 -q 2>&1 |
    grep -E '__|matmul_' | sed 's/^/  /'
}
if command -v ncu >/dev/null; then
  profile "wgmma BM=128 BN=256 cluster_x=1 group=16" --set M=4096 --set N=4096 --set K=4096
  profile "wgmma_stream BM=128 BN=256 cluster_x=2" --set M=512 --set N=512 --set K=32768
  profile "wgmma BM=64 BN=16 consumers=1 cluster_x=1 split_k=2 swap=true" --set M=16 --set N=4096 --set K=4096
fi
nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu --format=csv

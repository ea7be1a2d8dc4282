#!/bin/bash
# Products on Hopper's tensor cores: run_products.sh table|tune|rehearse [BUILD] [SECONDS] in the repository's root, on an H200 with a
# whole CUDA toolkit. BUILD (default: build) holds cugen and libcugen.so, and `families` if it was built before.
#
# table: every shape, type and layout beside the best of cuBLASLt's heuristics, and a bias and GELU in the same pass beside cuBLASLt's
#   own epilogue and beside cuBLASLt and a kernel after it, in turns: bursts, some of them sustained, the geometric means at the
#   end. In at most SECONDS (default: 600); what it tunes stays in BUILD/products.db, with which it goes on. Options of `families` may
#   follow: `--only fused`.
# tune: how soon 60 s of tuning from nothing come how near to the best of the same tuning after SECONDS more (default: 240), how
#   near 15 s come for four other problems, then ncu on three variants: what the tensor cores and the warps do. 7 minutes.
# rehearse: both without a GPU, in some minutes: are all problems and variants there, do they compile, does what is printed add up?
# What the first two print goes to tools/bench/results/DATE-GPU-products-{table,tune}.txt too.
set -u
part=${1:-table}
build=${2:-build}
seconds=${3:-}
shift $(($# < 3 ? $# : 3))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
device=()
first="2 3 5 10 20 20 ${seconds:-240}"
other="3 4 8"
[[ $part == table || -x $build/cugen ]] || { echo "run_products.sh: there is no $build/cugen" >&2 && exit 2; }
[[ $part == rehearse ]] || command -v nvidia-smi >/dev/null || { echo "run_products.sh: no nvidia-smi: it needs a GPU; 'rehearse' does not" >&2 && exit 2; }
case $part in
table)
  NAME=products-table tools/bench/run_families.sh "$build" "${seconds:-600}" --only hopper,fused --cache "$build/products.db" --rounds 11 "$@"
  exit
  ;;
rehearse)
  tools/bench/build_families.sh "$build" || exit
  "$build/families" --only hopper,fused --device model:H200 --budget "${seconds:-2}" --cache none "$@" || exit
  device=(--device model:H200)
  first="2 2"
  other="2"
  ;;
tune)
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0 | sed 's/.* //' | tr '[:upper:]' '[:lower:]')
  mkdir -p tools/bench/results
  exec > >(tee "tools/bench/results/$(date -u +%F)-$gpu-products-tune.txt") 2>&1
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw,temperature.gpu --format=csv
  ;;
*)
  sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2
  exit 2
  ;;
esac

# From nothing in steps that go on from each other: what is best after each, how near it is to the last one's, and how many variants that took.
tune() { # STEPS SETTINGS...
  local steps=$1 step number=0
  shift
  echo "---- tune matmul $*"
  rm -f "$scratch"/c.db* "$scratch"/*.json
  for step in $steps; do
    number=$((number + 1))
    "$build/cugen" tune matmul "${device[@]}" "$@" --budget "${step}s" --cache "$scratch/c.db" --json >"$scratch/$number.json" \
      2>"$scratch/log" || cat "$scratch/log"
  done
  python3 - "$scratch" "$number" <<'END'
import json, sys
folder, count = sys.argv[1], int(sys.argv[2])
steps = [json.load(open(f"{folder}/{i}.json")) for i in range(1, count + 1)]
bests = [(step["records"] or [{"seconds": float("inf"), "variant": "none yet"}])[0] for step in steps]
last = bests[-1]["seconds"]
seconds = tried = failed = 0
for run, best in zip((step["run"] for step in steps), bests):
    seconds, tried, failed = seconds + run["seconds"], tried + run["tried"], failed + run["failed"]
    print(f'  {seconds:6.1f} s: {tried} tried of {run["valid"]} ({failed} failed), the device at work '
          f'{100 * (run["measuring"] or 0) / run["seconds"]:.0f}%; best {best["seconds"] * 1e6:.2f} us, '
          f'{100 * last / best["seconds"]:.1f}%: {best["variant"]}')
END
}
tune "$first" --set dtype=bf16
for shape in "M=512 N=512 K=32768" "M=16 N=4096 K=4096" "M=8192 N=8192 K=8192" "M=4096 N=2112 K=7168"; do
  settings=()
  for word in $shape layout_b=col; do settings+=(--set "$word"); done
  tune "$other" --set dtype=bf16 "${settings[@]}"
done

metrics=sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active
metrics+=,sm__cycles_elapsed.max,gpu__time_duration.sum,lts__t_sectors.avg.pct_of_peak_sustained_elapsed
metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed
for stall in long_scoreboard barrier gmma wait sleeping branch_resolve membar; do
  metrics+=,smsp__average_warps_issue_stalled_${stall}_per_issue_active.ratio
done

under_ncu() { # OPTIONS OF NCU -- ARGUMENTS OF CUGEN RUN
  local options=()
  while [[ $1 != -- ]]; do options+=("$1") && shift; done
  shift
  timeout 40 ncu --clock-control none --target-processes all -k 'regex:^matmul_wgmma' -c 2 "${options[@]}" \
    "$build/cugen" run matmul --set dtype=bf16 --set layout_b=col --cache none --timeout 35 -q "$@" 2>&1
}

# Where this ncu does not know one of the metrics, the sections that it has.
profile() { # VARIANT SETTINGS...
  local variant=$1
  shift
  echo "---- ncu: $variant ($*)"
  under_ncu --metrics "$metrics" -- "$@" --variant "$variant" >"$scratch/ncu"
  grep -q 'sm__' "$scratch/ncu" ||
    under_ncu --section SpeedOfLight --section ComputeWorkloadAnalysis --section WarpStateStats -- "$@" --variant "$variant" >"$scratch/ncu"
  grep -v '^==PROF==' "$scratch/ncu" | sed 's/^/  /'
}
variants() {
  "$1" "wgmma BM=128 BN=256 cluster_x=1 group=16" --set M=4096 --set N=4096 --set K=4096
  "$1" "wgmma_stream BM=128 BN=256 cluster_x=2" --set M=512 --set N=512 --set K=32768
  "$1" "wgmma BM=64 BN=16 consumers=1 cluster_x=1 split_k=2 swap=true" --set M=16 --set N=4096 --set K=4096
}
show() { # VARIANT SETTINGS...
  "$build/cugen" gen matmul "${device[@]}" --set dtype=bf16 --set layout_b=col "${@:2}" --variant "$1" -q | head -n 1
}
if [[ $part == rehearse ]]; then
  variants show
  exit
fi
if command -v ncu >/dev/null; then variants profile; fi
nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu --format=csv

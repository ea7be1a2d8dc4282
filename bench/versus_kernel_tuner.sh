#!/bin/bash
# cugen beside Kernel Tuner: versus_kernel_tuner.sh FOLDER RESULTS KERNEL... in the repository's root, on a machine with a GPU.
# Each KERNEL (hotspot, gemm_milo, mtran, nbody, dedispersion, coulomb) is tuned by cugen and by two strategies of Kernel Tuner, with
# several seeds. FOLDER holds the configs, their references and the kernels' sources, which are not part of cugen (docs/performance.md
# names their origin). RESULTS, a folder, gets every run, so that `bench/versus_kernel_tuner.py median RESULTS...` can join several.
# The clock of both is the wall's, from the start of the process. What each found is timed again by one clock, cugen's, and verified.
#   CUGEN (build/cugen), PYTHON (python3, one that has kernel_tuner and cuda-bindings)
#   SEEDS ("1 2 3"), BUDGET (20: seconds of a run), LIMIT_S (560: no run starts that could end later)
#   TUNE (--device model:H100 ...: further options of cugen tune)
set -u
folder=${1:-}
results=${2:-}
shift $(($# < 2 ? $# : 2))
[[ -d $folder && -n $results && $# != 0 ]] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2; }
cugen=${CUGEN:-build/cugen} python=${PYTHON:-python3}
seeds=${SEEDS:-1 2 3} budget=${BUDGET:-20} limit=${LIMIT_S:-560}
read -ra options <<<"${TUNE:-}"
part() { "$python" "$(dirname "$0")/versus_kernel_tuner.py" "$@"; }
[[ -x $cugen ]] || { echo "versus_kernel_tuner.sh: there is no $cugen" >&2 && exit 2; }
mkdir -p "$results"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw,temperature.gpu --format=csv
echo "$(date -u +%F), $("$cugen" --version | head -n 1), Kernel Tuner $(part version), $budget s a run, seeds $seeds, $(nproc) processors"

room() { # SECONDS WHAT: whether so much of the limit is left
  ((SECONDS + $1 <= limit)) || { echo "left out, for want of time: $2" && false; }
}

run_cugen() { # KERNEL SEED
  local began
  began=$(date +%s.%N)
  timeout $((budget + 15)) "$cugen" tune "$folder/$1.lua" --budget "${budget}s" --seed "$2" --cache "$scratch/$1.$2.db" --json -q \
    "${options[@]}" >"$scratch/run.json" 2>"$results/$1.cugen.$2.log" || cat "$results/$1.cugen.$2.log"
  part convert "$1" "$2" "$began" "$scratch/run.json" "$results/$1.cugen.$2.run.json"
}

run_kernel_tuner() { # KERNEL STRATEGY SEED
  timeout $((budget + 15)) "$python" "$(dirname "$0")/versus_kernel_tuner.py" tune "$1" "$folder" "$2" "$3" "$budget" \
    "$(date +%s.%N)" "$results/$1.$2.$3.run.json" >"$results/$1.$2.$3.log" 2>&1 || tail -n 3 "$results/$1.$2.$3.log"
  rm -f "$results/$1.$2.$3.run.json.cache.json" "$results"/temp_*
}

for kernel in "$@"; do
  for seed in $seeds; do
    for tool in cugen greedy_ils genetic_algorithm; do
      room $((budget + 30)) "$kernel, $tool, seed $seed" || continue
      fresh="$scratch/$kernel.$tool.$seed" # no run finds what another compiled
      export XDG_CACHE_HOME=$fresh XDG_STATE_HOME=$fresh CUDA_CACHE_PATH=$fresh/nv
      if [[ $tool == cugen ]]; then run_cugen "$kernel" "$seed"; else run_kernel_tuner "$kernel" "$tool" "$seed"; fi
    done
  done
  timeout 40 "$cugen" tune "$folder/$kernel.lua" --where "$(part runners "$kernel" "$results")" --budget 25s --strategy exhaustive \
    --cache none --json -q "${options[@]}" >"$results/$kernel.again.json" 2>"$results/$kernel.again.log" ||
    cat "$results/$kernel.again.log"
  part table "$kernel" "$results" >"$results/$kernel.txt"
  echo "$kernel: done after $SECONDS s"
done
part table "$@" "$results" | tee "$results/table.txt"

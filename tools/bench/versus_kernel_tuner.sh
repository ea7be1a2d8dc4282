#!/bin/bash
# cugen beside Kernel Tuner: versus_kernel_tuner.sh FOLDER RESULTS KERNEL... in the repository's root, on a machine with a GPU.
# Each KERNEL of tools/bench/strangers is tuned by cugen and by two strategies of Kernel Tuner, with several seeds. FOLDER is what
# tools/bench/strangers/sources.sh makes: the configs, their references and the kernels' sources. Any other config there, or one that cugen
# ships, is tuned by cugen alone, with settings behind a colon: matmul:M=4096,N=4096,K=4096,dtype=bf16. RESULTS, a folder, gets every
# run; `tools/bench/versus_kernel_tuner.py median RESULTS...` joins several. A run that RESULTS has is not done again: where LIMIT_S ends the
# script first (exit code 3), the same command goes on with the rest. So
#   SEEDS="1 2 3 4 5" tools/bench/versus_kernel_tuner.sh FOLDER RESULTS hotspot gemm_milo mtran nbody dedispersion coulomb
# takes four or five calls of nine minutes, with RESULTS carried from one to the next. PLAN=1 prints what is left and runs nothing.
# The clock of both is the wall's, from the start of the process. What each found is timed again by one clock, cugen's, and verified.
#   CUGEN (build/cugen), PYTHON (python3, one that has kernel_tuner and cuda-bindings)
#   SEEDS ("1 2 3"), BUDGET (20: seconds of a run), LIMIT_S (520: no run starts that could end later)
#   TOOLS ("cugen greedy_ils genetic_algorithm"), TUNE (--device model:H100 ...: further options of cugen tune)
set -u
folder=${1:-}
results=${2:-}
shift $(($# < 2 ? $# : 2))
[[ -d $folder && -n $results && $# != 0 ]] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2; }
cugen=${CUGEN:-build/cugen} python=${PYTHON:-python3}
seeds=${SEEDS:-1 2 3} budget=${BUDGET:-20} limit=${LIMIT_S:-520}
read -ra options <<<"${TUNE:-}"
read -ra wanted <<<"${TOOLS:-cugen greedy_ils genetic_algorithm}"
plan=${PLAN:-}
left=0
part() { "$python" "$(dirname "$0")/versus_kernel_tuner.py" "$@"; }
[[ -n $plan || -x $cugen ]] || { echo "versus_kernel_tuner.sh: there is no $cugen" >&2 && exit 2; }
mkdir -p "$results"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[[ -z $plan ]] && command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw,temperature.gpu --format=csv
[[ -n $plan ]] || echo "$(date -u +%F), $("$cugen" --version | head -n 1), Kernel Tuner $(part version), $budget s a run, seeds $seeds, $(nproc) processors"

room() { # SECONDS WHAT: whether so much of the limit is left
  if [[ -z $plan ]] && ((SECONDS + $1 <= limit)); then return; fi
  echo "left: $2"
  left=$((left + 1))
  false
}

name_of() { # KERNEL, with settings or without: a file's name
  tr ':,=' '...' <<<"$1"
}

config_of() { # KERNEL: its config and settings, as words of a command
  local settings=${1#*:}
  words=("$folder/${1%%:*}.lua")
  [[ -f ${words[0]} ]] || words=("${1%%:*}")
  [[ $1 == *:* ]] && for setting in ${settings//,/ }; do words+=(--set "$setting"); done
  true
}

has_run() { # KERNEL TOOL SEED: a run that broke off left no file, or an empty one
  [[ -s $results/$1.$2.$3.run.json ]]
}

run_cugen() { # KERNEL SEED; words
  local began
  began=$(date +%s.%N)
  timeout $((budget + 15)) "$cugen" tune "${words[@]}" --budget "${budget}s" --seed "$2" --cache "$scratch/$1.$2.db" --json -q \
    "${options[@]}" >"$scratch/run.json" 2>"$results/$1.cugen.$2.log" || cat "$results/$1.cugen.$2.log"
  part convert "$1" "$2" "$began" "$scratch/run.json" "$results/$1.cugen.$2.run.json"
}

run_kernel_tuner() { # KERNEL STRATEGY SEED
  timeout $((budget + 15)) "$python" "$(dirname "$0")/versus_kernel_tuner.py" tune "$1" "$folder" "$2" "$3" "$budget" \
    "$(date +%s.%N)" "$results/$1.$2.$3.run.json" >"$results/$1.$2.$3.log" 2>&1 || tail -n 3 "$results/$1.$2.$3.log"
  rm -f "$results/$1.$2.$3.run.json.cache.json" "$results"/temp_*
}

names=()
for one in "$@"; do
  kernel=$(name_of "$one") missing=$left
  names+=("$kernel")
  config_of "$one"
  part knows "$one" && told=1 || told=
  for seed in $seeds; do
    for tool in "${wanted[@]}"; do
      [[ $tool == cugen || -n $told ]] || continue
      has_run "$kernel" "$tool" "$seed" && continue
      room $((budget + 30)) "$kernel, $tool, seed $seed" || continue
      fresh="$scratch/$kernel.$tool.$seed" # no run finds what another compiled
      export XDG_CACHE_HOME=$fresh XDG_STATE_HOME=$fresh CUDA_CACHE_PATH=$fresh/nv
      if [[ $tool == cugen ]]; then run_cugen "$kernel" "$seed"; else run_kernel_tuner "$kernel" "$tool" "$seed"; fi
    done
  done
  # One clock for all, once all have run; where it finds some of them wrong, for those that come next.
  [[ $left == "$missing" && -n $told ]] || continue
  for pass in {1..9}; do
    chosen=$(part runners "$kernel" "$results")
    [[ -n $chosen ]] || break
    [[ -s $results/$kernel.again.$pass.json ]] && continue
    room 45 "$kernel, what was found, by one clock" || continue 2
    timeout 40 "$cugen" tune "${words[@]}" --where "$chosen" --budget 25s --strategy exhaustive \
      --cache none --json -q "${options[@]}" >"$results/$kernel.again.$pass.json" 2>"$results/$kernel.again.$pass.log" ||
      cat "$results/$kernel.again.$pass.log"
  done
  part table "$kernel" "$results" >"$results/$kernel.txt"
  echo "$kernel: done after $SECONDS s"
done
[[ -n $plan ]] && echo "$left left" && exit
part table "${names[@]}" "$results" | tee "$results/table.txt"
((left == 0)) || { echo "$left left: the same command goes on" && exit 3; }

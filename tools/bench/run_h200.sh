#!/bin/bash
# The measurements that need a GPU, in under four minutes: run_h200.sh [FOLDER] in the repository's root, where FOLDER
# (default: build) holds cugen and the programs of `ninja bench`. Nothing is built, and nothing but the toolkit's
# NVRTC, the driver and Python (to read JSON) is needed. What it prints is kept under tools/bench/results.
set -u
programs=${1:-build}
export TMPDIR=/dev/shm
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

heading() { printf '\n---- %s\n' "$*"; }

# The coordinating thread's processor time so far, in seconds: columns 14 and 15 of its line in /proc.
thread_seconds() {
  sed 's/.*) //' "/proc/$1/task/$1/stat" 2>/dev/null |
    awk -v ticks="$(getconf CLK_TCK)" '{ printf "%.2f", ($12 + $13) / ticks }'
}

# tune BUDGET SETTINGS...: compiles a second, the device's share of the time, the coordinating thread's.
tune() {
  local budget=$1 used=0 now
  shift
  "$programs/cugen" tune matmul "$@" --budget "$budget" --cache "$scratch/tune.db" --json >"$scratch/tune.json" \
    2>"$scratch/tune.log" &
  local pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    now=$(thread_seconds "$pid")
    [[ -n $now ]] && used=$now
    sleep 0.2
  done
  wait "$pid" || cat "$scratch/tune.log"
  python3 - "$scratch/tune.json" "$used" "$*" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))["run"]
seconds, used = result["seconds"], float(sys.argv[2])
print(f'{sys.argv[3]}: tried {result["tried"]}, compiled {result["compiled"]} in {seconds:.1f} s = '
      f'{result["compiled"] / seconds:.2f} compiles/s; the device at work {100 * result["measuring"] / seconds:.0f}% of it; '
      f'the coordinating thread {100 * used / seconds:.1f}% of one core')
END
}

heading "machine"
lscpu | grep -E '^(Model name|CPU\(s\)|Thread)'
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu --format=csv
heading "launch: bar within 5% of cuLaunchKernel"
"$programs/bench_launch"
heading "remembered: bar < 5 ms beyond the context"
"$programs/bench_remembered" 21 10
"$programs/bench_remembered" 21 5000
heading "gen: bar < 30 ms"
"$programs/bench_gen" "$programs/cugen" 20 5000
heading "compile: bar >= 0.85 of NVRTC's own rate"
"$programs/bench_compile" "$(nproc)" "$((10 * $(nproc)))" 3
heading "tune: compiles a second while tuning (limited by compiling), and where the device is the limit"
tune 40s -s M=480 -s N=320 -s K=640
tune 25s -s M=4096 -s N=4096 -s K=4096

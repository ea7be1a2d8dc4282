#!/bin/bash
# Kernels that others published: run_strangers.sh FOLDER [BUILD] [BUDGET] [OPTIONS OF TUNE...]
# Tunes every config of FOLDER from nothing, BUDGET each (default: 20 s; 100v: 100 variants), and prints a table: the size of the
# space, what was tried, what failed and why, and the best variant. tools/bench/strangers/sources.sh makes FOLDER: the configs, their
# references, and the kernels' own sources, which are not part of cugen. BUILD (default: build) holds cugen. Further words go
# to `cugen tune`: `--device cpu` runs the check problems on this processor, `--device model:H200` predicts. On a GPU the table also
# goes to tools/bench/results/DATE-GPU-strangers.txt.
# KEEP=FOLDER keeps each config's JSON there; what is there already is shown and not run again.
set -u
folder=${1:-}
build=${2:-build}
budget=${3:-20}
[[ $budget =~ ^[0-9]+$ ]] && budget=${budget}s
limit=${budget%v} # 100v: 100 variants
shift $(($# < 3 ? $# : 3))
[[ -d $folder ]] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2; }
[[ -x $build/cugen ]] || { echo "run_strangers.sh: there is no $build/cugen" >&2 && exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
kept=${KEEP:-$scratch}
mkdir -p "$kept"
if [[ $# == 0 ]] && command -v nvidia-smi >/dev/null; then
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0 | sed 's/.* //' | tr '[:upper:]' '[:lower:]')
  mkdir -p tools/bench/results
  exec > >(tee "tools/bench/results/$(date -u +%F)-$gpu-strangers.txt") 2>&1
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw,temperature.gpu --format=csv
fi
echo "$(date -u +%F), cugen $("$build/cugen" --version | head -n 1), $budget a config, $(nproc) processors; options: ${*:-none}"
for config in "$folder"/*.lua; do
  name=$(basename "$config" .lua)
  if [[ ! -s $kept/$name.json ]]; then
    "$build/cugen" tune "$config" --budget "$limit" --cache "$scratch/$name.db" --json "$@" >"$kept/$name.json" 2>"$kept/$name.log"
    echo $? >"$kept/$name.exit"
  fi
  python3 - "$name" "$(cat "$kept/$name.exit")" "$kept/$name.json" "$kept/$name.log" <<'END'
import collections, json, sys
name, code, out, log = sys.argv[1:]
try:
    told = json.load(open(out))
except ValueError:
    print(f"{name}: exit {code}: {open(log).read().strip()[-600:]}")
    sys.exit()
run, records = told["run"], told["records"]
outcomes = collections.Counter(record["outcome"] for record in records)
print(f'{name}: {run["valid"]:,} variants, {run["tried"]} tried in {run["seconds"]:.1f} s, exit {code}; '
      + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
best = next((record for record in records if record["outcome"] == "ok"), None)
if best:
    print(f'  best {best["seconds"] * 1e3:.4g} ms: {best["variant"]}')
seen = set()
for record in records:
    if record["outcome"] != "ok" and record["outcome"] not in seen:
        seen.add(record["outcome"])
        print(f'  {record["outcome"]}, such as {record["variant"]}\n    ' + record["reason"].strip().replace("\n", "\n    ")[:700])
END
done

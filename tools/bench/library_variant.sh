#!/bin/bash
# A library's kernels as variants of matmul: library_variant.sh [BUILD] [SECONDS] in the repository's root, on a machine with a GPU and
# cuBLASLt. BUILD (default: build) holds cugen. SECONDS (default: 30) is the budget of each tuning.
#
# First the library's first algorithm is verified for every type and layout: what cuBLASLt does not have is listed with its reason, and
# a wrong result ends the script with 1. Then six shapes of different types are tuned with the library and without it, and the best of
# both caches are timed in turns, so that both times are of the same minute. What is printed goes to
# tools/bench/results/DATE-GPU-library.txt too.
set -u
build=${1:-build}
seconds=${2:-30}
cugen=$build/cugen
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[[ -x $cugen ]] || { echo "library_variant.sh: there is no $cugen" >&2 && exit 2; }
command -v nvidia-smi >/dev/null || { echo "library_variant.sh: no nvidia-smi: it needs a GPU" >&2 && exit 2; }
"$cugen" devices | grep '^cublasLt:' || { echo "library_variant.sh: cugen finds no cuBLASLt" >&2 && exit 2; }
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader --id=0 | sed 's/.* //' | tr '[:upper:]' '[:lower:]')
mkdir -p tools/bench/results
exec > >(tee "tools/bench/results/$(date -u +%F)-$gpu-library.txt") 2>&1
nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw,temperature.gpu --format=csv

wrong=0
# Verifies the first algorithm for one problem.
check() { # SETTING...
  local settings=() one
  for one in "$@"; do settings+=(--set "$one"); done
  "$cugen" run matmul "${settings[@]}" --variant "cublaslt algorithm=0" --cache none --json >"$scratch/run.json" 2>"$scratch/log"
  python3 - "$scratch/run.json" "$scratch/log" "$*" <<'END'
import json, sys
try:
    printed = json.load(open(sys.argv[1]))
except ValueError:
    printed = {"error": {"message": open(sys.argv[2]).read()}}
record = printed.get("record")
if not record:
    text = printed["error"]["message"].strip().split("\n")[0]
    print(f"  {'refused' if 'requires' in text else 'FAILED':8} {sys.argv[3]}: {text}")
    sys.exit("requires" not in text)
if record["outcome"] == "ok" and record["verified"]:
    print(f"  right    {sys.argv[3]}: error {record['error']:.3g} of the tolerance, {1e6 * record['seconds']:.2f} us")
elif record["outcome"] == "launch" and "cublasLt has no algorithm" in record["reason"]:
    print(f"  none     {sys.argv[3]}: {record['reason']}")
else:
    print(f"  FAILED   {sys.argv[3]}: {record['outcome']}: {record['reason'] or record['unverified']}")
    sys.exit(1)
END
  wrong=$((wrong + $?))
}

echo "---- every type and layout"
for dtype in f32 tf32 f64 f16 bf16 e4m3 e5m2 i8; do
  for a in row col; do
    for b in row col; do
      for c in row col; do
        check M=528 N=272 K=400 dtype=$dtype layout_a=$a layout_b=$b layout_c=$c
      done
    done
  done
done
echo "---- odd sizes, pitches, batches, what is fused"
for dtype in f32 tf32 f64 f16 bf16; do
  check M=131 N=260 K=37 dtype=$dtype
  check M=131 N=260 K=37 dtype=$dtype layout_a=col layout_c=col
  check M=1 N=4096 K=4096 dtype=$dtype layout_b=col
  check M=131 N=260 K=37 dtype=$dtype pitched=true
  check M=131 N=260 K=37 dtype=$dtype batch=5
  check M=131 N=260 K=37 dtype=$dtype batch=5 layout_a=col layout_b=col layout_c=col
  check M=528 N=272 K=400 dtype=$dtype scaled=true
  check M=528 N=272 K=400 dtype=$dtype scaled=true batch=3 layout_c=col
  check M=528 N=272 K=400 dtype=$dtype biased=true
  check M=528 N=272 K=400 dtype=$dtype activation=relu
  check M=528 N=272 K=400 dtype=$dtype scaled=true biased=true activation=gelu
done
for dtype in f16 bf16 e4m3; do check M=528 N=272 K=400 dtype=$dtype dtype_c=f32 layout_b=col; done
for dtype in e4m3 i8; do
  check M=528 N=272 K=400 dtype=$dtype layout_b=col batch=3
  check M=528 N=272 K=400 dtype=$dtype layout_b=col pitched=true
done
check M=528 N=272 K=400 dtype=e4m3 layout_b=col biased=true activation=gelu

echo "---- with the library and without it, $seconds s each"
shape() { # SETTING...
  local settings=() one
  for one in "$@"; do settings+=(--set "$one"); done
  "$cugen" tune matmul "${settings[@]}" --budget "${seconds}s" --cache "$scratch/with.db" -q >/dev/null 2>"$scratch/log" || cat "$scratch/log"
  "$cugen" tune matmul "${settings[@]}" --budget "${seconds}s" --cache "$scratch/without.db" --no-library -q >/dev/null 2>"$scratch/log" ||
    cat "$scratch/log"
  for turn in 1 2 3; do
    "$cugen" run matmul "${settings[@]}" --cache "$scratch/with.db" --json >"$scratch/with$turn.json" 2>"$scratch/log" || cat "$scratch/log"
    "$cugen" run matmul "${settings[@]}" --cache "$scratch/without.db" --no-library --json >"$scratch/without$turn.json" 2>"$scratch/log" ||
      cat "$scratch/log"
    "$cugen" run matmul "${settings[@]}" --variant "cublaslt algorithm=0" --cache none --json >"$scratch/first$turn.json" 2>"$scratch/log" ||
      cat "$scratch/log"
  done
  python3 - "$scratch" "$*" <<'END'
import json, statistics, sys
def best(name):
    records = [json.load(open(f"{sys.argv[1]}/{name}{turn}.json"))["record"] for turn in (1, 2, 3)]
    return records[0]["variant"], statistics.median(record["seconds"] for record in records)
took = {name: best(name) for name in ("with", "without", "first")}
print(f"  {sys.argv[2]}")
for name, what in (("with", "with the library"), ("without", "without"), ("first", "its first")):
    variant, seconds = took[name]
    print(f"    {what:17} {1e6 * seconds:10.2f} us  {seconds / took['with'][1]:6.3f}  {variant}")
END
}
shape M=4096 N=4096 K=4096 dtype=bf16
shape M=4096 N=4096 K=4096 dtype=e4m3 layout_b=col
shape M=2048 N=2048 K=2048 dtype=f32
shape M=1000 N=1000 K=1000 dtype=f64
shape M=16 N=8192 K=8192 dtype=f16 layout_b=col
shape M=4096 N=1024 K=1024 dtype=tf32 biased=true activation=gelu

echo "---- $wrong of the checks failed"
exit $((wrong > 0))

#!/bin/bash
# What docs/memory.md measures: guide.sh [CUGEN [KIND...]], about three minutes on a GPU. The commands are those that tools/check-guide
# finds in docs/memory.md.in; KIND is run, ncu, check or any other command's name, and none means all. Every run is verified first. What
# it prints is kept as tools/bench/results/DATE-GPU-guide.txt, or, of `check` alone, which needs no GPU, as DATE-guide-check.txt. Where a
# run or check ends with another exit code than 0, "failed" stands below it.
set -uo pipefail
cugen=${1:-build/cugen}
shift
here=$(dirname "$0")
figures=$(mktemp)
trap 'rm -f "$figures" "$figures.copies"' EXIT
cat >"$figures" <<'END_OF_PYTHON'
import json, sys
try:
    got = json.load(sys.stdin)
except ValueError:
    sys.exit(1)
def rate(value):
    return "-" if value is None else f"{value / 1e9:,.1f}"
for t in got.get("traffic", []):
    print(f'    {t["memory"]} {t["access"]} of {t["array"]}: {t["requests"]:,.0f} requests, {t["needed"]:,.0f} needed, {t["ideal"]:,.0f} at the fewest')
r = got.get("record")
if r and r["outcome"] != "ok":
    print(f'    {r["outcome"]}: {r["reason"]}')
elif r:
    roofline = "" if r["roofline"] is None else f', {100 * r["roofline"]:.1f}% of the {r["roofline_of"]} roofline'
    occupancy = "" if r["occupancy"] is None else f', occupancy {100 * r["occupancy"]:.0f}% ({r["limiter"]})'
    print(f'    {r["seconds"] * 1e6:,.2f} us, {rate(r["bytes_per_second"])} GB/s, {rate(r["flops_per_second"])} GFLOP/s'
          f'{roofline}{occupancy}: {r["variant"]}')
END_OF_PYTHON

global=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
global+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
memory=dram__sectors_read.sum,dram__sectors_write.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum
# Of the first timed launch, with caches emptied before.
count=(ncu --profile-from-start off --target-processes all --clock-control none -c 1 --metrics)

wanted() { # KIND KIND...: whether the first is among the others
  local kind=$1 one
  shift
  [[ $# == 0 ]] && return 0
  for one; do [[ $one == "$kind" ]] && return 0; done
  return 1
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw --format=csv 2>/dev/null
date -u +%Y-%m-%d
if wanted run "$@"; then "$cugen" roofline -q >/dev/null 2>&1; fi # measured before it is drawn on

words=()
"$here/../check-guide" --commands | while IFS= read -r line; do
  eval "words=($line)"
  wanted "${words[0]}" "$@" || continue
  case ${words[0]} in
  run)
    echo "\$ cugen $line"
    timeout 60 "$cugen" "${words[@]}" --json 2>/dev/null </dev/null | python3 "$figures" || echo "    failed"
    ;;
  check)
    echo "\$ cugen $line"
    timeout 100 "$cugen" "${words[@]}" --json 2>/dev/null </dev/null | python3 "$figures" || echo "    failed"
    ;;
  ncu)
    echo "\$ ncu cugen ${line#ncu }"
    timeout 60 "${count[@]}" $global,$shared,$memory "$cugen" "${words[@]:1}" --cache none --timeout 30 -q 2>&1 </dev/null |
      awk '/, Context / { sub(/^ */, ""); print "    " $0 } /(l1tex|lts|dram)__/ { printf "    %-66s %s\n", $1, $NF } /No kernels|==ERROR==/'
    ;;
  bench_host)
    echo "\$ bench_host"
    timeout 120 "$(dirname "$cugen")/bench_host" 2>/dev/null
    ;;
  copies)
    echo "\$ copies"
    nvcc -o "$figures.copies" "$here/../../docs/examples/copies/copies.cu" && timeout 60 "$figures.copies" 2>/dev/null
    ;;
  python3)
    echo "\$ $line"
    timeout 60 "${words[@]}" 2>&1 </dev/null | sed 's/^/    /'
    ;;
  *)
    echo "\$ cugen $line"
    timeout 200 "$cugen" "${words[@]}" 2>/dev/null </dev/null
    ;;
  esac
done

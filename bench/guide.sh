#!/bin/bash
# The figures of docs/memory.md, each behind the command that gives it: guide.sh [CUGEN], about two minutes on a GPU.
# Every run is verified first. What it prints is kept under bench/results.
set -u
cugen=${1:-build/cugen}
python=$(mktemp)
trap 'rm -f "$python"' EXIT
cat >"$python" <<'END'
import json, sys
try:
    r = json.load(sys.stdin)["record"]
except Exception:
    sys.exit("    failed")
def rate(value):
    return "-" if value is None else f"{value / 1e9:,.1f}"
roofline = "" if r["roofline"] is None else f', {100 * r["roofline"]:.1f}% of the {r["roofline_of"]} roofline'
occupancy = "" if r["occupancy"] is None else f', occupancy {100 * r["occupancy"]:.0f}% ({r["limiter"]})'
print(f'    {r["seconds"] * 1e6:,.2f} us, {rate(r["bytes_per_second"])} GB/s, {rate(r["flops_per_second"])} GFLOP/s{roofline}{occupancy}: '
      f'{r["variant"]}' if r["outcome"] == "ok" else f'    {r["outcome"]}: {r["reason"]}')
END

heading() { printf '\n---- %s\n' "$*"; }
show() { # any command, as it is
  echo "\$ cugen $*"
  "$cugen" "$@" 2>&1
}
# run CONFIG [--set ...] --variant TEXT: one variant, its time in one line.
run() {
  printf '$ cugen run'
  for word; do if [[ $word == *' '* ]]; then printf ' "%s"' "$word"; else printf ' %s' "$word"; fi; done
  echo
  timeout 60 "$cugen" run "$@" --json 2>/dev/null | python3 "$python"
}

heading "machine"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw --format=csv 2>/dev/null
date -u +%Y-%m-%d
show roofline -q

heading "host and device"
show transfer -q
for n in 1024 67108864; do
  for kind in device managed mapped; do run reader --set n=$n --variant "stream memory_kind=$kind"; done
done
for kind in device mapped; do run reader --set passes=16 --variant "stream memory_kind=$kind"; done

heading "pitch"
for width in 15 128 255; do
  echo "\$ cugen show copy --set width=$width --set height=100 --set pitched=true"
  "$cugen" show copy --set width=$width --set height=100 --set pitched=true 2>/dev/null | grep 'input  *x'
done

heading "alignment, stride, scatter"
for offset in 0 1 8; do run access --set load_offset=$offset --variant "elements loads=4"; done
for stride in 2 4 8 16 32; do run access --set load_stride=$stride --variant "elements loads=4"; done
for stride in 2 8; do run access --set store_stride=$stride --variant "elements loads=4"; done
run access --set scattered=true --variant "elements loads=4"
for through in l1 l2 read_only streaming; do run access --variant "elements loads=4 load_through=$through"; done

heading "bytes in flight"
run copy --variant "element threads=256"
for loads in 1 2 4; do run copy --variant "vector access=4 loads=$loads threads=256 blocks_per_sm=0"; done
for loads in 1 2 4; do run copy --variant "vector access=16 loads=$loads threads=256 blocks_per_sm=0"; done
run copy --variant "bulk"

heading "transpose"
for rung in coalesced_read coalesced_write conflicts padded swizzled registers vector; do run transpose --variant $rung; done
run transpose --variant "padded tile=64 rows_per_thread=8"
run transpose --variant "vector tile_rows=64 tile_cols=128"
for bank in plain pad xor; do run transpose --variant "vector bank=$bank"; done

heading "matmul"
for rung in "naive block_x=16 block_y=16" "naive block_x=16 block_y=16 columns_along=y" "tiled tile=16" "tiled tile=32" "blocked" "pipelined BM=128 BN=256 BK=16 TM=16 TN=8 lanes_m=4 stages=4"; do
  run matmul --set M=4800 --set K=6400 --set N=3200 --variant "$rung"
done

heading "reduce"
for rung in global static dynamic shuffle vector onepass; do run reduce --set cols=100000000 --variant $rung; done
for rung in vector onepass; do run reduce --set cols=1048576 --variant "$rung threads=512 items=2"; done

heading "filter"
for rung in "naive weights_in=global" "naive weights_in=shared" "naive weights_in=constant" "naive image_in=texture" \
  "naive image_in=array" "tiled" "strips block_x=64 block_y=2 vec=4 strip=8 resident=1024"; do
  run filter --variant "$rung"
done

heading "layout"
for group in 1 4 32 0; do run particles --variant "plain group=$group"; done

heading "occupancy"
show occupancy --device model:V100 --registers 64 --block 256
show occupancy --device model:V100 --registers 65 --block 256
show occupancy --device model:V100 --registers 129 --block 256
for shared in 3072 6144 12288; do show occupancy --device model:K40 --block 128 --shared $shared; done

heading "counted by the hardware, of one timed launch with its caches emptied"
# count METRICS CONFIG ...: metrics of the first timed launch, which is on the stated problem.
count() {
  local metrics=$1
  shift
  printf '$ cugen run'
  for word; do if [[ $word == *' '* ]]; then printf ' "%s"' "$word"; else printf ' %s' "$word"; fi; done
  echo
  timeout 40 ncu --target-processes all --profile-from-start off -c 1 --metrics "$metrics" \
    "$cugen" run "$@" --cache none --timeout 30 -q 2>&1 |
    awk '/^ *[A-Za-z_]+.*Context/ { sub(/^ */, ""); print "    " $0 } /(l1tex|lts|dram)__/ { printf "    %-76s %s\n", $1, $NF } /No kernels|==ERROR==/'
}
global=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
global+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
shared+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
memory=dram__sectors_read.sum,dram__bytes_read.sum,lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum
if command -v ncu >/dev/null; then
  for stride in 1 2 4 8 16 32; do
    count $global,$memory access --set n=1048576 --set load_stride=$stride --variant "elements loads=1"
  done
  for settings in load_offset=1 load_offset=8 scattered=true store_stride=2 store_stride=8; do
    count $global,$memory access --set n=1048576 --set $settings --variant "elements loads=1"
  done
  for variant in coalesced_read coalesced_write conflicts padded swizzled "vector bank=plain" "vector bank=pad" "vector bank=xor"; do
    count $global,$shared transpose --set rows=1024 --set cols=1024 --set batch=1 --variant "$variant"
  done
fi

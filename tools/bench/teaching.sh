#!/bin/bash
# The teaching implementations of every family, measured and verified: teaching.sh OUT [CUGEN] in the repository's root, on a GPU;
# about four minutes. OUT gets teaching.wisdom.xz, the records, and teaching.log. The records of an H200 are
# tools/bench/results/2026-11-23-h200-teaching.wisdom.xz: tests/nvrtc/teaching.py holds the model to their order, bench_model judges it by them.
set -u
out=${1:?a folder for the results}
cugen=${2:-build/cugen}
mkdir -p "$out"
{ nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader; date -u +%F; } >"$out/teaching.log"

# t CONFIG OPTION...: measures every variant that the options leave.
t() {
  local from=$SECONDS
  timeout 90 "$cugen" tune "$@" --budget none --strategy exhaustive --timeout 20s --cache "$out/teaching.db" -q >"$out/last" 2>&1
  echo "[$((SECONDS - from)) s, exit $?] cugen tune $*" >>"$out/teaching.log"
}

blocked="blocked BM=128 BN=128 BK=8 TM=8 TN=8 vec=4 pad=4 double_buffer=true group=1 min_blocks=1"
pipelined="pipelined BM=64 BN=128 BK=16 TM=8 TN=8 lanes_m=8 stages=4 order=rows bursts=1 group=8"
for size in "4800 3200 6400" "2048 2048 2048"; do
  read -r m n k <<<"$size"
  product=(matmul --set "M=$m" --set "N=$n" --set "K=$k")
  t "${product[@]}" --implementation naive --where "block_x * block_y == 256 or block_x == 32 and block_y == 32 and columns_along == 'x'"
  for variant in tiled "$blocked" "$pipelined"; do t "${product[@]}" --variant "$variant"; done
done
product=(matmul --set M=1024 --set N=1024 --set K=1024)
for variant in naive tiled "$blocked" "$pipelined"; do t "${product[@]}" --variant "$variant"; done
t "${product[@]}" --set dtype=f64 --implementation naive,tiled

for n in 8192 4096 1024; do
  transpose=(transpose --set "rows=$n" --set "cols=$n")
  t "${transpose[@]}" --implementation "coalesced*,conflicts,padded,swizzled"
  t "${transpose[@]}" --variant "registers access=16 lanes_across=8 warps_across=2 warps_down=8 down_first=true"
  t "${transpose[@]}" --variant "vector access=16 tile_rows=64 tile_cols=64 blocks=1 down_first=true carveout_percent=-1"
done

for n in 100000000 16777216 1048576; do
  t reduce --set "cols=$n" --implementation "global,static,dynamic,shuffle" --where "threads <= 256"
  for variant in vector onepass; do t reduce --set "cols=$n" --variant "$variant threads=256 items=2 per_sm=8"; done
  t sum --set "n=$n"
done

for n in 100000000 67108864 16777216; do
  t copy --set "width=$n" --implementation element
  t copy --set "width=$n" --implementation vector --where "threads == 256 and blocks_per_sm == 0 and load_through == 'l1' and access >= 4" --all
  t copy --set "width=$n" --variant "bulk piece=16384 stages=4"
done
for variant in element tile; do t copy --set width=8192 --set height=8192 --variant "$variant"; done

for loads in 1 4; do
  variant="elements threads=256 loads=$loads load_through=l1 store_as=plain"
  for offset in 0 1 8; do t access --set "load_offset=$offset" --variant "$variant"; done
  for stride in 1 2 4 8 16 32; do t access --set n=16777216 --set "load_stride=$stride" --variant "$variant"; done
  for stride in 2 4 8 32; do t access --set n=16777216 --set "store_stride=$stride" --variant "$variant"; done
  for setting in scattered=true broadcast=true active_lanes=8 active_lanes=16; do t access --set "$setting" --variant "$variant"; done
done

for n in 8192 4096; do
  filter=(filter --set "rows=$n" --set "cols=$n")
  t "${filter[@]}" --variant "naive block_x=32 block_y=8"
  t "${filter[@]}" --variant "tiled weights_in=constant image_in=global"
  t "${filter[@]}" --variant "strips weights_in=constant block_x=64 block_y=2 vec=4 strip=8 unrolled=true resident=1024"
done

for n in 16777216 1048576; do t particles --set "n=$n" --variant "plain block=128 per_thread=1"; done
for setting in n=67108864 "n=16777216 --set passes=16"; do
  # shellcheck disable=SC2086 # two settings
  t reader --set $setting --variant "stream memory_kind=device"
done

"$cugen" cache export --cache "$out/teaching.db" -o "$out/teaching.wisdom" -q && xz -9 -f "$out/teaching.wisdom"
rm -f "$out/last"

// C = A * B, blocked three times: a block of threads computes a BM x BN tile of C, a warp a WM x WN part of it, a
// thread TM x TN elements in registers. Tiles of A and B travel from global to shared memory by asynchronous copies,
// stages - 1 of them ahead of the one that is being multiplied.
//
// The rate at which instructions are issued is the limit, so the inner loop has next to nothing besides multiply-adds:
// no check of the matrix's edges, no value of global memory on its way through registers, and a phase's addresses
// are constants from one base.
//@ if packed then
// An earlier launch (lib/pack_operands.cuh) has laid out anew the operands that copies of 16 bytes cannot move as they lie.
//@ end
//@ if split > 1 then
// The blocks of a tile each take a part of K; the block that leaves its sums last adds up the sums of all.
//@ end

//@ include "lib/pack.cuh"
//@ include "lib/async_tile.cuh"
//@ include "lib/batch.cuh"
//@ include "lib/tile_by_elements.cuh"
//@ include "lib/tile_copies.cuh"
//@ if split > 1 then
//@   include "lib/last_part.cuh"
//@ end

//@ local lead_a = BM + pad_a
//@ local lead_b = BN + pad_b
using tile_a = async_tile<dtype, BM, BK, ${lead_a}, ${width_a}, threads, ${transposed_a}>;
using tile_b = async_tile<dtype, BN, BK, ${lead_b}, ${width_b}, threads, ${transposed_b}>;
//@ if packed then
//@   include "lib/pack_operands.cuh"
//@ end

__global__ void __launch_bounds__(threads, 1) matmul_pipelined(${params}) {
  dtype *const shared = ring.at(0, 0); // stages of a tile of A and one of B, so that one offset serves both
  constexpr int stage_a = BK * ${lead_a};
  constexpr int stage = stage_a + BK * ${lead_b};

//@ include "lib/grouped_tiles.cuh"

  // This thread's first row and column within the block's tile. Neighbouring lanes share columns in pairs and rows
  // from one pair to the next, so that the hardware merges what half a warp loads into one access of 128 bytes.
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = warp / warps_n * WM + (lane / (2 * lanes_n) * 2 + lane % 2) * slice;
  const int col = warp % warps_n * WN + lane / 2 % lanes_n * slice;

//@ -- Of each operand: the tile's first element, the stride from line to line, and how many elements stand side by side.
//@ local a = { from = of_batch("A", A_layout, "M", "K") .. " + row0 * A_stride0", line = A_layout == "row" and "A_stride0" or "A_stride1", across = "M" }
//@ local b = { from = of_batch("B", B_layout, "K", "N") .. " + col0 * B_stride1", line = B_layout == "row" and "B_stride0" or "B_stride1", across = "N" }
//@ local unfit = {} -- conditions under which wide copies cannot be made
//@ if packed and packs_a then
//@   a = { from = packed_operand("a") .. " + row0", line = "line_pa", across = "line_pa" }
//@ elseif width_a > 1 then
//@   unfit[#unfit + 1] = "!packs_fit<" .. width_a .. ">(A, line_a)"
//@ end
//@ if packed and packs_b then
//@   b = { from = packed_operand("b") .. " + col0", line = "line_pb", across = "line_pb" }
//@ elseif width_b > 1 then
//@   unfit[#unfit + 1] = "!packs_fit<" .. width_b .. ">(B, line_b)"
//@ end
//@ if packed or split > 1 then unfit[#unfit + 1] = "!packs_fit<slice>(workspace, 0)" end
  const index_t line_a = ${a.line}, step_a = ${transposed_a and "1" or "line_a"};
  const index_t line_b = ${b.line}, step_b = ${transposed_b and "1" or "line_b"};
  const dtype *from_a = ${a.from}, *from_b = ${b.from};
//@ if #unfit > 0 then
//@   local part = split > 1 and "blockIdx.y == 0 ? 0 : TM * TN" or "0" -- only the first block of a tile computes
//@   tile_by_elements(table.concat(unfit, " || "), "int e = " .. part .. "; e < TM * TN; ++e",
//@                    "row + e / TN / slice * (lanes_m * slice) + e / TN % slice", "col + e % TN / slice * (lanes_n * slice) + e % TN % slice")
//@ end

  // Only the first tile may be short along k, so that the loop below knows only whole tiles.
//@ if split > 1 then
  const index_t tiles_k = (K + (BK - 1)) / BK;
  const index_t part = blockIdx.y;
  const index_t first_tile = tiles_k / split * part + min(tiles_k % split, part);
  index_t left = tiles_k / split + (part < tiles_k % split);
  const index_t short_k = K - (tiles_k - 1) * BK;
  const index_t first_k = left == 0 ? 0 : part == 0 ? short_k : BK;
  if (part > 0) {
    from_a += (short_k + (first_tile - 1) * BK) * step_a;
    from_b += (short_k + (first_tile - 1) * BK) * step_b;
  }
  if (left == 0) left = 1; // a part without a tile multiplies a tile of zeros
//@ else
  index_t left = (K + (BK - 1)) / BK;
  const index_t first_k = K - (left - 1) * BK;
//@ end

  tile_a next_a(from_a, line_a, ${a.across} - row0);
  tile_b next_b(from_b, line_b, ${b.across} - col0);
//@ local tile_a, tile_b = { "a", "0" }, { "b", "stage_a" }
//@ tile_copies(tile_a, tile_b, tile_b, tile_a)
#pragma unroll
  for (int s = 1; s < stages - 1; ++s) copy_tiles(s * stage, s < left, 0, copies);

  dtype sum[TM][TN] = {};
  // The fragments of one k are loaded while those of the k before are multiplied.
  dtype a[2][TM];
  dtype b[2][TN];
  const dtype *const own_a = shared + row;
  const dtype *const own_b = shared + stage_a + col;
  const auto load_a = [&](int at, int k, int s) {
    load_elements<slice>(a[k % 2] + s * slice, own_a + at + k * ${lead_a} + s * (lanes_m * slice));
  };
  const auto load_b = [&](int at, int k, int s) {
    load_elements<slice>(b[k % 2] + s * slice, own_b + at + k * ${lead_b} + s * (lanes_n * slice));
  };
  // Computes the products of one k, and loads the fragments of the next k between them. The products go to and fro along the
  // ${order}, so that each shares an operand with the product before it, and reads that operand from the registers only once.
  const auto step = [&](int k, int next_at, int next_k) {
//@ local slices_b = TN // slice
//@ local slices = slices_b + TM // slice
//@ for s = 0, slices - 1 do
//@ if s < slices_b then
    load_b(next_at, next_k, ${s});
//@ else
    load_a(next_at, next_k, ${s - slices_b});
//@ end
#pragma unroll
    for (int e = ${s * TM * TN // slices}; e < ${(s + 1) * TM * TN // slices}; ++e) {
//@ if order == "rows" then
      const int i = e / TN;
      const int j = i % 2 ? TN - 1 - e % TN : e % TN;
//@ else
      const int j = e / TM;
      const int i = j % 2 ? TM - 1 - e % TM : e % TM;
//@ end
      sum[i][j] += a[k % 2][i] * b[k % 2][j];
    }
//@ end
  };

  copy_wait<stages - 2>();
  __syncthreads();
#pragma unroll
  for (int s = 0; s < TN / slice; ++s) load_b(0, 0, s);
#pragma unroll
  for (int s = 0; s < TM / slice; ++s) load_a(0, 0, s);
  constexpr int every = (BK - 1) / bursts; // steps along k from one burst to the next
  int reading = 0;
  int writing = (stages - 1) * stage; // the stage that no thread reads any more
  for (;;) {
#pragma unroll
    for (int k = 0; k < BK - 1; ++k) {
      if (k % every == 0 && k / every < bursts) {
        copy_tiles(writing, left >= stages, k / every * copies / bursts, (k / every + 1) * copies / bursts);
      }
      step(k, reading, k + 1);
    }
    if (--left == 0) break;
    copy_wait<stages - 2>();
    __syncthreads();
    writing = reading;
    reading = reading == (stages - 1) * stage ? 0 : reading + stage;
    step(BK - 1, reading, 0);
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] += a[(BK - 1) % 2][i] * b[(BK - 1) % 2][j];
  }

//@ if dtype == "f32" then
  // threadIdx.z is 0, which the compiler does not know, so that the sums stay as they are but get new registers for the store.
  // Otherwise the compiler would keep each slice of sums in four consecutive registers, as the store needs them, also in the
  // loop above, where such registers share banks with the operands.
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sum[i][j] = __uint_as_float(__float_as_uint(sum[i][j]) | threadIdx.z);
  }
//@ end
//@ if split > 1 then
  // The order of the parts, and so the result, is the same every time. The thread of the same number in the last block
  // reads a thread's sums. The first slices of all threads stand side by side, then the second slices.
  const index_t tile = static_cast<index_t>(blockIdx.z) * gridDim.x + blockIdx.x;
  dtype *const parts = workspace + batch * (packed_a + packed_b) + tile * (split * BM * BN) + threadIdx.x * slice;
#pragma unroll
  for (int e = 0; e < TM * TN; e += slice) {
    store_elements<slice>(parts + part * (BM * BN) + e * threads, sum[e / TN] + e % TN);
  }
  if (!is_last(split, tickets + tile)) return;
#pragma unroll 1
  for (int p = 0; p < split; ++p) {
#pragma unroll
    for (int e = 0; e < TM * TN; e += slice) {
      const pack<dtype, slice> one = load_pack<slice>(parts + p * (BM * BN) + e * threads);
#pragma unroll
      for (int i = 0; i < slice; ++i) sum[e / TN][e % TN + i] = (p == 0 ? 0 : sum[e / TN][e % TN + i]) + one.at[i];
    }
  }

//@ end
//@ include "lib/store_sums.cuh"
}

//@ -- Returns an expression for the address of the new layout of operand "a" or "b" for this block's product.
//@ function packed_operand(name)
//@   local at = name == "b" and packs_a and "workspace + batch * packed_a" or "workspace"
//@   return batch == 1 and at or at .. " + static_cast<index_t>(blockIdx.z) * packed_" .. name
//@ end
// Copies a block's 64 x 32 elements (along i and k) of an operand to a layout with a line for each k, filled up with zeros.
//
// from    the operand's first element; next_i and next_k are the strides along i and along k
// to      the first of the `depth` new lines, which are `line` elements long, `count` of them the operand's
__device__ __forceinline__ void pack_part(const dtype *from, index_t next_i, index_t next_k, bool k_contiguous,
                                          dtype *to, index_t line, index_t count, index_t depth, index_t block) {
  __shared__ dtype part[32][65]; // 65: along i and along k neighbours are in different banks
  const index_t across = (count + 63) / 64;
  const index_t i0 = block % across * 64;
  const index_t k0 = block / across * 32;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  // Neighbouring lanes read neighbouring elements.
  dtype held[8];
#pragma unroll
  for (int p = 0; p < 8; ++p) {
    const index_t i = i0 + (k_contiguous ? p * 8 + warp : p % 2 * 32 + lane);
    const index_t k = k0 + (k_contiguous ? lane : p / 2 * 8 + warp);
    held[p] = i < count && k < depth ? from[i * next_i + k * next_k] : dtype(0);
  }
  if (k_contiguous) {
#pragma unroll
    for (int p = 0; p < 8; ++p) part[lane][p * 8 + warp] = held[p];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 8; ++p) held[p] = part[p / 2 * 8 + warp][p % 2 * 32 + lane];
  }
#pragma unroll
  for (int p = 0; p < 8; ++p) {
    const index_t i = i0 + p % 2 * 32 + lane;
    const index_t k = k0 + p / 2 * 8 + warp;
    if (i < line && k < depth) to[k * line + i] = held[p];
  }
}

//@ local on_a = packs_a and "pack_part(" .. of_batch("A", A_layout, "M", "K") .. ", A_stride0, A_stride1, " ..
//@              (A_layout == "row" and 1 or 0) .. ", " .. packed_operand("a") .. ", line_pa, M, K, blockIdx.x);"
//@ local on_b = packs_b and "pack_part(" .. of_batch("B", B_layout, "K", "N") .. ", B_stride1, B_stride0, " ..
//@              (B_layout == "col" and 1 or 0) .. ", " .. packed_operand("b") .. ", line_pb, N, K, blockIdx.x" ..
//@              (packs_a and " - blocks_a" or "") .. ");"
__global__ void __launch_bounds__(256) pack_operands(${params}) {
//@ prepare(on_a, "blocks_a", on_b)
}

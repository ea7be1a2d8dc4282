// The tensor memory accelerator needs lines (rows, or columns of a matrix stored by columns) that begin a multiple of 16 bytes apart. For
// matrices without such lines, pad_operands copies A to padded_a and B to padded_b, and unpad_result copies padded_c to C. A block moves
// one box, by the tensor map on the padded side and element by element on the other, where a line may begin anywhere; neighbouring threads
// move neighbouring elements.
//@ local and_z = batch > 1 and ", static_cast<int>(at.z)" or ""
//@ if pads_a or pads_b or pads_c then

// The boxes of a matrix: `across` along its lines, `down` across the lines, for each product. The last boxes may be cut off.
template <int box_length, int box_lines> struct boxes {
  struct place {
    index_t x, y, z; // along the lines, across them, and in which product
  };
  index_t across, down;

  __device__ __forceinline__ boxes(index_t length, index_t lines)
      : across((length + (box_length - 1)) / box_length), down((lines + (box_lines - 1)) / box_lines) {}
  __device__ __forceinline__ index_t count() const { return across * down * batch; }
  __device__ __forceinline__ place at(index_t box) const {
    return {box % across * box_length, box / across % down * box_lines, box / (across * down)};
  }
};
//@ end
//@ if pads_a or pads_b then

// Pads box `number` of an operand, which has `lines` lines of `length` elements that begin `distance` elements apart.
template <int box_lines>
__device__ __forceinline__ void pad_box(const A_t *from, index_t distance, index_t length, index_t lines, const tensor_map &to,
                                        index_t number) {
  const auto at = boxes<BK, box_lines>(length, lines).at(number);
  from += (at.z * lines + at.y) * distance + at.x;
#pragma unroll 8
  for (int i = threadIdx.x; i < box_lines * BK; i += 256) {
    const int line = i / BK, column = i % BK;
    const bool inside = at.x + column < length && at.y + line < lines;
    pad_tile(line, column) = inside ? from[line * distance + column] : A_t(0);
  }
  tensor_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_store(to, shared_address(pad_tile.at(0, 0)), static_cast<int>(at.x), static_cast<int>(at.y)${and_z});
    bulk_wait_read<0>();
  }
}

//@ -- Arguments for a matrix. extent: elements of a line, and number of lines; lines_of: distance of lines, and extent.
//@ local function extent(layout, rows, columns) return layout == "row" and columns .. ", " .. rows or rows .. ", " .. columns end
//@ local function lines_of(name, layout, rows, columns)
//@   return name .. (layout == "row" and "_stride0, " or "_stride1, ") .. extent(layout, rows, columns)
//@ end
//@ local before = "boxes<BK, pad_lines_a>(" .. extent(A_layout, "M", "K") .. ").count()"
//@ local on_a = "pad_box<pad_lines_a>(A, " .. lines_of("A", A_layout, "M", "K") .. ", padded_a, blockIdx.x);"
//@ local on_b = "pad_box<pad_lines_b>(B, " .. lines_of("B", B_layout, "K", "N") .. ", padded_b, blockIdx.x" ..
//@              (pads_a and " - " .. before or "") .. ");"
__global__ void __launch_bounds__(256) pad_operands(${params}) {
  launch_next();
  wait_for_launch();
//@ prepare(pads_a and on_a, before, pads_b and on_b)
}
//@ end
//@ if pads_c then

__global__ void __launch_bounds__(256) unpad_result(${params}) {
  __shared__ __align__(8) unsigned long long arrived;
  const unsigned barrier = shared_address(&arrived);
  const index_t distance = ${C_layout == "row" and "C_stride0" or "C_stride1"};
  const index_t length = ${C_layout == "row" and "N" or "M"}, lines = ${C_layout == "row" and "M" or "N"};
  const auto at = boxes<store_line, store_lines>(length, lines).at(blockIdx.x);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barrier_fence_init();
  }
  launch_next();
  __syncthreads();
  wait_for_launch();
  if (threadIdx.x == 0) {
    barrier_expect(barrier, store_lines * store_line * sizeof(C_t));
    tensor_load<1>(unpad_tile.at(0, 0), padded_c, barrier, static_cast<int>(at.x), static_cast<int>(at.y)${and_z}, 0);
  }
  barrier_wait(barrier, 0);
  C_t *const to = C + (at.z * lines + at.y) * distance + at.x;
#pragma unroll 8
  for (int i = threadIdx.x; i < store_lines * store_line; i += 256) {
    const int line = i / store_line, column = i % store_line;
    if (at.x + column < length && at.y + line < lines) {
      to[line * distance + column] = unpad_tile(line, column);
    }
  }
}
//@ end

// Copies for the tensor memory accelerator, which wants lines (rows, or the columns of a matrix that is stored by them) of whole 16
// bytes: padded_a and padded_b of the operands, and C of padded_c. A block moves one box, by the tensor map on the padded side and
// element by element on the other, where a line may begin anywhere; neighbours move what lies side by side.
//@ if pads_a or pads_b or pads_c then

// Which box a block has: its place along the lines and across them, and in which matrix of the batch.
struct box_place {
  index_t x, y, z;
};

__device__ __forceinline__ box_place box_of(index_t block, int box_length, int box_lines, index_t length, index_t lines) {
  const index_t across = (length + (box_length - 1)) / box_length, down = (lines + (box_lines - 1)) / box_lines;
  return {block % across * box_length, block / across % down * box_lines, block / (across * down)};
}

//@ end
//@ if pads_a or pads_b then
// Pads `box_lines` lines of 128 bytes of an operand that has `lines` of `length` elements, `distance` from one to the next.
template <int box_lines, typename T>
__device__ __forceinline__ void pad_box(const T *from, index_t distance, index_t length, index_t lines, const tensor_map &to,
                                        unsigned char *box, index_t block) {
  constexpr int box_length = 128 / sizeof(T);
  const box_place place = box_of(block, box_length, box_lines, length, lines);
  from += (place.z * lines + place.y) * distance + place.x;
#pragma unroll 8
  for (int i = threadIdx.x; i < box_lines * box_length; i += 256) {
    const int line = i / box_length, at = i % box_length, byte = at * static_cast<int>(sizeof(T));
    const bool inside = place.x + at < length && place.y + line < lines;
    *reinterpret_cast<T *>(box + line * 128 + (byte / 16 ^ line % 8) * 16 + byte % 16) = inside ? from[line * distance + at] : T(0);
  }
  tensor_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_store(to, shared_address(box), static_cast<int>(place.x), static_cast<int>(place.y)${batch > 1 and ", static_cast<int>(place.z)" or ""});
    tensor_store_wait<0>();
  }
}

//@ -- Of a matrix: from one line to the next, elements of a line, lines.
//@ local function lines_of(name, layout, rows, columns)
//@   if layout == "row" then return name .. "_stride0, " .. columns .. ", " .. rows end
//@   return name .. "_stride1, " .. rows .. ", " .. columns
//@ end
//@ local most = math.max(pads_a and pad_lines_a or 0, pads_b and pad_lines_b or 0)
__global__ void __launch_bounds__(256) pad_operands(${params}) {
  __shared__ __align__(1024) unsigned char box[${most} * 128];
  launch_next();
  wait_for_launch();
  index_t block = blockIdx.x;
//@ if pads_a then
  if (block < pad_blocks_a) {
    pad_box<pad_lines_a>(A, ${lines_of("A", A_layout, "M", "K")}, padded_a, box, block);
    return;
  }
  block -= pad_blocks_a;
//@ end
//@ if pads_b then
  pad_box<pad_lines_b>(B, ${lines_of("B", B_layout, "K", "N")}, padded_b, box, block);
//@ end
}

//@ end
//@ if pads_c then
__global__ void __launch_bounds__(256) unpad_result(${params}) {
  constexpr int box_lines = swap ? store_n : 64, box_bytes = swap ? 128 : store_bytes, box_length = box_bytes / sizeof(C_t);
  __shared__ __align__(1024) unsigned char box[box_lines * box_bytes];
  __shared__ __align__(8) unsigned long long arrived;
  const unsigned barrier = shared_address(&arrived);
  const index_t distance = ${C_layout == "row" and "C_stride0" or "C_stride1"};
  const index_t length = ${C_layout == "row" and "N" or "M"}, lines = ${C_layout == "row" and "M" or "N"};
  const box_place place = box_of(blockIdx.x, box_length, box_lines, length, lines);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barrier_fence_init();
  }
  launch_next();
  __syncthreads();
  wait_for_launch();
  if (threadIdx.x == 0) {
    barrier_expect(barrier, box_lines * box_bytes);
    tensor_load(shared_address(box), padded_c, barrier, static_cast<int>(place.x), static_cast<int>(place.y)${batch > 1 and ", static_cast<int>(place.z)" or ""});
  }
  barrier_wait(barrier, 0);
  C_t *const to = C + (place.z * lines + place.y) * distance + place.x;
#pragma unroll 8
  for (int i = threadIdx.x; i < box_lines * box_length; i += 256) {
    const int line = i / box_length, at = i % box_length, byte = at * static_cast<int>(sizeof(C_t));
    if (place.x + at < length && place.y + line < lines) {
      to[line * distance + at] = *reinterpret_cast<const C_t *>(box + swizzled(line, byte / 16) + byte % 16);
    }
  }
}
//@ end

// Copies for the tensor memory accelerator, which wants lines (rows, or the columns of a matrix that is stored by them) of whole 16
// bytes: padded_a and padded_b of the operands, and C of padded_c. A block moves one box, by the tensor map on the padded side and
// element by element on the other, where a line may begin anywhere; neighbours move what lies side by side.
//@ local and_z = batch > 1 and ", static_cast<int>(at.z)" or ""
//@ if pads_a or pads_b or pads_c then

// The boxes of a matrix: how many there are along its lines, across them, and for a batch. The last ones may be cut off.
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

// Pads a box: box_lines lines of 128 bytes of an operand, which has `lines` of `length` elements, `distance` from one to the next.
template <int box_lines, typename T>
__device__ __forceinline__ void pad_box(const T *from, index_t distance, index_t length, index_t lines, const tensor_map &to,
                                        unsigned char *box, index_t number) {
  constexpr int box_length = 128 / sizeof(T);
  const auto at = boxes<box_length, box_lines>(length, lines).at(number);
  from += (at.z * lines + at.y) * distance + at.x;
#pragma unroll 8
  for (int i = threadIdx.x; i < box_lines * box_length; i += 256) {
    const int line = i / box_length, column = i % box_length, byte = column * static_cast<int>(sizeof(T));
    const bool inside = at.x + column < length && at.y + line < lines;
    *reinterpret_cast<T *>(box + line * 128 + (byte / 16 ^ line % 8) * 16 + byte % 16) =
        inside ? from[line * distance + column] : T(0);
  }
  tensor_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_store(to, shared_address(box), static_cast<int>(at.x), static_cast<int>(at.y)${and_z});
    tensor_store_wait<0>();
  }
}

//@ -- Arguments for a matrix. extent: elements of a line, and lines; lines_of: pointer, distance of lines, and extent.
//@ local function extent(layout, rows, columns) return layout == "row" and columns .. ", " .. rows or rows .. ", " .. columns end
//@ local function lines_of(name, layout, rows, columns)
//@   return name .. (layout == "row" and "_stride0, " or "_stride1, ") .. extent(layout, rows, columns)
//@ end
//@ local most = math.max(pads_a and pad_lines_a or 0, pads_b and pad_lines_b or 0)
__global__ void __launch_bounds__(256) pad_operands(${params}) {
  __shared__ __align__(1024) unsigned char box[${most} * 128];
  launch_next();
  wait_for_launch();
  index_t number = blockIdx.x;
//@ if pads_a then
//@ if pads_b then
  const index_t before = boxes<128 / sizeof(A_t), pad_lines_a>(${extent(A_layout, "M", "K")}).count();
  if (number < before)
//@ end
  {
    pad_box<pad_lines_a>(A, ${lines_of("A", A_layout, "M", "K")}, padded_a, box, number);
    return;
  }
//@ if pads_b then
  number -= before;
//@ end
//@ end
//@ if pads_b then
  pad_box<pad_lines_b>(B, ${lines_of("B", B_layout, "K", "N")}, padded_b, box, number);
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
  const auto at = boxes<box_length, box_lines>(length, lines).at(blockIdx.x);
  if (threadIdx.x == 0) {
    barrier_init(barrier, 1);
    barrier_fence_init();
  }
  launch_next();
  __syncthreads();
  wait_for_launch();
  if (threadIdx.x == 0) {
    barrier_expect(barrier, box_lines * box_bytes);
    tensor_load(shared_address(box), padded_c, barrier, static_cast<int>(at.x), static_cast<int>(at.y)${and_z});
  }
  barrier_wait(barrier, 0);
  C_t *const to = C + (at.z * lines + at.y) * distance + at.x;
#pragma unroll 8
  for (int i = threadIdx.x; i < box_lines * box_length; i += 256) {
    const int line = i / box_length, column = i % box_length, byte = column * static_cast<int>(sizeof(C_t));
    if (at.x + column < length && at.y + line < lines) {
      to[line * distance + column] = *reinterpret_cast<const C_t *>(box + swizzled(line, byte / 16) + byte % 16);
    }
  }
}
//@ end

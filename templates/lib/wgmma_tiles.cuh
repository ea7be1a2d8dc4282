#pragma once
// The order of tiles, how a block brings its part of one, and how results lie in shared memory on their way to C.
struct place {
  int x, y${batch > 1 and ", z" or ""};
};

//@ if not stream then
// The tile that a cluster takes as its number `index`; x and y count tiles of whole clusters. Numbered down `group` lines of tiles before
// moving on, tiles that are computed together share parts of both operands, which then come from the L2. way: 0 down, 1 right, 2 squares of
// group x group tiles, each along a Hilbert curve from its first column to its last.
//@ else
// The tile that a cluster takes as its number `index`; x and y count tiles of whole clusters. Numbered down `group` lines of tiles before
// moving on, tiles that are computed together share parts of both operands, which then come from the L2.
//@ end
__device__ __forceinline__ place tile_at(int index, int tiles_x, int tiles_y, int group${stream and "" or ", int way"}) {
//@ if batch > 1 then
  const int product = index / (tiles_x * tiles_y); // one after the other
  index -= product * (tiles_x * tiles_y);
//@ end
//@ if not stream then
  const int along = way == 1 ? tiles_y : tiles_x, across = way == 1 ? tiles_x : tiles_y;
//@ else
  const int along = tiles_x, across = tiles_y;
//@ end
  const int all = group * across;
  const int first = index / all * group;
  const int lines = along - first < group ? along - first : group;
  const int within = index % all;
//@ if not stream then
  if (way == 2 && lines == group && within / (group * group) < across / group) {
    int x = 0, y = 0, left = within % (group * group);
#pragma unroll 1
    for (int side = 1; side < group; side *= 2) {
      const int right = left / 2 % 2, down = (left ^ right) % 2;
      if (down == 0) {
        const int turned = right ? side - 1 - x : x;
        x = right ? side - 1 - y : y;
        y = turned;
      }
      x += side * right;
      y += side * down;
      left /= 4;
    }
    return {first + y, within / (group * group) * group + x${batch > 1 and ", product" or ""}};
  }
  if (way == 1) return {within / lines, first + within % lines${batch > 1 and ", product" or ""}};
//@ end
  return {first + within % lines, within / lines${batch > 1 and ", product" or ""}};
}

// Loads a tile of Rows rows from `first` on, or the block's share of it, for all blocks of the mask.
template <bool AlongK, int Rows, int Shares>
__device__ __forceinline__ void load_tile(unsigned to, const tensor_map &map, unsigned barrier, int k, int first,
                                          int share, ${batch > 1 and "int z, " or ""}unsigned short mask) {
  constexpr int boxes = AlongK ? 1 : Rows / 64;
#pragma unroll
  for (int box = 0; box < boxes; ++box) {
    const unsigned at = to + (AlongK ? share * (Rows / Shares * 128) : box * part_bytes + share * (part_bytes / Shares));
    const int x = AlongK ? k : first + box * 64;
    const int y = AlongK ? first + share * (Rows / Shares) : k + share * (BK / Shares);
    if (Shares == 1) {
      tensor_load(at, map, barrier, x, y${batch > 1 and ", z" or ""});
    } else {
      tensor_multicast(at, map, barrier, x, y, ${batch > 1 and "z, " or ""}mask);
    }
  }
}

//@ if sizeof(result) == 2 then
__device__ __forceinline__ unsigned pack(float low, float high) {
  unsigned both;
  asm("cvt.rn.${result}x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
//@ end

//@ if swap then
// Returns where a 16-byte piece of a line of 64 elements has to lie for the copy engine's swizzle of 128 bytes.
__device__ __forceinline__ unsigned swizzled(int line, int piece) {
  return static_cast<unsigned>(line * 128 + (piece ^ line % 8) * 16);
}
//@ else
// Returns where a 16-byte piece of a line has to lie for the copy engine's swizzle of store_bytes.
__device__ __forceinline__ unsigned swizzled(int line, int piece) {
  const int exchange = store_bytes == 128 ? line % 8 : store_bytes == 64 ? line / 2 % 4 : line / 4 % 2;
  return static_cast<unsigned>(line * store_bytes + (piece ^ exchange) * 16);
}
//@ end

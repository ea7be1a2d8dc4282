#pragma once
// The order of tiles, and the packing of two results in a word.
struct place {
  int x, y${batch > 1 and ", z" or ""};
};

// Returns the tile of number `index` in the order of computation; x and y count tiles of whole clusters. The order goes down `group` lines
// of tiles before it moves on, so that tiles that are computed together share parts of both operands, which then come from the L2. way: 0
// down, 1 right, 2 squares of group x group tiles where these fit, each along a Hilbert curve from the square's first column to its last.
__device__ __forceinline__ place tile_at(int index, int tiles_x, int tiles_y, int group, int way) {
//@ if batch > 1 then
  const int product = index / (tiles_x * tiles_y); // one after the other
  index -= product * (tiles_x * tiles_y);
//@ end
  const int along = way == 1 ? tiles_y : tiles_x, across = way == 1 ? tiles_x : tiles_y;
  const int all = group * across;
  const int first = index / all * group;
  const int lines = along - first < group ? along - first : group;
  const int within = index % all;
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
  return {first + within % lines, within / lines${batch > 1 and ", product" or ""}};
}

//@ if sizeof(result) == 2 then
__device__ __forceinline__ unsigned pack(float low, float high) {
  unsigned both;
  asm("cvt.rn.${result}x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
//@ end

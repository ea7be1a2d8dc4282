#pragma once
// Where a block's tile lies, from the block's number alone: a grid of one dimension has no limit that a matrix would
// meet. Blocks start roughly in order of their number, so that the order of the tiles, along rows or (DownFirst) down columns,
// decides which rows are accessed at the same time.
struct tile_place {
  index_t row, col, batch;
};

template <int Rows, int Cols, bool DownFirst>
__device__ __forceinline__ tile_place place_tile(index_t all_rows, index_t all_cols) {
  const index_t tiles_down = (all_rows + (Rows - 1)) / Rows;
  const index_t tiles_across = (all_cols + (Cols - 1)) / Cols;
  const index_t number = blockIdx.x;
  const index_t batch = number / (tiles_down * tiles_across);
  const index_t within = number % (tiles_down * tiles_across);
  if (DownFirst) return {within % tiles_down * Rows, within / tiles_down * Cols, batch};
  return {within / tiles_across * Rows, within % tiles_across * Cols, batch};
}

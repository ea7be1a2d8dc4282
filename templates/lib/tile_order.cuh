#pragma once
// Where a block's tile lies, from the block's number alone: a grid of one dimension has no limit that a matrix would
// meet. Blocks start roughly in order of their number, so that the order of the tiles decides which rows of which
// matrix are open in memory at the same time: `Group` rows of tiles go down together before the next column's turn.
struct tile_place {
  index_t row, col, batch;
};

template <int Rows, int Cols, int Group>
__device__ __forceinline__ tile_place place_tile(index_t all_rows, index_t all_cols) {
  const index_t tiles_down = (all_rows + (Rows - 1)) / Rows;
  const index_t tiles_across = (all_cols + (Cols - 1)) / Cols;
  const index_t number = blockIdx.x;
  const index_t batch = number / (tiles_down * tiles_across);
  const index_t within = number % (tiles_down * tiles_across);
  if (Group == 1) return {within / tiles_across * Rows, within % tiles_across * Cols, batch};
  const index_t first = within / (Group * tiles_across) * Group;
  const index_t down = tiles_down - first < Group ? tiles_down - first : Group;
  const index_t inside = within - first * tiles_across;
  return {(first + inside % down) * Rows, inside / down * Cols, batch};
}

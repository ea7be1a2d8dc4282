//@ -- In a kernel: declares row0 and col0, at which this block's tile of C begins, BM rows by BN columns.
//@ if group > 1 then
  // Blocks run roughly in order of their number. Numbered down `group` rows of tiles before moving a column to the
  // right, the blocks that run together share tiles of both operands, which then come from the L2 cache.
  const index_t tiles_m = (M + (BM - 1)) / BM;
  const index_t tiles_n = (N + (BN - 1)) / BN;
  const index_t block = blockIdx.x;
  const index_t first_row = block / (group * tiles_n) * group;
  const index_t rows = tiles_m - first_row < group ? tiles_m - first_row : group;
  const index_t within = block % (group * tiles_n);
  const index_t row0 = (first_row + within % rows) * BM;
  const index_t col0 = within / rows * BN;
//@ else
  const index_t tiles_n = (N + (BN - 1)) / BN;
  const index_t row0 = blockIdx.x / tiles_n * BM;
  const index_t col0 = blockIdx.x % tiles_n * BN;
//@ end

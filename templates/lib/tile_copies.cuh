//@ -- In a kernel: starts the copies of the first tiles of two operands, which have only first_k elements along k, and declares
//@ -- copy_tiles for the next tiles. An operand is { NAME, where its tile lies in a stage }, and has next_NAME, tile_NAME, step_NAME.
//@ -- sooner, later: the same two operands in the order in which copy_tiles starts their copies.
//@ function tile_copies(one, other, sooner, later)
//@   local x, y, p, q = one[1], other[1], sooner[1], later[1]
  constexpr int copies = tile_${x}::copies + tile_${y}::copies;
  // Starts the copies of the next tiles from number `first` to number last - 1. The last copy of the tiles also ends their group.
  const auto copy_tiles = [&](int at, bool wanted, int first, int last) {
#pragma unroll
    for (int p = 0; p < copies; ++p) {
      if (p < first || p >= last) continue;
      if (p < tile_${p}::copies) {
        next_${p}.start(p, shared + at + ${sooner[2]}, wanted);
      } else {
        next_${q}.start(p - tile_${p}::copies, shared + at + ${later[2]}, wanted);
      }
    }
    if (last < copies) return;
    copy_commit();
    next_${x}.advance(BK * step_${x});
    next_${y}.advance(BK * step_${y});
  };
  next_${x}.start_short(shared + ${one[2]}, first_k);
  next_${y}.start_short(shared + ${other[2]}, first_k);
  copy_commit();
  next_${x}.advance(first_k * step_${x});
  next_${y}.advance(first_k * step_${y});
//@ end

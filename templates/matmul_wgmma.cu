// C = A * B on Hopper's tensor cores (sm_90a). A persistent grid: every cluster of blocks computes tile after tile. In a
// block one thread, the producer, has the tensor memory accelerator bring tiles of the operands to a ring of stages in
// shared memory, and warpgroups, the consumers, multiply them by wgmma. Barriers say which stages are full and which are
// empty, so that loads are under way while products are, and while results are stored.
//
// C is computed by its lines. Those of a C that is stored by columns are its columns, and its transpose is the product
// of the operands' transposes the other way around: X is the operand whose lines are C's, Y the other one.
//
// Consumers share a tile's rows, or (pingpong) take tiles in turn, one storing while the other multiplies. The blocks of
// a cluster stand cluster_x by cluster_y by split_k: those that need the same part of an operand bring it once, a part
// each, for all (multicast); those along k add up their sums through each other's shared memory.
//
// Swapped, X and Y change roles: C's lines are the columns of the tile, of which there may be as few as 16, and each part
// is transposed on its way to C.
//
// Streaming, the tiles that do not fill a wave of clusters are shared: their steps along k are dealt out evenly, one tile's
// after the other's or (aligned) to as many clusters of each. A cluster's part of a tile goes to the workspace, and a
// second launch adds up each tile's parts, always in the same order.

//@ local by_rows = (C_layout == "row") ~= swap
//@ local X, Y = by_rows and "A" or "B", by_rows and "B" or "A"
//@ local rows, columns = by_rows and "M" or "N", by_rows and "N" or "M"
//@ include "lib/tma.cuh"
//@ include "lib/wgmma.cuh"
//@ if stream then
//@ include "lib/shares.cuh"
//@ end

constexpr int sharers = pingpong ? 1 : consumers;
constexpr int parts = BM / 64 / sharers;          // of 64 rows, for each consumer
constexpr int BK = 128 / sizeof(A_t);             // k of a stage
constexpr int tile_x_bytes = BM * 128, tile_y_bytes = BN * 128, stage_bytes = tile_x_bytes + tile_y_bytes;
constexpr int part_bytes = 64 * 128;              // of 64 rows along k, or of one BK x 64 elements
constexpr int producer_registers = consumers == 3 ? 32 : 40;
constexpr int consumer_registers = consumers == 3 ? 160 : 232;
// What a tile is advanced by for the next 32 bytes of k: the next elements, or the next lines.
constexpr int step_x = ${x_along_k and "32" or "32 / sizeof(A_t) * 128"};
constexpr int step_y = ${y_along_k and "32" or "32 / sizeof(A_t) * 128"};

//@ if stream then
// Where four sums of a thread lie in the workspace, which has a place for each cluster's part of a tile: from one part to
// the next, cluster or tile is a higher one, so that no two have the same sum. q counts 8 columns in a part of 64 rows.
__device__ __forceinline__ float4 *partial(accumulator *workspace, int cluster, int tile, int rank, int part, int q) {
  const size_t block = static_cast<size_t>(cluster + tile) * cluster_size + rank;
  return reinterpret_cast<float4 *>(workspace) + ((block * (BM / 64) + part) * (BN / 8) + q) * 128 + threadIdx.x % 128;
}

//@ end
struct place {
  int x, y${batch > 1 and ", z" or ""};
};

// The tile that a cluster takes as its number `index`; x and y count tiles of whole clusters. Numbered down `group` lines
// of tiles before moving on, tiles that are computed together share parts of both operands, which then come from the L2.
__device__ __forceinline__ place tile_at(int index, int tiles_x, int tiles_y) {
//@ local along, across = "tiles_x", "tiles_y"
//@ if order == "right" then along, across = across, along end
//@ if batch > 1 then
  const int product = index / (tiles_x * tiles_y); // one after the other
  index -= product * (tiles_x * tiles_y);
//@ end
  const int all = group * ${across};
  const int first = index / all * group;
  const int lines = ${along} - first < group ? ${along} - first : group;
  const int within = index % all;
//@ if order == "hilbert" then
  // Squares of group x group tiles, each along a Hilbert curve from its first column to its last.
  if (lines == group && within / (group * group) < ${across} / group) {
    int x = 0, y = 0, left = within % (group * group);
#pragma unroll
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
//@ end
//@ if order == "right" then
  return {within / lines, first + within % lines${batch > 1 and ", product" or ""}};
//@ else
  return {first + within % lines, within / lines${batch > 1 and ", product" or ""}};
//@ end
}

// Brings a tile of Rows rows from `first` on, or the block's share of it, for all blocks of the mask.
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
#ifdef __CUGEN_CPU__
  const C_t parts_of_it[] = {static_cast<C_t>(low), static_cast<C_t>(high)};
  memcpy(&both, parts_of_it, sizeof both);
#else
  asm("cvt.rn.${result}x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#endif
  return both;
}
//@ end

//@ if swap then
// Where a 16-byte piece of a line of 64 lies that the copy engine takes with 128 bytes of swizzle.
__device__ __forceinline__ unsigned swizzled(int line, int piece) {
  return static_cast<unsigned>(line * 128 + (piece ^ line % 8) * 16);
}
//@ else
// Where a 16-byte piece of a line lies that the copy engine takes with store_bytes of swizzle.
__device__ __forceinline__ unsigned swizzled(int line, int piece) {
  const int exchange = store_bytes == 128 ? line % 8 : store_bytes == 64 ? line / 2 % 4 : line / 4 % 2;
  return static_cast<unsigned>(line * store_bytes + (piece ^ exchange) * 16);
}
//@ end

__global__ void __launch_bounds__(threads, 1) ${cluster_size > 1 and "__cluster_dims__(cluster_size, 1, 1)" or ""}
    matmul_wgmma(${params}) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const unsigned ring = shared_address(shared);
  const unsigned full_0 = shared_address(full), empty_0 = shared_address(empty);

  const int rank = cluster_rank();
  const int in_x = rank % cluster_x, in_y = rank / cluster_x % cluster_y, in_k = rank / (cluster_x * cluster_y);
  const int all_steps = static_cast<int>((K + (BK - 1)) / BK);
//@ if not stream then
  const int most_steps = (all_steps + split_k - 1) / split_k;
  const int first_step = in_k * most_steps;
  const int steps = all_steps - first_step < most_steps ? all_steps - first_step : most_steps;
//@ elseif deferred then
  const int steps = all_steps;
//@ end
  const int tiles_x = static_cast<int>((${rows} + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((${columns} + (BN * cluster_y - 1)) / (BN * cluster_y));
  const int tiles = tiles_x * tiles_y${batch > 1 and " * batch" or ""};
  const int first_tile = blockIdx.x / cluster_size;
//@ if not stream or deferred then
  const int clusters = gridDim.x / cluster_size;
//@ end
//@ if stream then
  const sharing shares(tiles, all_steps);
//@ end

  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(full_0 + i * 8, 1);
      barrier_init(empty_0 + i * 8, sharers * cluster_x * cluster_y);
    }
    barrier_fence_init();
    tensor_prefetch(A);
    tensor_prefetch(B);
    tensor_prefetch(C);
  }
  launch_next();
  ${(swap or stream) and "cluster_start" or "cluster_sync"}();
  wait_for_launch();

  // The same in all lanes, and the compiler is to know it.
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
  if (warpgroup == 0) {
//@ if consumers > 1 then
    fewer_registers<producer_registers>();
//@ end
    if (threadIdx.x == 0) {
      unsigned short mask_x = 0, mask_y = 0;
      for (int i = 0; i < cluster_y; ++i) mask_x |= 1u << (in_x + cluster_x * i + cluster_x * cluster_y * in_k);
      for (int i = 0; i < cluster_x; ++i) mask_y |= 1u << (i + cluster_x * in_y + cluster_x * cluster_y * in_k);
      int stage = 0;
      unsigned phase = 1;
//@ if stream then
      for (work next = first_work(shares, first_tile); next.tile < tiles; next = next_work(next, shares, first_tile)) {
        const place tile = tile_at(next.tile, tiles_x, tiles_y);
//@ else
      for (int index = first_tile; index < tiles; index += clusters) {
        const place tile = tile_at(index, tiles_x, tiles_y);
//@ end
        const int x0 = (tile.x * cluster_x + in_x) * BM, y0 = (tile.y * cluster_y + in_y) * BN;
//@ local from = stream and "next.first" or "first_step"
//@ local to = stream and (aligned and "next.steps * next.apart" or "next.steps") or "steps"
//@ local apart = stream and aligned and "next.apart" or "1"
        for (int step = ${from}; step < ${from} + ${to}; ${apart == "1" and "++step" or "step += " .. apart}) {
          const unsigned to = ring + stage * stage_bytes, barrier = full_0 + stage * 8;
          barrier_wait(empty_0 + stage * 8, phase);
          barrier_expect(barrier, stage_bytes);
          load_tile<${x_along_k}, BM, cluster_y>(to, ${X}, barrier, step * BK, x0, in_y, ${batch > 1 and "tile.z, " or ""}mask_x);
          load_tile<${y_along_k}, BN, cluster_x>(to + tile_x_bytes, ${Y}, barrier, step * BK, y0, in_x, ${batch > 1 and "tile.z, " or ""}mask_y);
          if (++stage == stages) {
            stage = 0;
            phase ^= 1;
          }
        }
      }
    }
//@ if split_k > 1 then
    cluster_sync(); // with the consumers, when their sums are in shared memory
//@ end
  } else {
//@ if consumers > 1 then
    more_registers<consumer_registers>();
//@ end
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    const unsigned staging = ring + stages * stage_bytes + consumer * (store_buffers * 64 * store_bytes);
    const int own_rows = pingpong ? 0 : consumer * (parts * 64);
    // Thread i releases a stage in the i-th of the blocks that loaded parts of it.
    const auto release = [&](int at) {
      if (thread < cluster_x * cluster_y) barrier_arrive(empty_0 + at * 8, thread + cluster_x * cluster_y * in_k);
    };
    int stage = 0, buffer = 0, last = 0;
    unsigned phase = 0;
    ${wgmma_sum} sum[parts][BN / 2];
    // Issues the products of a step along k; those of the step before are then done, and its stage may be loaded anew.
    const auto multiply = [&](bool first) {
      barrier_wait(full_0 + stage * 8, phase);
      const unsigned x = ring + stage * stage_bytes + own_rows * 128, y = ring + stage * stage_bytes + tile_x_bytes;
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const unsigned long long tile_y = tile_of(y + k * step_y, part_bytes);
#pragma unroll
        for (int i = 0; i < parts; ++i) {
          wgmma(sum[i], tile_of(x + i * part_bytes + k * step_x, part_bytes), tile_y, !first || k > 0);
        }
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (!first) release(last);
      last = stage;
      if (++stage == stages) {
        stage = 0;
        phase ^= 1;
      }
    };

//@ -- What is stored of a sum at a line and a column of C's; those outside are not, and stand for the last ones.
//@ local function stored(acc, line, column)
//@   if accumulator == "i32" and result ~= "i32" then acc = "static_cast<float>(" .. acc .. ")" end
//@   line = "min(" .. line .. ", static_cast<int>(" .. rows .. ") - 1)"
//@   column = "min(" .. column .. ", static_cast<int>(" .. columns .. ") - 1)"
//@   local row, col = by_rows and line or column, by_rows and column or line
//@   if batch > 1 and C_layout == "row" then row = "static_cast<index_t>(z) * M + " .. row end
//@   if batch > 1 and C_layout == "col" then col = "static_cast<index_t>(z) * N + " .. col end
//@   return epilogue(acc, row, col)
//@ end
//@ if batch > 1 then
    int z = 0; // of the product that is stored
//@ end
    // The element of C that a thread's sum e of 8 columns gives; line and column are those of part and columns.
    const auto result_of = [&](${wgmma_sum} acc, int line, int column, int e) {
      line += warp * 16 + lane / 4 + e / 2 * 8;
      column += lane % 4 * 2 + e % 2;
      return static_cast<${result == "i32" and "int" or "float"}>(${stored("acc", "line", "column")});
    };
    // Stores store_n columns of 64 lines, from (line, column) on; word(w) is the thread's w-th, two results or one.
    const auto store = [&](int line, int column, auto word) {
      const unsigned to = staging + buffer * (64 * store_bytes);
      if (thread == 0) tensor_store_wait<store_buffers - 1>();
      named_sync(6 + consumer, 128);
//@ if swap then
#pragma unroll
      for (int w = 0; w < store_n / 4; w += 4) {
        store_transposed(to + swizzled(w * 4 + lane / 16 * 8 + lane % 8, warp * 2 + lane / 8 % 2), word(w), word(w + 1),
                         word(w + 2), word(w + 3));
      }
//@ elseif sizeof(result) == 4 then
#pragma unroll
      for (int w = 0; w < store_n / 2; w += 2) {
        store_words(to + swizzled(warp * 16 + lane / 4 + w / 2 % 2 * 8, w / 4 * 2 + lane % 4 / 2) + lane % 2 * 8, word(w),
                    word(w + 1));
      }
//@ else
#pragma unroll
      for (int w = 0; w < store_n / 4; w += 4) {
        store_matrices(to + swizzled(warp * 16 + lane % 16, w / 2 + lane / 16), word(w), word(w + 1), word(w + 2),
                       word(w + 3));
      }
//@ end
      tensor_fence();
      named_sync(6 + consumer, 128);
//@ local across, down = swap and "line" or "column", swap and "column" or "line"
      if (thread == 0) tensor_store(C, to, ${across}, ${down}${batch > 1 and ", z" or ""});
      if (++buffer == store_buffers) buffer = 0;
    };
//@ if split_k == 1 then
    constexpr int words = store_n * sizeof(C_t) / 8; // of a thread, in one store
//@ end

//@ if stream then
    const auto keep_part = [&](int tile) {
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int q = 0; q < BN / 8; ++q) {
          *partial(workspace, first_tile, tile, rank, consumer * parts + i, q) =
              make_float4(sum[i][4 * q], sum[i][4 * q + 1], sum[i][4 * q + 2], sum[i][4 * q + 3]);
        }
      }
    };
//@ end
//@ if pingpong then
    const auto skip_steps = [&](int count) {
      phase ^= (stage + count) / stages % 2;
      stage = (stage + count) % stages;
    };
    // Barriers 1 and 2 say whose turn it is to multiply: the first consumer's.
    if (consumer == 1) {
      skip_steps(steps);
      named_arrive(1, 256);
    }
    for (int index = first_tile + consumer * clusters; index < tiles; index += 2 * clusters) {
//@ else
//@ if stream and deferred then
    // The cluster's parts of tiles that are shared.
    for (work next = first_work(shares, first_tile); next.tile < shares.tiles;
         next = next_work(next, shares, first_tile)) {
#pragma unroll 1
      for (int step = 0; step < next.steps; ++step) multiply(step == 0);
      wgmma_wait<0>();
      release(last);
      keep_part(next.tile);
    }
//@ end
//@ if deferred then
    // A tile's results wait in registers: they are stored while the next tile's first products are under way.
    constexpr int stores = parts * (BN / store_n);
    unsigned waiting[stores][words] = {};
    int waiting_x = 0, waiting_y = 0;
    const auto store_waiting = [&](int s) {
      const int i = s / (BN / store_n), c = s % (BN / store_n);
      store(waiting_x + i * 64, waiting_y + c * store_n, [&](int w) { return waiting[s][w]; });
    };
    bool wait = false;
//@ end
//@ if stream and not deferred then
    // Parts of shared tiles, then whole ones: all in one place, or ptxas would take the sums from one to the other while
    // products are under way, and make these serial.
    for (work next = first_work(shares, first_tile); next.tile < tiles; next = next_work(next, shares, first_tile)) {
      const int index = next.tile, steps = next.steps;
//@ else
//@ local from = stream and "shares.tiles + first_tile" or "first_tile"
    for (int index = ${from}; index < tiles; index += clusters) {
//@ end
//@ end
      const place tile = tile_at(index, tiles_x, tiles_y);
      const int x0 = (tile.x * cluster_x + in_x) * BM + own_rows, y0 = (tile.y * cluster_y + in_y) * BN;
//@ if pingpong then
      named_sync(1 + consumer, 256);
//@ end
//@ if deferred then
#pragma unroll
      for (int s = 0; s < stores; ++s) {
        multiply(s == 0);
        if (wait) store_waiting(s);
      }
#pragma unroll 1
      for (int step = stores; step < steps; ++step) multiply(false);
//@ else
//@ if promote > 0 then
      // The tensor cores add up 8-bit floats with few bits: now and then what they have goes to sums of f32.
      float promoted[parts][BN / 2] = {};
#pragma unroll 1
      for (int step = 0; step < steps; step += promote) {
        multiply(true);
#pragma unroll 1
        for (int next = step + 1; next < steps && next < step + promote; ++next) multiply(false);
        wgmma_wait<0>();
        release(last);
#pragma unroll
        for (int i = 0; i < parts * (BN / 2); ++i) promoted[i / (BN / 2)][i % (BN / 2)] += sum[i / (BN / 2)][i % (BN / 2)];
      }
//@ else
#pragma unroll 1
      for (int step = 0; step < steps; ++step) multiply(step == 0);
//@ end
//@ end
//@ if pingpong then
      named_arrive(2 - consumer, 256);
      skip_steps(steps); // those of the other's tile
//@ end
//@ if promote > 0 then
#pragma unroll
      for (int i = 0; i < parts * (BN / 2); ++i) sum[i / (BN / 2)][i % (BN / 2)] = promoted[i / (BN / 2)][i % (BN / 2)];
//@ else
      wgmma_wait<0>();
      release(last);
//@ end
//@ if batch > 1 then
      z = tile.z;
//@ end

//@ if stream and not deferred then
      if (index < shares.tiles) {
        keep_part(index);
        continue;
      }
//@ end
      // Of the sums of 8 columns from 8 q on in a part: two neighbours as one word, or one.
//@ local function words_of(sums, part, w, line, column)
//@   if sizeof(result) == 4 then
//@     return (result == "i32" and "static_cast<unsigned>" or "__float_as_uint") .. "(result_of(" .. sums .. "[" .. part .. "][" .. w .. "], " .. line .. ", " .. column ..
//@            " + (" .. w .. ") / 4 * 8, (" .. w .. ") % 4))"
//@   end
//@   local one = ", " .. line .. ", " .. column .. " + (" .. w .. ") / 2 * 8, (" .. w .. ") % 2 * 2"
//@   return "pack(result_of(" .. sums .. "[" .. part .. "][2 * (" .. w .. ")]" .. one .. "), result_of(" .. sums ..
//@          "[" .. part .. "][2 * (" .. w .. ") + 1]" .. one .. " + 1))"
//@ end
//@ if split_k > 1 then
      // The blocks' sums meet in shared memory, and each block adds up and stores a part of the columns. The ring is free:
      // its last tile has been multiplied.
      named_sync(5, consumers * 128);
      const unsigned own = ring + (threadIdx.x - 128) * 16;
      constexpr int apart = consumers * 128 * 16;
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int q = 0; q < BN / 8; ++q) {
          store_words(own + (i * (BN / 8) + q) * apart, sum[i][4 * q], sum[i][4 * q + 1], sum[i][4 * q + 2],
                      sum[i][4 * q + 3]);
        }
      }
      cluster_sync();
#pragma unroll 1
      for (int s = in_k; s < parts * (BN / store_n); s += split_k) {
        ${wgmma_sum} total[1][store_n / 2] = {};
#pragma unroll ${swap and split_k or 1}
        for (int k = 0; k < split_k; ++k) {
          const unsigned other = address_in(in_x + cluster_x * in_y + cluster_x * cluster_y * k, own);
#pragma unroll
          for (int q = 0; q < store_n / 8; ++q) {
            ${wgmma_sum} a, b, c, d;
            load_words(other + (s * (store_n / 8) + q) * apart, a, b, c, d);
            total[0][4 * q] += a;
            total[0][4 * q + 1] += b;
            total[0][4 * q + 2] += c;
            total[0][4 * q + 3] += d;
          }
        }
        const int line = x0 + s / (BN / store_n) * 64, column = y0 + s % (BN / store_n) * store_n;
        store(line, column, [&](int w) { return ${words_of("total", "0", "w", "line", "column")}; });
      }
//@ elseif deferred then
#pragma unroll
      for (int s = 0; s < stores; ++s) {
        const int i = s / (BN / store_n), c = s % (BN / store_n);
#pragma unroll
        for (int w = 0; w < words; ++w) {
          waiting[s][w] = ${words_of("sum", "i", "c * words + w", "x0 + i * 64", "y0")};
        }
      }
      waiting_x = x0;
      waiting_y = y0;
      wait = true;
//@ else
#pragma unroll
      for (int i = 0; i < parts; ++i) {
#pragma unroll
        for (int c = 0; c < BN / store_n; ++c) {
          store(x0 + i * 64, y0 + c * store_n,
                [&](int w) { return ${words_of("sum", "i", "c * words + w", "x0 + i * 64", "y0")}; });
        }
      }
//@ end
    }
//@ if deferred then
    if (wait) {
#pragma unroll
      for (int s = 0; s < stores; ++s) store_waiting(s);
    }
//@ end
    if (thread == 0) tensor_store_wait<0>();
  }
//@ if cluster_size > 1 then
  cluster_sync(); // no block leaves while others arrive at its barriers or read its shared memory
//@ end
}
//@ if stream then

// Adds up the parts of the shared tiles: a block has 64 lines of store_n columns, 128 of its threads 16 of these columns.
__global__ void __launch_bounds__(store_n * 8, 1) matmul_wgmma_sum(${params}) {
  __shared__ __align__(1024) unsigned char staging[64 * store_bytes];
  launch_next();
  wait_for_launch();
  const int tiles_x = static_cast<int>((${rows} + (BM * cluster_x - 1)) / (BM * cluster_x));
  const int tiles_y = static_cast<int>((${columns} + (BN * cluster_y - 1)) / (BN * cluster_y));
  const sharing shares(tiles_x * tiles_y, static_cast<int>((K + (BK - 1)) / BK));
  const int chunk = blockIdx.x % (BN / store_n), part = blockIdx.x / (BN / store_n) % (BM / 64);
  const int block = blockIdx.x / (BN / store_n * (BM / 64)), rank = block % cluster_size, index = block / cluster_size;
  if (index >= shares.tiles) return;
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, own = threadIdx.x / 128;
  const int last = shares.last_of(index);
  float sum[8] = {};
#pragma unroll 8
  for (int cluster = shares.first_of(index); cluster <= last; ++cluster) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const float4 four = *partial(workspace, cluster, index, rank, part, chunk * (store_n / 8) + own * 2 + q);
      sum[4 * q] += four.x;
      sum[4 * q + 1] += four.y;
      sum[4 * q + 2] += four.z;
      sum[4 * q + 3] += four.w;
    }
  }
  const place tile = tile_at(index, tiles_x, tiles_y);
  const int x0 = (tile.x * cluster_x + rank % cluster_x) * BM + part * 64;
  const int y0 = (tile.y * cluster_y + rank / cluster_x % cluster_y) * BN + chunk * store_n;
  const auto result_of = [&](int e) {
    const int line = x0 + warp * 16 + lane / 4 + e / 2 % 2 * 8;
    const int column = y0 + own * 16 + e / 4 * 8 + lane % 4 * 2 + e % 2;
    return static_cast<float>(${stored("sum[e]", "line", "column")});
  };
  const unsigned to = shared_address(staging);
//@ if result == "f32" then
#pragma unroll
  for (int e = 0; e < 8; e += 2) {
    const int line = warp * 16 + lane / 4 + e / 2 % 2 * 8, piece = own * 4 + e / 4 * 2 + lane % 4 / 2;
    store_words(to + swizzled(line, piece) + lane % 2 * 8, result_of(e), result_of(e + 1));
  }
//@ else
  store_matrices(to + swizzled(warp * 16 + lane % 16, own * 2 + lane / 16), pack(result_of(0), result_of(1)),
                 pack(result_of(2), result_of(3)), pack(result_of(4), result_of(5)), pack(result_of(6), result_of(7)));
//@ end
  tensor_fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    tensor_store(C, to, y0, x0);
    tensor_store_wait<0>();
  }
}
//@ end

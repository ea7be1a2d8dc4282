/* <cub/cub.cuh>: CUB's block and warp functions. Reductions, scans and sorts of a block use shared
   memory and the block's barriers, so that storage which is reused too early is a race. */
/* clang-format off */
#ifndef CUGEN_CUB
#define CUGEN_CUB
/* CUB's own headers include <limits> and <type_traits>, and sources rely on that */
#include <limits>
#include <type_traits>
namespace cub {
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

#define CUGEN_OPERATION(name, expression)                                                                             \
  struct name {                                                                                                       \
    template <class Value> CUGEN_METHOD Value operator()(const Value &a, const Value &b) const { return expression; } \
  };
CUGEN_OPERATION(Sum, a + b)
CUGEN_OPERATION(Max, a < b ? b : a)
CUGEN_OPERATION(Min, b < a ? b : a)
#undef CUGEN_OPERATION
struct Equality {
  template <class Value> CUGEN_METHOD bool operator()(const Value &a, const Value &b) const { return a == b; }
};
template <class Key_, class Value_> struct KeyValuePair {
  typedef Key_ Key;
  typedef Value_ Value;
  Key key;
  Value value;
};
struct ArgMax {
  template <class Pair> CUGEN_METHOD Pair operator()(const Pair &a, const Pair &b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Pair> CUGEN_METHOD Pair operator()(const Pair &a, const Pair &b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
template <class Storage> struct Uninitialized {
  alignas(Storage) char bytes[sizeof(Storage)];
  CUGEN_METHOD Storage &Alias() { return reinterpret_cast<Storage &>(bytes); }
};
struct NullType {};

/* ---- Of a block: one value of each thread in shared memory ---- */

template <class Value, int x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int = 0> class BlockReduce {
public:
  struct TempStorage {
    Value parts[x * y * z];
  };

private:
  TempStorage &storage;
  static CUGEN_METHOD TempStorage &own() {
    __shared__ TempStorage all;
    return all;
  }

public:
  CUGEN_METHOD BlockReduce() : storage(own()) {}
  CUGEN_METHOD explicit BlockReduce(TempStorage &all) : storage(all) {}
  template <class Operation> CUGEN_METHOD Value Reduce(Value value, Operation operation, int valid) {
    const int thread = (int)cugen_own_builtins.linear;
    if (thread < valid) storage.parts[thread] = value;
    cugen_barrier(CPU_BARRIER_PLAIN, 0);
    if (thread == 0)
      for (int i = 1; i < valid; ++i) value = operation(value, storage.parts[i]);
    /* CUB's threads may read any part of the storage: a barrier must come before the next use */
    cugen_note(&storage, valid * sizeof(Value), 0);
    return value;
  }
  template <class Operation> CUGEN_METHOD Value Reduce(Value value, Operation operation) { return Reduce(value, operation, x * y * z); }
  template <int count, class Operation> CUGEN_METHOD Value Reduce(Value (&values)[count], Operation operation) {
    Value all = values[0];
    for (int i = 1; i < count; ++i) all = operation(all, values[i]);
    return Reduce(all, operation);
  }
  CUGEN_METHOD Value Sum(Value value) { return Reduce(value, cub::Sum()); }
  CUGEN_METHOD Value Sum(Value value, int valid) { return Reduce(value, cub::Sum(), valid); }
  template <int count> CUGEN_METHOD Value Sum(Value (&values)[count]) { return Reduce(values, cub::Sum()); }
};

template <class Value, int x, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int = 0> class BlockScan {
public:
  struct TempStorage {
    Value parts[x * y * z + 1];
  };

private:
  TempStorage &storage;
  static CUGEN_METHOD TempStorage &own() {
    __shared__ TempStorage all;
    return all;
  }
  /* Thread 0 replaces each part by the combination of the parts before it (and of `first`, if
     `starts`); `all` becomes the total. */
  template <class Operation> CUGEN_METHOD Value scan(Value value, Operation operation, bool starts, Value first, Value &all) {
    const int thread = (int)cugen_own_builtins.linear;
    storage.parts[thread] = value;
    cugen_barrier(CPU_BARRIER_PLAIN, 0);
    if (thread == 0) {
      Value before = starts ? operation(first, storage.parts[0]) : storage.parts[0];
      storage.parts[0] = first;
      for (int i = 1; i <= x * y * z; ++i) {
        const Value next = i < x * y * z ? operation(before, storage.parts[i]) : before;
        storage.parts[i] = before;
        before = next;
      }
    }
    cugen_barrier(CPU_BARRIER_PLAIN, 0);
    all = storage.parts[x * y * z];
    /* CUB's threads may read any part of the storage: a barrier must come before the next use */
    cugen_note(&storage, sizeof storage, 0);
    return storage.parts[thread];
  }
  template <class Operation> CUGEN_METHOD Value including(Value value, Operation operation, Value before) {
    return cugen_own_builtins.linear ? operation(before, value) : value;
  }

public:
  CUGEN_METHOD BlockScan() : storage(own()) {}
  CUGEN_METHOD explicit BlockScan(TempStorage &all) : storage(all) {}
  template <class Operation> CUGEN_METHOD void ExclusiveScan(Value in, Value &out, Value first, Operation operation, Value &all) {
    out = scan(in, operation, true, first, all);
  }
  template <class Operation> CUGEN_METHOD void ExclusiveScan(Value in, Value &out, Value first, Operation operation) {
    Value all;
    out = scan(in, operation, true, first, all);
  }
  template <class Operation> CUGEN_METHOD void InclusiveScan(Value in, Value &out, Operation operation, Value &all) {
    out = including(in, operation, scan(in, operation, false, in, all));
  }
  template <class Operation> CUGEN_METHOD void InclusiveScan(Value in, Value &out, Operation operation) {
    Value all;
    InclusiveScan(in, out, operation, all);
  }
  CUGEN_METHOD void ExclusiveSum(Value in, Value &out) { ExclusiveScan(in, out, Value(), Sum()); }
  CUGEN_METHOD void ExclusiveSum(Value in, Value &out, Value &all) { ExclusiveScan(in, out, Value(), Sum(), all); }
  CUGEN_METHOD void InclusiveSum(Value in, Value &out) { InclusiveScan(in, out, Sum()); }
  CUGEN_METHOD void InclusiveSum(Value in, Value &out, Value &all) { InclusiveScan(in, out, Sum(), all); }
  /* For several values in each thread: first the thread's own values are combined, then those of
     the threads before. */
  template <int count, class Operation> CUGEN_METHOD void InclusiveScan(Value (&in)[count], Value (&out)[count], Operation operation, Value &all) {
    Value sums[count];
    sums[0] = in[0];
    for (int i = 1; i < count; ++i) sums[i] = operation(sums[i - 1], in[i]);
    const Value before = scan(sums[count - 1], operation, false, sums[count - 1], all);
    for (int i = 0; i < count; ++i) out[i] = including(sums[i], operation, before);
  }
  template <int count, class Operation> CUGEN_METHOD void InclusiveScan(Value (&in)[count], Value (&out)[count], Operation operation) {
    Value all;
    InclusiveScan(in, out, operation, all);
  }
  template <int count, class Operation>
  CUGEN_METHOD void ExclusiveScan(Value (&in)[count], Value (&out)[count], Value first, Operation operation, Value &all) {
    Value sum = in[0];
    for (int i = 1; i < count; ++i) sum = operation(sum, in[i]);
    Value before = scan(sum, operation, true, first, all);
    for (int i = 0; i < count; ++i) {
      const Value next = operation(before, in[i]);
      out[i] = before;
      before = next;
    }
  }
  template <int count> CUGEN_METHOD void InclusiveSum(Value (&in)[count], Value (&out)[count]) { InclusiveScan(in, out, Sum()); }
  template <int count> CUGEN_METHOD void InclusiveSum(Value (&in)[count], Value (&out)[count], Value &all) { InclusiveScan(in, out, Sum(), all); }
  template <int count> CUGEN_METHOD void ExclusiveSum(Value (&in)[count], Value (&out)[count]) {
    Value all;
    ExclusiveScan(in, out, Value(), Sum(), all);
  }
  template <int count> CUGEN_METHOD void ExclusiveSum(Value (&in)[count], Value (&out)[count], Value &all) {
    ExclusiveScan(in, out, Value(), Sum(), all);
  }
};

/* ---- Of a warp, or a part of one ---- */

template <int threads> CUGEN_METHOD unsigned cugen_cub_mask() {
  const unsigned from = cugen_lane() / threads * threads;
  return threads >= 32 ? ~0u : ((1u << threads) - 1) << from;
}
template <class Value, int threads = 32, int = 0> class WarpReduce {
public:
  struct TempStorage {};
  CUGEN_METHOD explicit WarpReduce(TempStorage &) {}
  template <class Operation> CUGEN_METHOD Value Reduce(Value value, Operation operation, int valid = threads) {
    const unsigned mask = cugen_cub_mask<threads>(), rank = cugen_lane() % threads;
    for (int by = 1; by < threads; by *= 2) {
      const Value other = __shfl_down_sync(mask, value, by, threads);
      if (rank % (2 * by) == 0 && (int)rank + by < valid) value = operation(value, other);
    }
    return value;
  }
  CUGEN_METHOD Value Sum(Value value) { return Reduce(value, cub::Sum()); }
  CUGEN_METHOD Value Sum(Value value, int valid) { return Reduce(value, cub::Sum(), valid); }
  CUGEN_METHOD Value Max(Value value) { return Reduce(value, cub::Max()); }
  CUGEN_METHOD Value Min(Value value) { return Reduce(value, cub::Min()); }
};
template <class Value, int threads = 32, int = 0> class WarpScan {
  template <class Operation> CUGEN_METHOD Value scan(Value value, Operation operation) {
    const unsigned mask = cugen_cub_mask<threads>(), rank = cugen_lane() % threads;
    for (int by = 1; by < threads; by *= 2) {
      const Value other = __shfl_up_sync(mask, value, by, threads);
      if ((int)rank >= by) value = operation(other, value);
    }
    return value;
  }

public:
  struct TempStorage {};
  CUGEN_METHOD explicit WarpScan(TempStorage &) {}
  template <class Operation> CUGEN_METHOD void InclusiveScan(Value in, Value &out, Operation operation) { out = scan(in, operation); }
  template <class Operation> CUGEN_METHOD void ExclusiveScan(Value in, Value &out, Value first, Operation operation) {
    const Value before = __shfl_up_sync(cugen_cub_mask<threads>(), scan(in, operation), 1, threads);
    out = cugen_lane() % threads ? operation(first, before) : first;
  }
  CUGEN_METHOD void InclusiveSum(Value in, Value &out) { out = scan(in, Sum()); }
  CUGEN_METHOD void InclusiveSum(Value in, Value &out, Value &all) {
    out = scan(in, Sum());
    all = __shfl_sync(cugen_cub_mask<threads>(), out, threads - 1, threads);
  }
  CUGEN_METHOD void ExclusiveSum(Value in, Value &out) { ExclusiveScan(in, out, Value(), Sum()); }
  CUGEN_METHOD void ExclusiveSum(Value in, Value &out, Value &all) {
    Value with;
    InclusiveSum(in, with, all);
    ExclusiveSum(in, out);
  }
  CUGEN_METHOD Value Broadcast(Value in, unsigned from) { return __shfl_sync(cugen_cub_mask<threads>(), in, from, threads); }
};

/* ---- Loads, stores, exchanges ---- */

#define CUGEN_MOVES(name, place)                                                                                      \
  template <int threads, class Value, int count, class From>                                                          \
  CUGEN_METHOD void Load##name(int thread, From from, Value (&to)[count]) {                                         \
    for (int i = 0; i < count; ++i) to[i] = from[place];                                                              \
  }                                                                                                                   \
  template <int threads, class Value, int count, class From>                                                          \
  CUGEN_METHOD void Load##name(int thread, From from, Value (&to)[count], int valid) {                              \
    for (int i = 0; i < count; ++i)                                                                                   \
      if (place < valid) to[i] = from[place];                                                                         \
  }                                                                                                                   \
  template <int threads, class Value, int count, class From, class Default>                                           \
  CUGEN_METHOD void Load##name(int thread, From from, Value (&to)[count], int valid, Default other) {               \
    for (int i = 0; i < count; ++i) to[i] = place < valid ? (Value)from[place] : (Value)other;                        \
  }                                                                                                                   \
  template <int threads, class Value, int count, class To>                                                            \
  CUGEN_METHOD void Store##name(int thread, To to, Value (&from)[count]) {                                          \
    for (int i = 0; i < count; ++i) to[place] = from[i];                                                              \
  }                                                                                                                   \
  template <int threads, class Value, int count, class To>                                                            \
  CUGEN_METHOD void Store##name(int thread, To to, Value (&from)[count], int valid) {                               \
    for (int i = 0; i < count; ++i)                                                                                   \
      if (place < valid) to[place] = from[i];                                                                         \
  }
CUGEN_MOVES(DirectStriped, i * threads + thread)
CUGEN_MOVES(DirectPlaced, thread * count + i)
#undef CUGEN_MOVES
template <class Value, int count, class From, class... Rest>
CUGEN_METHOD void LoadDirectBlocked(int thread, From from, Value (&to)[count], Rest... rest) {
  LoadDirectPlaced<1>(thread, from, to, rest...);
}
template <class Value, int count, class To, class... Rest>
CUGEN_METHOD void StoreDirectBlocked(int thread, To to, Value (&from)[count], Rest... rest) {
  StoreDirectPlaced<1>(thread, to, from, rest...);
}
template <class Value, int x, int count, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int y = 1, int z = 1, int = 0> class BlockLoad {
public:
  struct TempStorage {};
  CUGEN_METHOD BlockLoad() {}
  CUGEN_METHOD explicit BlockLoad(TempStorage &) {}
  template <class From, class... Rest> CUGEN_METHOD void Load(From from, Value (&to)[count], Rest... rest) {
    if (algorithm == BLOCK_LOAD_STRIPED) LoadDirectStriped<x * y * z>((int)cugen_own_builtins.linear, from, to, rest...);
    else LoadDirectBlocked((int)cugen_own_builtins.linear, from, to, rest...);
  }
};
template <class Value, int x, int count, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int y = 1, int z = 1, int = 0> class BlockStore {
public:
  struct TempStorage {};
  CUGEN_METHOD BlockStore() {}
  CUGEN_METHOD explicit BlockStore(TempStorage &) {}
  template <class To, class... Rest> CUGEN_METHOD void Store(To to, Value (&from)[count], Rest... rest) {
    if (algorithm == BLOCK_STORE_STRIPED) StoreDirectStriped<x * y * z>((int)cugen_own_builtins.linear, to, from, rest...);
    else StoreDirectBlocked((int)cugen_own_builtins.linear, to, from, rest...);
  }
};
/* Exchanges values between threads: each value is written at its present place and read at its
   new one. */
#define CUGEN_EXCHANGE_WAYS                                                                                           \
  template <class Out> CUGEN_METHOD void BlockedToStriped(Value (&in)[count], Out (&out)[count]) { exchange(in, out, true); } \
  template <class Out> CUGEN_METHOD void StripedToBlocked(Value (&in)[count], Out (&out)[count]) { exchange(in, out, false); } \
  CUGEN_METHOD void BlockedToStriped(Value (&both)[count]) { exchange(both, both, true); }                          \
  CUGEN_METHOD void StripedToBlocked(Value (&both)[count]) { exchange(both, both, false); }
#define CUGEN_EXCHANGE(threads, thread, meet)                                                                         \
  template <class Out> CUGEN_METHOD void exchange(Value (&in)[count], Out (&out)[count], bool striped) {            \
    for (int i = 0; i < count; ++i) storage.parts[striped ? thread * count + i : i * threads + thread] = in[i];       \
    meet;                                                                                                             \
    for (int i = 0; i < count; ++i) out[i] = storage.parts[striped ? i * threads + thread : thread * count + i];      \
  }
template <class Value, int x, int count, bool = false, int y = 1, int z = 1, int = 0> class BlockExchange {
public:
  struct TempStorage {
    Value parts[x * y * z * count];
  };

private:
  TempStorage &storage;
  CUGEN_EXCHANGE(x * y * z, (int)cugen_own_builtins.linear, cugen_barrier(CPU_BARRIER_PLAIN, 0))

public:
  CUGEN_METHOD explicit BlockExchange(TempStorage &all) : storage(all) {}
  CUGEN_EXCHANGE_WAYS
};
enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
template <class Value, int count, int threads = 32, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM, int = 0> class WarpExchange {
public:
  struct TempStorage {
    Value parts[threads * count];
  };

private:
  TempStorage &storage;
  CUGEN_EXCHANGE(threads, (int)(cugen_lane() % threads), __syncwarp(cugen_cub_mask<threads>()))

public:
  CUGEN_METHOD explicit WarpExchange(TempStorage &all) : storage(all) {}
  CUGEN_EXCHANGE_WAYS
};
#undef CUGEN_EXCHANGE
#undef CUGEN_EXCHANGE_WAYS

/* Each thread counts the keys that belong in front of its own keys; equal keys keep their order.
   Keys are compared by <, not by their bits. */
template <class Key, int x, int count, class Value = NullType, int = 4, bool = false, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0,
          int y = 1, int z = 1, int = 0>
class BlockRadixSort {
public:
  struct TempStorage {
    Key keys[x * y * z * count];
    Value values[x * y * z * count];
  };

private:
  TempStorage &storage;
  static constexpr int threads = x * y * z, total = threads * count;
  template <bool down, bool striped, bool with> CUGEN_METHOD void sort(Key (&keys)[count], Value (&values)[count]) {
    const int thread = (int)cugen_own_builtins.linear;
    Key own[count];
    int rank[count];
    for (int i = 0; i < count; ++i) storage.keys[thread * count + i] = own[i] = keys[i];
    cugen_barrier(CPU_BARRIER_PLAIN, 0);
    for (int i = 0; i < count; ++i) {
      rank[i] = 0;
      for (int other = 0; other < total; ++other) {
        const Key key = storage.keys[other];
        const bool before = down ? own[i] < key : key < own[i];
        rank[i] += before || (!(key < own[i]) && !(own[i] < key) && other < thread * count + i);
      }
    }
    cugen_barrier(CPU_BARRIER_PLAIN, 0);
    for (int i = 0; i < count; ++i) {
      storage.keys[rank[i]] = own[i];
      if (with) storage.values[rank[i]] = values[i];
    }
    cugen_barrier(CPU_BARRIER_PLAIN, 0);
    for (int i = 0; i < count; ++i) {
      const int at = striped ? i * threads + thread : thread * count + i;
      keys[i] = storage.keys[at];
      if (with) values[i] = storage.values[at];
    }
  }

public:
  CUGEN_METHOD explicit BlockRadixSort(TempStorage &all) : storage(all) {}
#define CUGEN_SORT(name, down, striped)                                                                               \
  CUGEN_METHOD void name(Key (&keys)[count]) {                                                                      \
    Value none[count];                                                                                                \
    sort<down, striped, false>(keys, none);                                                                           \
  }                                                                                                                   \
  CUGEN_METHOD void name(Key (&keys)[count], Value (&values)[count]) { sort<down, striped, true>(keys, values); }
  CUGEN_SORT(Sort, false, false)
  CUGEN_SORT(SortDescending, true, false)
  CUGEN_SORT(SortBlockedToStriped, false, true)
  CUGEN_SORT(SortDescendingBlockedToStriped, true, true)
#undef CUGEN_SORT
};
} // namespace cub
#endif

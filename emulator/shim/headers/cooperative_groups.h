/* <cooperative_groups.h> and its folder. A group within a warp is a mask of lanes and uses the
   warp's operations; a group of several warps waits at a numbered barrier. */
#ifndef CUGEN_COOPERATIVE_GROUPS
#define CUGEN_COOPERATIVE_GROUPS
#include <cugen_copies.h>

namespace cooperative_groups {
typedef unsigned long long cugen_wide;

namespace details {
/* Returns the lane of the mask that has `rank` lanes of the mask below; 32: there is none. */
CUGEN_METHOD unsigned nth(unsigned mask, unsigned rank) {
  while (rank-- && mask) mask &= mask - 1;
  return mask ? (unsigned)__builtin_ctz(mask) : 32;
}
CUGEN_METHOD unsigned below(unsigned mask) {
  return (unsigned)__builtin_popcount(mask & ((1u << cugen_lane()) - 1));
}
CUGEN_METHOD unsigned threads() {
  return cugen_own_builtins.block_size.x * cugen_own_builtins.block_size.y *
         cugen_own_builtins.block_size.z;
}
/* Returns the lanes of the warp that belong to the block. */
CUGEN_METHOD unsigned lanes() {
  const unsigned left = threads() - cugen_own_builtins.linear / 32 * 32;
  return left < 32 ? (1u << left) - 1 : ~0u;
}
CUGEN_METHOD unsigned volume(const uint3 &size) { return size.x * size.y * size.z; }
CUGEN_METHOD unsigned flat(const uint3 &at, const uint3 &size) {
  return at.x + size.x * (at.y + size.y * at.z);
}
template <class Value> struct plain { typedef Value type; };
template <class Value> struct plain<Value &> { typedef Value type; };
template <class Value> struct plain<const Value &> { typedef Value type; };
template <class Value> struct plain<const Value> { typedef Value type; };
template <class Value> struct plain<Value &&> { typedef Value type; };

enum kinds { one, warp_part, several_warps, block, grid, cluster };

/* Combines the values of all lanes of a mask with the caller's operation. */
template <class Value, class Operation> struct fold {
  Value value, result;
  Operation *operation;
  bool exclusive;
  static void reduce(void **slots, unsigned mask) {
    fold *first = static_cast<fold *>(slots[__builtin_ctz(mask)]);
    Value all = first->value;
    CUGEN_LANES(lane, mask & (mask - 1))
    all = (*first->operation)(all, static_cast<fold *>(slots[lane])->value);
    CUGEN_LANES(lane, mask) static_cast<fold *>(slots[lane])->result = all;
  }
  static void scan(void **slots, unsigned mask) {
    fold *first = static_cast<fold *>(slots[__builtin_ctz(mask)]);
    Value all = first->value;
    first->result = first->exclusive ? Value() : all;
    CUGEN_LANES(lane, mask & (mask - 1)) {
      fold *self = static_cast<fold *>(slots[lane]);
      const Value next = (*first->operation)(all, self->value);
      self->result = self->exclusive ? all : next;
      all = next;
    }
  }
};
} // namespace details

/* Any group. mask: the lanes of a part of a warp; number: the barrier of several warps. */
class thread_group {
public:
  int cugen_kind = details::one;
  unsigned cugen_mask = 0, cugen_size = 1, cugen_rank = 0, cugen_number = 0;

  thread_group() = default;
  CUGEN_METHOD thread_group(int kind, unsigned mask, unsigned size, unsigned rank,
                            unsigned number = 0)
      : cugen_kind(kind), cugen_mask(mask), cugen_size(size), cugen_rank(rank),
        cugen_number(number) {}
  CUGEN_METHOD void sync() const {
    if (cugen_kind == details::block)
      cugen_barrier(CPU_BARRIER_PLAIN, 0);
    else if (cugen_kind == details::several_warps)
      cugen_own_hooks->async->named_barrier(cugen_number, cugen_size, 1);
    else if (cugen_kind == details::warp_part)
      __syncwarp(cugen_mask);
  }
  CUGEN_METHOD unsigned size() const { return cugen_size; }
  CUGEN_METHOD unsigned num_threads() const { return cugen_size; }
  CUGEN_METHOD unsigned thread_rank() const { return cugen_rank; }
  CUGEN_METHOD bool is_valid() const { return true; }
};

template <unsigned Threads> struct block_tile_memory {};

class thread_block : public thread_group {
public:
  CUGEN_METHOD thread_block()
      : thread_group(details::block, 0, details::threads(), cugen_own_builtins.linear) {}
  static CUGEN_METHOD void sync() { cugen_barrier(CPU_BARRIER_PLAIN, 0); }
  static CUGEN_METHOD unsigned thread_rank() { return cugen_own_builtins.linear; }
  static CUGEN_METHOD unsigned size() { return details::threads(); }
  static CUGEN_METHOD unsigned num_threads() { return details::threads(); }
  static CUGEN_METHOD dim3 group_index() { return blockIdx; }
  static CUGEN_METHOD dim3 thread_index() { return threadIdx; }
  static CUGEN_METHOD dim3 group_dim() { return blockDim; }
  static CUGEN_METHOD dim3 dim_threads() { return blockDim; }
  struct arrival_token {};
  /* The whole barrier is in barrier_wait, as late as a GPU may reach it. */
  CUGEN_METHOD arrival_token barrier_arrive() const { return arrival_token(); }
  CUGEN_METHOD void barrier_wait(arrival_token &&) const { sync(); }
};
CUGEN_METHOD thread_block this_thread_block() { return thread_block(); }
template <unsigned Threads>
CUGEN_METHOD thread_block this_thread_block(block_tile_memory<Threads> &) {
  return thread_block();
}

class grid_group : public thread_group {
public:
  CUGEN_METHOD grid_group() : thread_group(details::grid, 0, 0, 0) {}
  static CUGEN_METHOD void sync() {
    if (!is_valid()) cugen_own_hooks->needs_grid();
    cugen_note_fence(1);
    cugen_own_hooks->async->cluster_barrier(CPU_CLUSTER_ARRIVE | CPU_CLUSTER_WAIT);
  }
  static CUGEN_METHOD bool is_valid() { return cugen_own_builtins.cooperative; }
  static CUGEN_METHOD cugen_wide num_blocks() {
    return details::volume(cugen_own_builtins.grid_size);
  }
  static CUGEN_METHOD cugen_wide block_rank() {
    return details::flat(cugen_own_builtins.block, cugen_own_builtins.grid_size);
  }
  static CUGEN_METHOD cugen_wide size() { return num_blocks() * details::threads(); }
  static CUGEN_METHOD cugen_wide num_threads() { return size(); }
  static CUGEN_METHOD cugen_wide thread_rank() {
    return block_rank() * details::threads() + cugen_own_builtins.linear;
  }
  static CUGEN_METHOD dim3 block_index() { return blockIdx; }
  static CUGEN_METHOD dim3 dim_blocks() { return gridDim; }
  static CUGEN_METHOD dim3 group_dim() { return gridDim; }
};
CUGEN_METHOD grid_group this_grid() { return grid_group(); }

class cluster_group : public thread_group {
  static CUGEN_METHOD const uint3 &shape() { return cugen_own_builtins.cluster_size; }

public:
  CUGEN_METHOD cluster_group() : thread_group(details::cluster, 0, 0, 0) {}
  struct arrival_token {};
  static CUGEN_METHOD void sync() {
    cugen_own_hooks->async->cluster_barrier(CPU_CLUSTER_ARRIVE | CPU_CLUSTER_WAIT);
  }
  static CUGEN_METHOD arrival_token barrier_arrive() {
    cugen_own_hooks->async->cluster_barrier(CPU_CLUSTER_ARRIVE);
    return arrival_token();
  }
  static CUGEN_METHOD void barrier_wait() {
    cugen_own_hooks->async->cluster_barrier(CPU_CLUSTER_WAIT);
  }
  static CUGEN_METHOD void barrier_wait(arrival_token &&) { barrier_wait(); }
  static CUGEN_METHOD unsigned block_rank() { return cugen_own_builtins.cluster_rank; }
  static CUGEN_METHOD unsigned num_blocks() { return details::volume(shape()); }
  static CUGEN_METHOD unsigned thread_rank() {
    return block_rank() * details::threads() + cugen_own_builtins.linear;
  }
  static CUGEN_METHOD unsigned num_threads() { return num_blocks() * details::threads(); }
  static CUGEN_METHOD unsigned size() { return num_threads(); }
  static CUGEN_METHOD dim3 dim_blocks() { return shape(); }
  static CUGEN_METHOD dim3 dim_threads() {
    return dim3(shape().x * blockDim.x, shape().y * blockDim.y, shape().z * blockDim.z);
  }
  static CUGEN_METHOD dim3 block_index() {
    return dim3(blockIdx.x % shape().x, blockIdx.y % shape().y, blockIdx.z % shape().z);
  }
  template <class Value> static CUGEN_METHOD Value *map_shared_rank(Value *at, int rank) {
    const cpu_async *async = cugen_own_hooks->async;
    return static_cast<Value *>(
        async->pointer(async->map(async->address((const void *)at), (unsigned)rank)));
  }
};
CUGEN_METHOD cluster_group this_cluster() { return cluster_group(); }

/* ---- Parts of a warp ------------------------------------------------------------------------ */

class cugen_lanes_group : public thread_group {
public:
  cugen_lanes_group() = default;
  CUGEN_METHOD cugen_lanes_group(unsigned mask)
      : thread_group(details::warp_part, mask, (unsigned)__builtin_popcount(mask),
                     details::below(mask)) {}
  CUGEN_METHOD void sync() const { __syncwarp(cugen_mask); }

private:
  CUGEN_METHOD unsigned packed(unsigned lanes) const {
    unsigned out = 0, rank = 0;
    CUGEN_LANES(lane, cugen_mask) out |= (lanes >> lane & 1) << rank++;
    return out;
  }

public:
  template <class Value>
  CUGEN_METHOD typename details::plain<Value>::type shfl(Value &&value, int rank) const {
    typedef typename details::plain<Value>::type Plain;
    return cugen_shuffle<Plain>::run(cugen_mask, value,
                                     details::nth(cugen_mask, (unsigned)rank % cugen_size));
  }
  template <class Value>
  CUGEN_METHOD typename details::plain<Value>::type shfl_up(Value &&value, unsigned by) const {
    typedef typename details::plain<Value>::type Plain;
    return cugen_shuffle<Plain>::run(
        cugen_mask, value,
        details::nth(cugen_mask, cugen_rank >= by ? cugen_rank - by : cugen_rank));
  }
  template <class Value>
  CUGEN_METHOD typename details::plain<Value>::type shfl_down(Value &&value, unsigned by) const {
    typedef typename details::plain<Value>::type Plain;
    return cugen_shuffle<Plain>::run(
        cugen_mask, value,
        details::nth(cugen_mask, by < cugen_size - cugen_rank ? cugen_rank + by : cugen_rank));
  }
  template <class Value>
  CUGEN_METHOD typename details::plain<Value>::type shfl_xor(Value &&value, unsigned bits) const {
    typedef typename details::plain<Value>::type Plain;
    const unsigned other = cugen_rank ^ bits;
    return cugen_shuffle<Plain>::run(
        cugen_mask, value, details::nth(cugen_mask, other < cugen_size ? other : cugen_rank));
  }
  CUGEN_METHOD int any(int p) const { return __ballot_sync(cugen_mask, p) != 0; }
  CUGEN_METHOD int all(int p) const { return __ballot_sync(cugen_mask, !p) == 0; }
  CUGEN_METHOD unsigned ballot(int p) const { return packed(__ballot_sync(cugen_mask, p)); }
  template <class Value> CUGEN_METHOD unsigned match_any(Value value) const {
    return packed(__match_any_sync(cugen_mask, value));
  }
  template <class Value> CUGEN_METHOD unsigned match_all(Value value, int &p) const {
    return packed(__match_all_sync(cugen_mask, value, &p));
  }
};

class coalesced_group : public cugen_lanes_group {
public:
  unsigned cugen_meta_rank = 0, cugen_meta_size = 1;
  CUGEN_METHOD coalesced_group(unsigned mask, unsigned rank = 0, unsigned size = 1)
      : cugen_lanes_group(mask), cugen_meta_rank(rank), cugen_meta_size(size) {}
  CUGEN_METHOD unsigned meta_group_rank() const { return cugen_meta_rank; }
  CUGEN_METHOD unsigned meta_group_size() const { return cugen_meta_size; }
};
CUGEN_METHOD coalesced_group coalesced_threads() {
  return coalesced_group(cugen_own_hooks->converged());
}

namespace details {
CUGEN_METHOD unsigned tile_mask(unsigned size) {
  const unsigned from = cugen_lane() & ~(size - 1);
  return (size >= 32 ? ~0u : ((1u << size) - 1) << from) & lanes();
}
} // namespace details

template <unsigned Size, class Parent = void, bool several = (Size > 32)>
class cugen_tile : public cugen_lanes_group {
protected:
  unsigned meta_rank = 0, meta_size = 1;

public:
  CUGEN_METHOD cugen_tile(unsigned parent_rank, unsigned parent_size)
      : cugen_lanes_group(details::tile_mask(Size)), meta_rank(parent_rank / Size),
        meta_size((parent_size + Size - 1) / Size) {}
  CUGEN_METHOD unsigned meta_group_rank() const { return meta_rank; }
  CUGEN_METHOD unsigned meta_group_size() const { return meta_size; }
  static constexpr CUGEN_METHOD unsigned size() { return Size; }
  static constexpr CUGEN_METHOD unsigned num_threads() { return Size; }
};
template <unsigned Size, class Parent> class cugen_tile<Size, Parent, true> : public thread_group {
protected:
  unsigned meta_size = 1;

public:
  CUGEN_METHOD cugen_tile(unsigned parent_rank, unsigned parent_size)
      : thread_group(details::several_warps, 0, Size, parent_rank % Size, parent_rank / Size),
        meta_size((parent_size + Size - 1) / Size) {}
  CUGEN_METHOD unsigned meta_group_rank() const { return cugen_number; }
  CUGEN_METHOD unsigned meta_group_size() const { return meta_size; }
  static constexpr CUGEN_METHOD unsigned size() { return Size; }
  static constexpr CUGEN_METHOD unsigned num_threads() { return Size; }
  CUGEN_METHOD void sync() const { cugen_own_hooks->async->named_barrier(cugen_number, Size, 1); }
};
template <unsigned Size, class Parent = void>
class thread_block_tile : public cugen_tile<Size, Parent> {
public:
  CUGEN_METHOD thread_block_tile(unsigned parent_rank, unsigned parent_size)
      : cugen_tile<Size, Parent>(parent_rank, parent_size) {}
  template <class Other>
  CUGEN_METHOD thread_block_tile(const thread_block_tile<Size, Other> &other)
      : cugen_tile<Size, Parent>(other.meta_group_rank() * Size + other.thread_rank(),
                                 other.meta_group_size() * Size) {}
};

template <unsigned Size, class Parent>
CUGEN_METHOD thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
  static_assert(Size && !(Size & (Size - 1)) && Size <= 1024,
                "a tile has a power of two of threads");
  return thread_block_tile<Size, Parent>(parent.thread_rank(), parent.size());
}
template <unsigned Size>
CUGEN_METHOD coalesced_group tiled_partition(const coalesced_group &parent) {
  unsigned mask = 0;
  const unsigned first = parent.thread_rank() / Size * Size;
  for (unsigned rank = first; rank < first + Size && rank < parent.size(); ++rank)
    mask |= 1u << details::nth(parent.cugen_mask, rank);
  return coalesced_group(mask, first / Size, (parent.size() + Size - 1) / Size);
}
CUGEN_METHOD thread_group tiled_partition(const thread_group &parent, unsigned size) {
  if (parent.cugen_kind == details::block && size > 32)
    return thread_group(details::several_warps, 0, size, parent.cugen_rank % size,
                        parent.cugen_rank / size);
  if (parent.cugen_kind == details::block) return cugen_lanes_group(details::tile_mask(size));
  unsigned mask = 0;
  const unsigned first = parent.cugen_rank / size * size;
  for (unsigned rank = first; rank < first + size && rank < parent.cugen_size; ++rank)
    mask |= 1u << details::nth(parent.cugen_mask, rank);
  return cugen_lanes_group(mask);
}
template <class Group> CUGEN_METHOD coalesced_group binary_partition(const Group &group, bool p) {
  const unsigned with = __ballot_sync(group.cugen_mask, p);
  return coalesced_group(p ? with : group.cugen_mask & ~with, p ? 1 : 0, 2);
}
template <class Group, class Label>
CUGEN_METHOD coalesced_group labeled_partition(const Group &group, Label label) {
  return coalesced_group(__match_any_sync(group.cugen_mask, label));
}

/* ---- Functions of all groups ---------------------------------------------------------------- */

template <class Group> CUGEN_METHOD void sync(const Group &group) { group.sync(); }
template <class Group> CUGEN_METHOD auto thread_rank(const Group &group) {
  return group.thread_rank();
}
template <class Group> CUGEN_METHOD auto group_size(const Group &group) { return group.size(); }
CUGEN_METHOD dim3 thread_index(const thread_block &) { return threadIdx; }
CUGEN_METHOD dim3 group_index(const thread_block &) { return blockIdx; }

template <class Group, class Call> CUGEN_METHOD void invoke_one(const Group &group, Call &&call) {
  if (group.thread_rank() == 0) call();
}
template <class Group, class Call>
CUGEN_METHOD auto invoke_one_broadcast(const Group &group, Call &&call) -> decltype(call()) {
  decltype(call()) value = decltype(call())();
  if (group.thread_rank() == 0) value = call();
  return group.shfl(value, 0);
}

/* ---- Reductions and scans ------------------------------------------------------------------- */

#define CUGEN_OPERATION(name, expression)                                                        \
  template <class Value = void> struct name {                                                    \
    CUGEN_METHOD Value operator()(const Value &a, const Value &b) const { return expression; }   \
  };                                                                                             \
  template <> struct name<void> {                                                                \
    template <class Value> CUGEN_METHOD Value operator()(const Value &a, const Value &b) const { \
      return expression;                                                                         \
    }                                                                                            \
  };
CUGEN_OPERATION(plus, a + b)
CUGEN_OPERATION(less, b < a ? b : a)
CUGEN_OPERATION(greater, a < b ? b : a)
CUGEN_OPERATION(bit_and, a &b)
CUGEN_OPERATION(bit_or, a | b)
CUGEN_OPERATION(bit_xor, a ^ b)
#undef CUGEN_OPERATION

template <class Group, class Value, class Operation>
CUGEN_METHOD typename details::plain<Value>::type
cugen_reduce_lanes(const Group &group, Value &&value, Operation &&operation) {
  typedef typename details::plain<Value>::type Plain;
  auto own = operation; /* a function becomes a pointer to it */
  typedef details::fold<Plain, decltype(own)> Fold;
  Fold slot = {value, value, &own, false};
  cugen_own_hooks->warp(group.cugen_mask, Fold::reduce, &slot);
  return slot.result;
}
/* For several warps: each warp combines its own values, then each thread combines the warps'
   results, which are in shared memory. */
template <class Group, class Value, class Operation>
CUGEN_METHOD typename details::plain<Value>::type
cugen_reduce_warps(const Group &group, Value &&value, Operation &&operation) {
  typedef typename details::plain<Value>::type Plain;
  __shared__ Plain parts[32];
  const unsigned warp = cugen_own_builtins.linear / 32, first = warp - group.thread_rank() / 32;
  const Plain own = cugen_reduce_lanes(cugen_lanes_group(~0u), value, operation);
  if (cugen_lane() == 0) parts[warp] = own;
  group.sync();
  Plain all = parts[first];
  for (unsigned i = 1; i < group.size() / 32; ++i) all = operation(all, parts[first + i]);
  group.sync();
  return all;
}
template <class Value, class Operation>
CUGEN_METHOD typename details::plain<Value>::type reduce(const coalesced_group &group,
                                                         Value &&value, Operation &&operation) {
  return cugen_reduce_lanes(group, value, operation);
}
template <unsigned Size, class Parent, class Value, class Operation>
CUGEN_METHOD typename details::plain<Value>::type
reduce(const thread_block_tile<Size, Parent> &group, Value &&value, Operation &&operation) {
  if constexpr (Size > 32)
    return cugen_reduce_warps(group, value, operation);
  else
    return cugen_reduce_lanes(group, value, operation);
}
template <class Group, class Value, class Operation>
CUGEN_METHOD typename details::plain<Value>::type
cugen_scan(const Group &group, Value &&value, Operation &&operation, bool exclusive) {
  typedef typename details::plain<Value>::type Plain;
  auto own = operation; /* a function becomes a pointer to it */
  typedef details::fold<Plain, decltype(own)> Fold;
  Fold slot = {value, value, &own, exclusive};
  cugen_own_hooks->warp(group.cugen_mask, Fold::scan, &slot);
  return slot.result;
}
template <class Group, class Value, class Operation = plus<>>
CUGEN_METHOD typename details::plain<Value>::type
inclusive_scan(const Group &group, Value &&value, Operation &&operation = Operation()) {
  return cugen_scan(group, value, operation, false);
}
template <class Group, class Value, class Operation = plus<>>
CUGEN_METHOD typename details::plain<Value>::type
exclusive_scan(const Group &group, Value &&value, Operation &&operation = Operation()) {
  return cugen_scan(group, value, operation, true);
}

/* ---- Asynchronous copies -------------------------------------------------------------------- */

template <class Group, class To, class From, class Bytes>
CUGEN_METHOD void memcpy_async(const Group &group, To *to, const From *from, const Bytes &bytes) {
  cugen_copy_share((void *)to, (const void *)from, (size_t)bytes, (size_t)group.thread_rank(),
                   (size_t)group.size());
  cugen_copy_commit();
}
template <class Group, class To, class From, class ToCount, class FromCount>
CUGEN_METHOD void memcpy_async(const Group &group, To *to, const ToCount &to_count,
                               const From *from, const FromCount &from_count) {
  const size_t count =
      (size_t)to_count < (size_t)from_count ? (size_t)to_count : (size_t)from_count;
  memcpy_async(group, to, from, count * sizeof(From));
}
template <class Group> CUGEN_METHOD void wait(const Group &group) {
  cugen_copy_wait(0);
  group.sync();
}
template <unsigned Newest, class Group> CUGEN_METHOD void wait_prior(const Group &group) {
  cugen_copy_wait(Newest);
  group.sync();
}
} // namespace cooperative_groups
#endif

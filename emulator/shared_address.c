/* Shared memory by PTX addresses (abi.h), in the thread's block and in other blocks of the
   cluster. */
#include "async.h"

/* The address of static shared memory is STATIC_BIT and the distance from static_base(). */
enum { STATIC_BIT = 1 << 23, STATIC_REACH = 1 << 22, BASE_ALIGNMENT = 4096 };

/* Returns an address STATIC_REACH bytes in front of the page of the loaded object's variable
   cugen_builtins, because the object's arrays of static shared memory lie on both sides of that
   variable. */
static uintptr_t static_base(void) {
  return (uintptr_t)fibers_launch()->builtins / BASE_ALIGNMENT * BASE_ALIGNMENT - STATIC_REACH;
}

unsigned async_address(const void *at) {
  const struct fiber_launch *launch = fibers_launch();
  const uintptr_t dynamic = (uintptr_t)launch->builtins->dynamic_shared;
  if ((uintptr_t)at - dynamic < 1u << ASYNC_PLACE_BITS) return (unsigned)((uintptr_t)at - dynamic);
  const uintptr_t from_base = (uintptr_t)at - static_base();
  if (from_base >= STATIC_BIT)
    fibers_trap("an address of shared memory was asked for, of what does not lie there");
  return STATIC_BIT | (unsigned)from_base;
}

unsigned async_place(unsigned address, unsigned *rank) {
  const unsigned block = address >> ASYNC_BLOCK_SHIFT;
  *rank = block ? block - 1 : fibers_current()->rank;
  if (*rank >= fibers_current()->blocks)
    fibers_trap("an address in a block that the cluster does not have");
  return address & ((1u << ASYNC_BLOCK_SHIFT) - 1);
}

void *async_raw(unsigned place, unsigned rank) {
  const struct fiber_launch *launch = fibers_launch();
  if (place & STATIC_BIT) return (void *)(static_base() + (place & ~(unsigned)STATIC_BIT));
  return (char *)launch->dynamic_shared + rank * launch->dynamic_room + place;
}

static void *shared_at(unsigned place, unsigned rank) {
  void *raw = async_raw(place, rank);
  return place & STATIC_BIT ? fibers_static(rank, (uintptr_t)raw) : raw;
}

char *async_shared(unsigned place, unsigned rank, size_t bytes) {
  const size_t room = fibers_launch()->dynamic_bytes;
  if (!(place & STATIC_BIT) && (place >= room || bytes > room - place))
    fibers_trap("an asynchronous operation outside of the block's shared memory");
  return shared_at(place, rank);
}

void async_misuse(cugen_finding_kind kind, const void *site, unsigned slot, const char *what) {
  observe_misuse(fibers_observer(), kind, site, slot, what);
}

_Noreturn void async_trap(const void *site, const char *what) {
  async_misuse(CUGEN_FINDING_ASYNC_MISUSE, site, fibers_current()->slot, what);
  fibers_trap(what);
}

unsigned async_map(unsigned address, unsigned rank) {
  unsigned ignored;
  if (rank >= fibers_current()->blocks)
    fibers_trap("mapa names a block that the cluster does not have");
  return async_place(address, &ignored) | (rank + 1) << ASYNC_BLOCK_SHIFT;
}

const void *async_site(const void *address) {
  struct async *async = fibers_async();
  const void *site = async->site ? async->site : address;
  async->site = NULL;
  return site;
}

/* ---- Memory of other blocks of the cluster -------------------------------------------------- */

/* Another block's memory exists until that block ends: async_check_remote checks whether the block
   ended after this use. */
void async_remember_remote(unsigned rank, const void *site) {
  const struct current *current = fibers_current();
  const struct observer *observer = fibers_observer();
  if (!observer || rank == current->rank) return;
  fibers_async()->used = true;
  fibers_async()->remote[rank][current->rank] =
      (struct remote_use){current->slot, observer->ops->now(observer->watch), site};
}

void *async_pointer(unsigned address) {
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  async_remember_remote(rank, __builtin_return_address(0));
  return shared_at(place, rank);
}

/* Returns true if the block had a thread that was ordered after the use. */
static bool outlives(unsigned rank, const struct remote_use *use) {
  const struct observer *observer = fibers_observer();
  const struct current *current = fibers_current();
  unsigned thread = 0;
  while (thread < current->threads &&
         !observer->ops->knows(observer->watch, rank * current->padded + thread, use->slot,
                               use->epoch))
    thread++;
  return thread < current->threads;
}

void async_check_remote(const struct async *async) {
  const unsigned blocks = fibers_observer() ? fibers_current()->blocks : 0;
  for (unsigned i = 0; i < blocks * blocks; i++) {
    const struct remote_use *use = &async->remote[i / blocks][i % blocks];
    if (use->epoch && !outlives(i / blocks, use))
      async_misuse(CUGEN_FINDING_ASYNC_MISUSE, use->site, use->slot,
                   "uses shared memory of another block of the cluster, which may have ended by "
                   "then: no barrier keeps it");
  }
}

/* Memory operations of inline PTX: loads, stores, atomics, copies, mbarriers; see inline_ptx.h. */
#include <string.h>

#include "async.h"
#include "inline_ptx.h"

/* ---- Addresses ------------------------------------------------------------------------------ */

static uint64_t base_of(const struct iptx_run *run, const struct iptx_instruction *i,
                        unsigned argument) {
  const struct iptx_argument *a = &i->arguments[argument];
  uint64_t at = iptx_read(run, &a->terms[0], IPTX_B64) + (uint64_t)a->offset;
  if (a->added.kind != IPTX_NOTHING) at += iptx_read(run, &a->added, IPTX_B64);
  return at;
}

unsigned iptx_shared(const struct iptx_run *run, const struct iptx_instruction *i,
                     unsigned argument) {
  return (unsigned)base_of(run, i, argument);
}

/* Returns the memory that an address argument points to. */
static void *memory_address(const struct iptx_run *run, const struct iptx_instruction *i,
                            unsigned argument) {
  const uint64_t at = base_of(run, i, argument);
  if (iptx_has(i, IPTX_W_SHARED) && !iptx_has(i, IPTX_W_GLOBAL)) return async_pointer((unsigned)at);
  return (void *)(uintptr_t)at;
}

static void memory_check_alignment(const struct iptx_run *run, const void *at, size_t bytes,
                                   unsigned kind) {
  if ((uintptr_t)at % bytes == 0) return;
  if (run->watch) run->watch->misaligned("inline PTX", at, bytes, kind, run->site);
  iptx_trap(run, "misaligned access of inline PTX");
}

static enum iptx_type memory_type_of(const struct iptx_instruction *i) {
  return i->type_count ? i->types[i->type_count - 1] : IPTX_B32;
}

static size_t memory_bytes_of(enum iptx_type type) {
  return iptx_bits(type) / 8;
}

static uint64_t load_typed(const char *at, enum iptx_type type) {
  uint64_t bits = 0;
  memcpy(&bits, at, memory_bytes_of(type));
  return iptx_extended(bits, type);
}

/* ---- Loads and stores ----------------------------------------------------------------------- */

/* Returns CPU_VOLATILE for an access that bypasses caches, such as a release or acquire, else 0. */
static unsigned memory_access_kind(const struct iptx_instruction *i) {
  static const enum iptx_word strong[] = {IPTX_W_VOLATILE, IPTX_W_RELAXED, IPTX_W_ACQUIRE,
                                          IPTX_W_RELEASE,  IPTX_W_CG,      IPTX_W_CV};
  for (size_t word = 0; word < sizeof strong / sizeof *strong; word++)
    if (iptx_has(i, strong[word])) return CPU_VOLATILE;
  return 0;
}

static void memory_fence(const struct iptx_run *run, const struct iptx_instruction *i) {
  if (run->watch) run->watch->fence(!iptx_has(i, IPTX_W_CTA));
}

static void memory_load(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = memory_type_of(i);
  const size_t bytes = memory_bytes_of(type);
  const struct iptx_argument *to = &i->arguments[0];
  const char *at = memory_address(run, i, 1);
  memory_check_alignment(run, at, bytes * to->count, 0);
  iptx_note(run, at, bytes * to->count, memory_access_kind(i));
  for (unsigned part = 0; part < to->count; part++)
    iptx_write(run, &to->terms[part], load_typed(at + part * bytes, type));
  if (iptx_has(i, IPTX_W_ACQUIRE)) memory_fence(run, i);
}

static void memory_store(struct iptx_run *run, const struct iptx_instruction *i) {
  const enum iptx_type type = memory_type_of(i);
  const size_t bytes = memory_bytes_of(type);
  const struct iptx_argument *from = &i->arguments[1];
  char *at = memory_address(run, i, 0);
  if (iptx_has(i, IPTX_W_RELEASE)) memory_fence(run, i);
  memory_check_alignment(run, at, bytes * from->count, CPU_WRITE);
  iptx_note(run, at, bytes * from->count, CPU_WRITE | memory_access_kind(i));
  for (unsigned part = 0; part < from->count; part++) {
    const uint64_t bits = iptx_read(run, &from->terms[part], type);
    memcpy(at + part * bytes, &bits, bytes);
  }
}

/* ---- Atomics -------------------------------------------------------------------------------- */

static uint64_t added(uint64_t old, uint64_t value, enum iptx_type type) {
  if (!strchr("fdhHgG", iptx_kind(type))) return old + value;
  const uint64_t low = iptx_from_real(iptx_real(old, type) + iptx_real(value, type), type);
  if (iptx_kind(type) != 'H' && iptx_kind(type) != 'G') return low;
  return low | iptx_from_real(iptx_real(old >> 16, type) + iptx_real(value >> 16, type), type)
                   << 16;
}

uint64_t iptx_combined(const struct iptx_instruction *i, uint64_t old, uint64_t value,
                       enum iptx_type type) {
  const bool less = iptx_kind(type) == 's' ? (int64_t)value < (int64_t)old : value < old;
  if (iptx_has(i, IPTX_W_ADD)) return added(old, value, type);
  if (iptx_has(i, IPTX_W_MIN)) return less ? value : old;
  if (iptx_has(i, IPTX_W_MAX)) return less ? old : value;
  if (iptx_has(i, IPTX_W_AND)) return old & value;
  if (iptx_has(i, IPTX_W_OR)) return old | value;
  if (iptx_has(i, IPTX_W_XOR)) return old ^ value;
  if (iptx_has(i, IPTX_W_INC)) return old >= value ? 0 : old + 1;
  if (iptx_has(i, IPTX_W_DEC)) return old == 0 || old > value ? value : old - 1;
  return value; /* exch */
}

static void exchange_all(struct iptx_run *run, const struct iptx_instruction *i, unsigned address) {
  const enum iptx_type type = memory_type_of(i);
  const size_t bytes = memory_bytes_of(type);
  const struct iptx_argument *values = &i->arguments[address + 1];
  char *at = memory_address(run, i, address);
  const bool orders = iptx_has(i, IPTX_W_RELEASE) || iptx_has(i, IPTX_W_ACQ_REL);
  const bool ordered = iptx_has(i, IPTX_W_ACQUIRE) || iptx_has(i, IPTX_W_ACQ_REL);
  if (orders) memory_fence(run, i);
  memory_check_alignment(run, at, bytes * values->count, CPU_WRITE);
  /* the word CTA may also come from .shared::cta, which is no scope */
  const bool block = iptx_has(i, IPTX_W_CTA) && !iptx_has(i, IPTX_W_SHARED);
  iptx_note(run, at, bytes * values->count,
            CPU_WRITE | CPU_ATOMIC | (block ? CPU_BLOCK : 0) |
                (iptx_has(i, IPTX_W_EXCH) ? CPU_REPLACES : 0));
  for (unsigned part = 0; part < values->count; part++, at += bytes) {
    const uint64_t old = load_typed(at, type), value = iptx_read(run, &values->terms[part], type);
    uint64_t out = iptx_combined(i, old, value, type);
    if (iptx_has(i, IPTX_W_CAS)) out = old == value ? iptx_get(run, i, address + 2, type) : old;
    memcpy(at, &out, bytes);
    if (address) iptx_write(run, &i->arguments[0].terms[part], old);
  }
  if (ordered) memory_fence(run, i);
}

static void atom(struct iptx_run *run, const struct iptx_instruction *i) {
  exchange_all(run, i, 1);
}

static void red(struct iptx_run *run, const struct iptx_instruction *i) {
  exchange_all(run, i, 0);
}

/* ---- Address spaces, fences, hints ---------------------------------------------------------- */

static void cvta(struct iptx_run *run, const struct iptx_instruction *i) {
  const uint64_t from = iptx_get(run, i, 1, IPTX_B64);
  if (!iptx_has(i, IPTX_W_SHARED))
    iptx_put(run, i, 0, from);
  else if (iptx_has(i, IPTX_W_TO))
    iptx_put(run, i, 0, async_address((const void *)(uintptr_t)from));
  else
    iptx_put(run, i, 0, (uintptr_t)async_pointer((unsigned)from));
}

static void mapa(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned rank = (unsigned)iptx_get(run, i, 2, IPTX_U32);
  const uint64_t from = iptx_get(run, i, 1, IPTX_B64);
  if (iptx_has(i, IPTX_W_SHARED))
    iptx_put(run, i, 0, async_map((unsigned)from, rank));
  else
    iptx_put(
        run, i, 0,
        (uintptr_t)async_pointer(async_map(async_address((const void *)(uintptr_t)from), rank)));
}

static void do_fence(struct iptx_run *run, const struct iptx_instruction *i) {
  if (iptx_has(i, IPTX_W_MBARRIER_INIT))
    barriers_fence(CPU_FENCE_MBARRIER_INIT);
  else if (iptx_has(i, IPTX_W_PROXY))
    barriers_fence(CPU_FENCE_PROXY);
  else
    memory_fence(run, i);
}

static void griddepcontrol(struct iptx_run *run, const struct iptx_instruction *i) {
  (void)run;
  if (iptx_has(i, IPTX_W_WAIT)) barriers_fence(CPU_FENCE_LAUNCH);
}

static void createpolicy(struct iptx_run *run, const struct iptx_instruction *i) {
  iptx_put(run, i, 0, 0);
}

/* ---- A thread's own copies ------------------------------------------------------------------ */

/* Returns how many bytes cp.async reads, which a number or an ignore-src predicate may reduce. */
static unsigned bytes_read(const struct iptx_run *run, const struct iptx_instruction *i,
                           unsigned bytes) {
  if (i->count <= 3u + iptx_has(i, IPTX_W_HINT)) return bytes;
  if (i->arguments[3].terms[0].predicate) return iptx_get(run, i, 3, IPTX_PRED) ? 0 : bytes;
  const unsigned wanted = (unsigned)iptx_get(run, i, 3, IPTX_U32);
  return wanted < bytes ? wanted : bytes;
}

/* cp.async [shared], [global], bytes{, bytes that are read, or predicate}{, policy} */
static void memory_copy(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned bytes = (unsigned)iptx_get(run, i, 2, IPTX_U32);
  const unsigned from_bytes = bytes_read(run, i, bytes);
  if (bytes != 4 && bytes != 8 && bytes != 16) iptx_trap(run, "cp.async copies 4, 8 or 16 bytes");
  const struct cpu_copy all = {.to = async_pointer(iptx_shared(run, i, 0)),
                               .from = (const void *)(uintptr_t)base_of(run, i, 1),
                               .bytes = bytes,
                               .from_bytes = from_bytes};
  memory_check_alignment(run, all.to, bytes, CPU_WRITE);
  if (from_bytes) memory_check_alignment(run, all.from, bytes, 0);
  if (from_bytes) iptx_note(run, all.from, from_bytes, CPU_ASYNC);
  iptx_note(run, all.to, bytes, CPU_WRITE | CPU_ASYNC);
  copies_own_add(&all);
}

static void memory_finish(const struct iptx_run *run, unsigned newest) {
  struct cpu_copy done;
  while (copies_own_next(newest, &done)) {
    if (run->watch) run->watch->arrived(done.to, done.bytes, run->site);
    if (done.from_bytes) memcpy(done.to, done.from, done.from_bytes);
    memset((char *)done.to + done.from_bytes, 0, done.bytes - done.from_bytes);
  }
}

/* ---- mbarriers ------------------------------------------------------------------------------ */

static void mbarrier_start(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned arrivals = (unsigned)iptx_get(run, i, 1, IPTX_U32), at = iptx_shared(run, i, 0);
  iptx_at_site(run);
  mbarrier_init(at, arrivals);
}

/* mbarrier.arrive {state,} [address] {, count or bytes}: the state is the phase. */
static void mbarrier_come(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned address = i->arguments[0].address ? 0 : 1, at = iptx_shared(run, i, address);
  const unsigned number =
      i->count > address + 1u ? (unsigned)iptx_get(run, i, address + 1, IPTX_U32) : 0;
  const bool bytes = iptx_has(i, IPTX_W_EXPECT_TX);
  const unsigned times = !bytes && number ? number : 1;
  const unsigned rank = at >> ASYNC_BLOCK_SHIFT;
  if (address && !rank) iptx_put(run, i, 0, mbarrier_phase(at));
  for (unsigned time = 0; time < times; time++) {
    iptx_at_site(run);
    mbarrier_arrive(at, bytes ? number : 0);
  }
}

static void mbarrier_more(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned at = iptx_shared(run, i, 0);
  iptx_at_site(run);
  mbarrier_expect(at, (unsigned)iptx_get(run, i, 1, IPTX_U32));
}

/* try_wait and test_wait are treated as a wait, so they always succeed. */
static void mbarrier_until(struct iptx_run *run, const struct iptx_instruction *i) {
  const uint64_t state = iptx_get(run, i, 2, IPTX_B64);
  const unsigned at = iptx_shared(run, i, 1);
  iptx_at_site(run);
  mbarrier_wait(at, (unsigned)state & 1);
  iptx_put(run, i, 0, 1);
}

/* Makes the thread's copies now, before the arrival. Without .noinc the phase expects one arrival
   more, which cancels this one. */
static void copy_arrive(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned at = iptx_shared(run, i, 0);
  memory_finish(run, CPU_COPY_ALL);
  iptx_at_site(run);
  if (iptx_has(i, IPTX_W_NOINC)) mbarrier_arrive(at, 0);
}

/* ---- The copy engine ------------------------------------------------------------------------ */

/* cp.async.bulk.shared.global [to], [from], bytes, [barrier]; or .global.shared [to], [from],
   bytes. */
static void bulk(struct iptx_run *run, const struct iptx_instruction *i) {
  const bool loads = i->count >= 4 && i->arguments[3].address;
  const unsigned bytes = (unsigned)iptx_get(run, i, 2, IPTX_U32);
  iptx_at_site(run);
  if (loads)
    copies_bulk_load(iptx_shared(run, i, 0), (const void *)(uintptr_t)base_of(run, i, 1), bytes,
                     iptx_shared(run, i, 3));
  else
    copies_bulk_store((void *)(uintptr_t)base_of(run, i, 0), iptx_shared(run, i, 1), bytes);
}

/* cp.async.bulk.tensor [to], [map, {x, y}], [barrier] {, blocks}; or [map, {x, y}], [from]. */
static void bulk_tensor(struct iptx_run *run, const struct iptx_instruction *i) {
  const bool stores = i->arguments[0].count > 1;
  const unsigned map = stores ? 0 : 1;
  const struct iptx_argument *place = &i->arguments[map];
  const bool several = iptx_has(i, IPTX_W_MULTICAST) && i->count > 3;
  int at[CPU_TENSOR_RANK] = {0};
  for (unsigned part = 1; part < place->count && part <= CPU_TENSOR_RANK; part++)
    at[part - 1] = (int)iptx_read(run, &place->terms[part], IPTX_S32);
  const void *tensor = (const void *)(uintptr_t)base_of(run, i, map);
  const unsigned blocks = several ? (unsigned)iptx_get(run, i, 3, IPTX_U16) : 0;
  iptx_at_site(run);
  if (stores)
    copies_tensor_store(tensor, iptx_shared(run, i, 1), at);
  else
    copies_tensor_load(iptx_shared(run, i, 0), tensor, iptx_shared(run, i, 2), at, blocks);
}

/* ---- Selecting by the words after "cp" and "mbarrier" --------------------------------------- */

static void cp(struct iptx_run *run, const struct iptx_instruction *i) {
  const bool by_engine = iptx_has(i, IPTX_W_BULK);
  if (iptx_has(i, IPTX_W_MBARRIER) && iptx_has(i, IPTX_W_ARRIVE) && !by_engine) {
    copy_arrive(run, i);
  } else if (iptx_has(i, IPTX_W_COMMIT_GROUP)) {
    (by_engine ? copies_commit : copies_own_commit)();
  } else if (iptx_has(i, IPTX_W_WAIT_GROUP) && by_engine) {
    copies_wait((unsigned)iptx_get(run, i, 0, IPTX_U32));
  } else if (iptx_has(i, IPTX_W_WAIT_GROUP)) {
    memory_finish(run, (unsigned)iptx_get(run, i, 0, IPTX_U32));
  } else if (iptx_has(i, IPTX_W_WAIT_ALL)) {
    memory_finish(run, CPU_COPY_ALL);
  } else if (iptx_has(i, IPTX_W_TENSOR)) {
    bulk_tensor(run, i);
  } else if (by_engine) {
    bulk(run, i);
  } else {
    memory_copy(run, i);
  }
}

#define ANY IPTX_W_COUNT
const struct iptx_operation iptx_memory[] = {{"ld", ANY, 2, 3, memory_load},
                                             {"ldu", ANY, 2, 2, memory_load},
                                             {"st", ANY, 2, 3, memory_store},
                                             {"atom", ANY, 3, 4, atom},
                                             {"red", IPTX_W_ASYNC, 1, 0, NULL},
                                             {"red", ANY, 2, 3, red},
                                             {"cvta", ANY, 2, 2, cvta},
                                             {"mapa", ANY, 3, 3, mapa},
                                             {"fence", ANY, 0, 2, do_fence},
                                             {"membar", ANY, 0, 0, do_fence},
                                             {"griddepcontrol", ANY, 0, 0, griddepcontrol},
                                             {"prefetch", ANY, 1, 1, NULL},
                                             {"prefetchu", ANY, 1, 1, NULL},
                                             {"discard", ANY, 1, 2, NULL},
                                             {"applypriority", ANY, 1, 2, NULL},
                                             {"createpolicy", ANY, 1, 4, createpolicy},
                                             {"cp", IPTX_W_ASYNC, 0, 5, cp},
                                             {"mbarrier", IPTX_W_INIT, 2, 2, mbarrier_start},
                                             {"mbarrier", IPTX_W_INVAL, 1, 1, NULL},
                                             {"mbarrier", IPTX_W_ARRIVE, 1, 3, mbarrier_come},
                                             {"mbarrier", IPTX_W_EXPECT_TX, 2, 2, mbarrier_more},
                                             {"mbarrier", IPTX_W_TRY_WAIT, 3, 4, mbarrier_until},
                                             {"mbarrier", IPTX_W_TEST_WAIT, 3, 4, mbarrier_until},
                                             {NULL, ANY, 0, 0, NULL}};

/* Asynchronous copies between global and shared memory, all as late as a GPU may make them, which
   gives a missing or weak wait an effect. Loads of the copy engine arrive when no thread can run,
   its stores when a thread waits for them or the cluster ends. PTX ISA, "Tensor copy",
   "cp.async.bulk". A thread's own copies (cp.async) are only recorded here, in the groups that the
   thread waits for; the thread makes each copy when it waits for the copy's group. PTX ISA,
   "Non-bulk copy". */
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "base/array.h"

enum { CHUNK = 16 };

struct copy {
  bool tensor;
  struct cpu_tensor map;
  int at[CPU_TENSOR_RANK];
  char *global;   /* of a copy of no tensor */
  unsigned bytes; /* in shared memory */
  unsigned shared, rank;
  /* of a load; blocks: a bit for each block in which the load arrives */
  unsigned barrier, blocks;
  unsigned slot, group;           /* the thread; of a store: its group */
  uint32_t epochs[FIBERS_BLOCKS]; /* of a load: when it began in each block, for the observer */
  const void *site;
};

struct list { /* the copies from `first` on are under way */
  struct copy *copies;
  size_t first, count, room;
};

/* A thread's own copies. */
struct own_copy {
  struct cpu_copy copy;
  unsigned group;
};
struct queue {
  struct own_copy *copies;
  size_t first, count, room;
  unsigned groups; /* committed groups */
};

struct copies {
  struct list loads, stores;
  unsigned groups[FIBERS_SLOTS]; /* number of groups that each thread has committed */
  unsigned slots;                /* 1 + the highest slot with a queue in use */
  struct queue queues[FIBERS_SLOTS];
};

int copies_open(struct copies **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? CUGEN_OK : error_memory(err);
}

void copies_close(struct copies *copies) {
  if (!copies) return;
  free(copies->loads.copies);
  free(copies->stores.copies);
  for (size_t i = 0; i < FIBERS_SLOTS; i++) free(copies->queues[i].copies);
  free(copies);
}

/* Forgets the copies of the engine. */
static void forget_engine(struct copies *copies) {
  copies->loads.first = copies->loads.count = 0;
  copies->stores.first = copies->stores.count = 0;
  memset(copies->groups, 0, sizeof copies->groups);
}

void copies_begin(struct copies *copies) {
  forget_engine(copies);
  for (size_t i = 0; i < copies->slots; i++) {
    struct queue *queue = &copies->queues[i];
    queue->first = queue->count = queue->groups = 0;
  }
  copies->slots = 0;
}

static struct copy *copies_add(struct list *list) {
  if (list->first == list->count) list->first = list->count = 0;
  struct copy *grown = array_reserve(list->copies, &list->room, list->count, sizeof *grown);
  if (!grown) fibers_trap("no memory for a copy that is on its way");
  list->copies = grown;
  return &list->copies[list->count++];
}

/* ---- Accesses of a watched kernel's copies -------------------------------------------------- */

static void use_global(const struct copy *copy) {
  OBSERVE(fibers_observer(), launch_used, copy->slot, copy->site);
}

/* Reports an access to the observer. rank: of the block whose shared memory is accessed. Returns
   the access's epoch, or 0. */
static uint32_t touch(const struct copy *copy, const void *at, size_t bytes, unsigned kind,
                      unsigned rank) {
  const struct observed_access access = {.at = at,
                                         .bytes = bytes,
                                         .kind = kind | OBSERVED_PROXY,
                                         .thread = copy->slot,
                                         .rank = rank,
                                         .site = copy->site};
  return bytes ? observe_access(fibers_observer(), &access) : 0;
}

static uint32_t touch_shared(const struct copy *copy, unsigned rank, unsigned kind) {
  return touch(copy, async_raw(copy->shared, rank), copy->bytes, kind, rank);
}

static void touch_global(const struct copy *copy, const char *at, size_t bytes, unsigned kind) {
  touch(copy, at, bytes, kind, 0);
}

/* ---- Boxes of a tensor ---------------------------------------------------------------------- */

/* Swizzling: pieces of 16 bytes change places within `swizzle` bytes, by bits 7 and up of the
   address. */
static unsigned swizzled(unsigned place, unsigned swizzle) {
  return place ^ ((place >> 7 & (swizzle / CHUNK - 1)) << 4 & (swizzle ? ~0u : 0u));
}

/* Returns the beginning of the tensor's line in which the box's line lies; NULL: that line is
   outside of the tensor in a dimension other than the first. */
static char *copies_line_of(const struct copy *copy, unsigned line) {
  const struct cpu_tensor *map = &copy->map;
  char *at = (char *)(uintptr_t)map->base;
  for (int i = 1; i < map->rank; i++) {
    const int64_t x = (int64_t)copy->at[i] + line % map->box[i];
    line /= map->box[i];
    if (x < 0 || x >= map->shape[i]) return NULL;
    at += x * map->stride[i];
  }
  return at;
}

/* A piece of 16 bytes of a box's line. */
struct piece {
  int64_t at;         /* offset in the line of the tensor */
  int64_t begin, end; /* of the bytes that are within the tensor, from the piece's start */
};

static struct piece copies_piece_at(const struct copy *copy, unsigned from) {
  const int64_t at = (int64_t)copy->at[0] * copy->map.element + from;
  const int64_t length = (int64_t)copy->map.shape[0] * copy->map.element;
  struct piece piece = {at, at < 0 ? -at : 0, CHUNK};
  if (piece.begin > CHUNK) piece.begin = CHUNK;
  if (at + CHUNK > length) piece.end = length - at;
  if (piece.end < piece.begin) piece.end = piece.begin;
  return piece;
}

static void load_line(const struct copy *copy, unsigned line, unsigned rank) {
  const unsigned line_bytes = (unsigned)copy->map.box[0] * copy->map.element;
  const char *from = copies_line_of(copy, line);
  for (unsigned done = 0; done < line_bytes; done += CHUNK) {
    char *to = async_shared(swizzled(copy->shared + line * line_bytes + done, copy->map.swizzle),
                            rank, CHUNK);
    const struct piece piece = copies_piece_at(copy, done);
    memset(to, 0, CHUNK);
    if (!from) continue;
    touch_global(copy, from + piece.at + piece.begin, (size_t)(piece.end - piece.begin), 0);
    memcpy(to + piece.begin, from + piece.at + piece.begin, (size_t)(piece.end - piece.begin));
  }
}

/* A piece in which the tensor's line ends is written to the piece's end, as on an H200. */
static void store_line(const struct copy *copy, unsigned line) {
  const unsigned line_bytes = (unsigned)copy->map.box[0] * copy->map.element;
  char *to = copies_line_of(copy, line);
  for (unsigned done = 0; to && done < line_bytes; done += CHUNK) {
    const struct piece piece = copies_piece_at(copy, done);
    const char *from = async_shared(
        swizzled(copy->shared + line * line_bytes + done, copy->map.swizzle), copy->rank, CHUNK);
    if (piece.end == piece.begin) continue;
    touch_global(copy, to + piece.at + piece.begin, (size_t)(CHUNK - piece.begin), CPU_WRITE);
    memcpy(to + piece.at + piece.begin, from + piece.begin, (size_t)(CHUNK - piece.begin));
  }
}

/* Returns the number of the box's lines; 0: the copy is of no tensor. */
static unsigned line_count(const struct copy *copy) {
  unsigned count = copy->tensor ? 1 : 0;
  for (int i = 1; i < copy->map.rank; i++) count *= copy->map.box[i];
  return count;
}

/* ---- Loads ---------------------------------------------------------------------------------- */

static void begin_load(struct copy *load) {
  struct async *async = fibers_async();
  const struct current *current = fibers_current();
  unsigned rank;
  async->used = true;
  load->shared = async_place(load->shared, &load->rank);
  load->barrier = async_place(load->barrier, &rank);
  if (!load->blocks) load->blocks = 1u << load->rank;
  if (load->blocks >> current->blocks)
    async_trap(load->site, "a multicast to blocks that the cluster does not have");
  if (load->shared % CHUNK)
    async_trap(load->site, "a bulk copy to a place that is no multiple of 16 bytes");
  load->slot = current->slot;
  use_global(load);
  for (rank = 0; rank < FIBERS_BLOCKS; rank++)
    if (load->blocks >> rank & 1)
      load->epochs[rank] = touch_shared(load, rank, CPU_WRITE | CPU_ASYNC | OBSERVED_ENGINE);
  *copies_add(&async->copies->loads) = *load;
}

/* Describes the copy of a box that begins at the indices `at`, or traps. */
static void copies_set_box(struct copy *copy, const void *map, const int *at) {
  memcpy(&copy->map, map, sizeof copy->map);
  if (copy->map.rank < 1 || copy->map.rank > CPU_TENSOR_RANK)
    fibers_trap("a tensor map that the runtime did not make");
  if (copy->shared % 128) fibers_trap("a box of a tensor lies at a multiple of 128 bytes");
  if ((int64_t)at[0] * copy->map.element % CHUNK)
    fibers_trap("a box of a tensor begins at a multiple of 16 bytes of its lines");
  memcpy(copy->at, at, copy->map.rank * sizeof *at);
  copy->bytes = copy->map.element;
  for (int i = 0; i < copy->map.rank; i++) copy->bytes *= copy->map.box[i];
}

void copies_tensor_load(unsigned to, const void *map, unsigned barrier, const int *at,
                        unsigned blocks) {
  struct copy load = {.tensor = true, .shared = to, .barrier = barrier, .blocks = blocks};
  copies_set_box(&load, map, at);
  load.site = async_site(__builtin_return_address(0));
  begin_load(&load);
}

void copies_bulk_load(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
  struct copy load = {
      .shared = to, .barrier = barrier, .bytes = bytes, .global = (char *)(uintptr_t)from};
  if (bytes % CHUNK || (uintptr_t)from % CHUNK)
    fibers_trap("a bulk copy of other than multiples of 16 bytes");
  load.site = async_site(__builtin_return_address(0));
  begin_load(&load);
}

static void copies_land(struct async *async, const struct copy *load, unsigned rank) {
  const unsigned lines = line_count(load);
  for (unsigned line = 0; line < lines; line++) load_line(load, line, rank);
  if (!load->tensor) {
    touch_global(load, load->global, load->bytes, 0);
    memcpy(async_shared(load->shared, rank, load->bytes), load->global, load->bytes);
  }
  const struct arrival arrival = {.rank = rank,
                                  .barrier = load->barrier,
                                  .bytes = load->bytes,
                                  .slot = load->slot,
                                  .epoch = load->epochs[rank],
                                  .site = load->site};
  OBSERVE(fibers_observer(), copy_landed, async_raw(load->shared, rank), load->bytes,
          load->epochs[rank]);
  mbarrier_complete(async, &arrival);
}

bool copies_step(struct async *async) {
  struct list *loads = &async->copies->loads;
  if (loads->first == loads->count) return false;
  const struct copy load = loads->copies[loads->first++];
  for (unsigned rank = 0; rank < FIBERS_BLOCKS; rank++)
    if (load.blocks >> rank & 1) copies_land(async, &load, rank);
  return true;
}

/* ---- Stores --------------------------------------------------------------------------------- */

static void begin_store(struct copy *store) {
  struct async *async = fibers_async();
  async->used = true;
  store->shared = async_place(store->shared, &store->rank);
  store->slot = fibers_current()->slot;
  store->group = async->copies->groups[store->slot];
  use_global(store);
  touch_shared(store, store->rank, CPU_ASYNC);
  *copies_add(&async->copies->stores) = *store;
}

void copies_tensor_store(const void *map, unsigned from, const int *at) {
  struct copy store = {.tensor = true, .shared = from};
  copies_set_box(&store, map, at);
  store.site = async_site(__builtin_return_address(0));
  begin_store(&store);
}

void copies_bulk_store(void *to, unsigned from, unsigned bytes) {
  struct copy store = {.shared = from, .bytes = bytes, .global = to};
  if (bytes % CHUNK || (uintptr_t)to % CHUNK || from % CHUNK)
    fibers_trap("a bulk copy of other than multiples of 16 bytes");
  store.site = async_site(__builtin_return_address(0));
  begin_store(&store);
}

void copies_commit(void) {
  fibers_async()->copies->groups[fibers_current()->slot]++;
}

static void finish_store(const struct copy *store) {
  touch_shared(store, store->rank, 0);
  const unsigned lines = line_count(store);
  for (unsigned line = 0; line < lines; line++) store_line(store, line);
  if (store->tensor) return;
  touch_global(store, store->global, store->bytes, CPU_WRITE);
  memcpy(store->global, async_shared(store->shared, store->rank, store->bytes), store->bytes);
}

void copies_wait(unsigned newest) {
  struct copies *copies = fibers_async()->copies;
  struct list *stores = &copies->stores;
  const unsigned slot = fibers_current()->slot;
  size_t kept = stores->first;
  for (size_t i = stores->first; i < stores->count; i++) {
    const struct copy *store = &stores->copies[i];
    if (store->slot == slot && store->group + newest < copies->groups[slot])
      finish_store(store);
    else
      stores->copies[kept++] = *store;
  }
  stores->count = kept;
}

/* Reports the copies that are still under way, and completes the stores. */
void copies_end(struct copies *copies) {
  const struct list *loads = &copies->loads, *stores = &copies->stores;
  for (size_t i = loads->first; i < loads->count; i++)
    async_misuse(CUGEN_FINDING_ASYNC_MISUSE, loads->copies[i].site, loads->copies[i].slot,
                 "the block ends before what this copy brings has come");
  for (size_t i = stores->first; i < stores->count; i++) {
    async_misuse(
        CUGEN_FINDING_ASYNC_MISUSE, stores->copies[i].site, stores->copies[i].slot,
        "the block ends while this copy may still read its shared memory: it is not waited for");
    finish_store(&stores->copies[i]);
  }
  forget_engine(copies);
}

/* ---- A thread's own copies ------------------------------------------------------------------ */

static struct queue *own_queue(void) {
  struct copies *copies = fibers_async()->copies;
  const unsigned slot = fibers_current()->slot;
  if (copies->slots <= slot) copies->slots = slot + 1;
  return &copies->queues[slot];
}

void copies_own_add(const struct cpu_copy *copy) {
  struct queue *queue = own_queue();
  fibers_async()->used = true;
  if (queue->first == queue->count) queue->first = queue->count = 0;
  struct own_copy *grown = array_reserve(queue->copies, &queue->room, queue->count, sizeof *grown);
  if (!grown) fibers_trap("no memory for a copy that is on its way");
  queue->copies = grown;
  queue->copies[queue->count++] = (struct own_copy){*copy, queue->groups};
}

void copies_own_commit(void) {
  fibers_async()->used = true;
  own_queue()->groups++;
}

int copies_own_next(unsigned newest, struct cpu_copy *out) {
  struct queue *queue = own_queue();
  if (queue->first == queue->count) return 0;
  const struct own_copy *oldest = &queue->copies[queue->first];
  if (newest != CPU_COPY_ALL && oldest->group + newest >= queue->groups) return 0;
  *out = oldest->copy;
  queue->first++;
  return 1;
}

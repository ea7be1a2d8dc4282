/* Memory regions: finding whether an address is in static or dynamic shared memory, in a buffer,
   or is not watched; see state.h. */
#include <stdlib.h>
#include <string.h>

#include "emulator/fibers.h"
#include "state.h"

enum {
  ZONE = 1 << 20, /* free addresses around a buffer: see guard.c */
  NULL_PAGE = 4096
};

/* Returns true if the access is an atomic operation that is neither a load nor a store. */
static bool is_modified(const struct access *a) {
  return a->kind & CPU_ATOMIC && !(a->kind & CPU_VOLATILE);
}

/* Counts an access that is a warp's request, except an atomic read-modify-write. A buffer's
   addresses count from its first byte, which is aligned on a GPU, but not here. */
static void regions_count(const struct access *a, const char *array) {
  if (!a->watch->counting) return;
  const uintptr_t at = a->region->shared ? a->at : a->at - a->region->start;
  /* not a request of a warp */
  const bool engine = a->kind & OBSERVED_PROXY || (a->kind & CPU_ASYNC && a->bytes > 16);
  /* in a cluster the first block represents all */
  const bool first = a->thread < a->watch->launch.padded;
  if (!first || is_modified(a) || engine) return;
  const cugen_memory memory = a->region->shared                             ? CUGEN_MEMORY_SHARED
                              : a->region->variable && a->region->read_only ? CUGEN_MEMORY_CONSTANT
                                                                            : CUGEN_MEMORY_GLOBAL;
  for (unsigned done = 0; done < a->bytes; done += 16) {
    const unsigned bytes = a->bytes - done < 16 ? a->bytes - done : 16;
    struct traffic_site *site =
        traffic_site(a->watch->traffic, a->site, array, memory, bytes, a->kind);
    traffic_access(a->watch->traffic, site, a->thread, at + done);
  }
}

enum { MOST_ARRAYS = 255 };

static bool is_gap(const struct shared_array *array) {
  return !array->name[0];
}

/* The array nearest to an address in a gap, or past an end. */
static const struct shared_array *nearest_array(const struct watch *w, uintptr_t at) {
  const struct shared_array *nearest = NULL;
  uintptr_t distance = UINTPTR_MAX;
  for (size_t i = 0; i < w->array_count; i++) {
    const struct shared_array *array = &w->arrays[i];
    const uintptr_t away = at < array->start ? array->start - at
                           : at < array->end ? 0
                                             : at - array->end;
    if (is_gap(array) || away >= distance) continue;
    nearest = array;
    distance = away;
  }
  return nearest;
}

/* Finds the variable of the image that the address is in, or that lies less than 256 bytes in front
   of the address; NULL: there is none. */
static struct region *find_variable(struct watch *w, uintptr_t at) {
  size_t low = 0, high = w->variable_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (w->variables[middle].start <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low && at < w->variables[low - 1].high ? &w->variables[low - 1] : NULL;
}

/* Reports an access behind a variable. Returns false if there is no such variable. */
static bool leave_variable(const struct access *a) {
  struct access access = *a;
  access.region = find_variable(a->watch, a->at);
  if (access.region) finding_add(&access, CUGEN_FINDING_OUT_OF_BOUNDS, NULL);
  return access.region;
}

/* Adds a finding of an access in no region. Returns NULL where finding_new does. */
static struct watch_finding *leave_regions(const struct access *a) {
  struct watch_finding *f =
      finding_new(a->watch, CUGEN_FINDING_OUT_OF_BOUNDS, a->site, 0, a->thread);
  if (!f) return NULL;
  f->here.write = a->kind & CPU_WRITE;
  f->size = (int)a->bytes;
  return f;
}

static void leave_array(const struct access *a) {
  if (leave_variable(a)) return;
  const struct shared_array *array = nearest_array(a->watch, a->at);
  struct watch_finding *f = array ? leave_regions(a) : NULL;
  if (!f) return;
  f->shared = true;
  memcpy(f->array, array->name, sizeof f->array);
  f->offset = (int64_t)(a->at - array->start);
  f->bytes = (int64_t)(array->end - array->start);
}

/* Reports a block's static shared memory if it exceeds 48 KiB, which only dynamic shared memory may
   (CUDA C++ Programming Guide, technical specifications per compute capability). Only the arrays
   that this kernel uses count. */
static void touch_array(const struct access *a, struct shared_array *array) {
  enum { STATIC_LIMIT = 48 << 10 };
  struct watch *w = a->watch;
  const bool within = w->static_bytes <= STATIC_LIMIT;
  array->touched = true;
  w->static_bytes += array->end - array->start;
  if (!within || w->static_bytes <= STATIC_LIMIT) return;
  struct watch_finding *f = finding_new(w, CUGEN_FINDING_SHARED_LIMIT, a->site, 0, a->thread);
  if (!f) return;
  f->shared = true;
  f->bytes = (int64_t)w->static_bytes;
  f->size = STATIC_LIMIT;
  memcpy(f->array, array->name, sizeof f->array);
}

void regions_launch(struct watch *w) {
  for (size_t i = 0; i < w->array_count; i++) w->arrays[i].touched = false;
  w->static_bytes = 0;
}

static void access_static(struct access *a) {
  struct watch *w = a->watch;
  struct region *shared = &w->shared[a->rank];
  const uint8_t number = w->array_of[(a->at - shared->start) / WATCH_WORD];
  struct shared_array *array = number ? &w->arrays[number - 1] : NULL;
  if (!array) return;
  if (is_gap(array) || a->at + a->bytes > array->end) {
    leave_array(a);
    return;
  }
  if (!array->touched) touch_array(a, array);
  a->region = shared;
  shadow_visit(a);
  regions_count(a, array->name);
}

/* Returns the rank of the block whose dynamic shared memory is near the address, or launch.blocks
   if none is. */
static uintptr_t dynamic_rank(const struct watch *w, uintptr_t at) {
  const size_t room = w->launch.dynamic_room;
  const uintptr_t offset = at - w->launch.dynamic + room / 2;
  return offset < w->launch.blocks * room ? offset / room : w->launch.blocks;
}

static void access_dynamic(struct access *a, uintptr_t rank) {
  struct region *dynamic = &a->watch->dynamic[rank];
  a->region = dynamic;
  if (a->at >= dynamic->start && a->at + a->bytes <= dynamic->end) {
    shadow_visit(a);
    regions_count(a, dynamic->name);
    return;
  }
  finding_add(a, CUGEN_FINDING_OUT_OF_BOUNDS, NULL);
}

static struct region *find_region(struct watch *w, uintptr_t at) {
  const struct region *recent = &w->regions[w->recent];
  if (w->region_count && at - recent->start < recent->end - recent->start)
    return &w->regions[w->recent];
  size_t found = w->region_count;
  for (size_t i = 0; i < w->region_count; i++) {
    const struct region *r = &w->regions[i];
    if (at >= r->start && at < r->end) {
      w->recent = i;
      return &w->regions[i];
    }
    if (at >= r->low && at < r->high) found = i;
  }
  return found < w->region_count ? &w->regions[found] : find_variable(w, at);
}

/* From here on blocks run in one process. */
static void entangle(struct watch *w) {
  w->entangled = w->report->dependent = true;
  if (w->speculation) speculation_drop(w->speculation);
}

/* Reports a use of global memory in a launch that overlaps with the launch in front, unless a
   griddepcontrol.wait comes before the use. */
static void need_launch(struct watch *w, unsigned thread, uint64_t site) {
  if (!w->launch.overlap || w->launch_waited[thread]) return;
  if (w->last_waited.epoch && happens_before(&w->hb, &w->last_waited, thread)) return;
  struct watch_finding *f = finding_new(w, CUGEN_FINDING_MISSING_FENCE, site, 0, thread);
  if (f)
    finding_text(f, "global memory is used before griddepcontrol.wait, in a launch that may begin "
                    "before the one in front "
                    "has ended (overlap)");
}

void regions_launch_waited(struct watch *w, unsigned thread) {
  w->launch_waited[thread] = true;
  w->last_waited = (struct event){.epoch = w->hb.epoch, .thread = thread};
}

void regions_launch_used(struct watch *w, unsigned thread, const void *site) {
  need_launch(w, thread, finding_site(w, site));
}

static bool is_inside(uintptr_t at, const void *start, size_t bytes) {
  return at - (uintptr_t)start < bytes;
}

/* Returns true if the address is in memory that needs no watching: the image's constants, cugen's
   own variables, and the tables of hooks. */
static bool regions_is_table(const struct watch *w, uintptr_t at) {
  const struct cpu_hooks *hooks = fibers_hooks();
  if (is_inside(at, hooks, sizeof *hooks) || is_inside(at, hooks->async, sizeof *hooks->async))
    return true;
  if (is_inside(at, &w->hooks, sizeof w->hooks)) return true;
  const uintptr_t base = w->launch.image->base;
  return at - base < w->launch.image->length || (at >= base && at < w->shared[0].end);
}

bool regions_is_constant(struct watch *w, uintptr_t at) {
  return at >= NULL_PAGE && !regions_find(w, at) && regions_is_table(w, at);
}

static void access_global(struct access *a) {
  struct watch *w = a->watch;
  struct region *region = find_region(w, a->at);
  w->report->dependent |= (a->kind & CPU_VOLATILE) != 0;
  if (is_modified(a) || (a->kind & CPU_WRITE && (!region || region->variable))) entangle(w);
  if (!region && a->at < NULL_PAGE) { /* by a null pointer, or by an index from one */
    struct watch_finding *f = leave_regions(a);
    if (f) f->offset = (int64_t)a->at;
  }
  w->report->elsewhere += !region && a->at >= NULL_PAGE && !regions_is_table(w, a->at);
  if (!region) return;
  a->region = region;
  if (!(a->kind & OBSERVED_PROXY)) need_launch(w, a->thread, a->site);
  if (a->at < region->start || a->at + a->bytes > region->end) {
    finding_add(a, CUGEN_FINDING_OUT_OF_BOUNDS, NULL);
    return;
  }
  if (!region->read_only)
    shadow_visit(a);
  else if (a->kind & CPU_WRITE)
    finding_add(a, region->variable ? CUGEN_FINDING_CONSTANT_WRITE : CUGEN_FINDING_INPUT_WRITE,
                NULL);
  regions_count(a, region->name);
}

void regions_visit(struct access *a) {
  struct watch *w = a->watch;
  const struct region *shared = &w->shared[0];
  uintptr_t rank;
  if (a->at - shared->start < shared->end - shared->start)
    access_static(a);
  else if ((rank = dynamic_rank(w, a->at)) < w->launch.blocks)
    access_dynamic(a, rank);
  else
    access_global(a);
}

static bool regions_part_of(const struct region *region, uintptr_t start, uintptr_t end,
                            const char *name, struct region_part *out) {
  *out = (struct region_part){.region = region, .name = name, .start = start, .bytes = end - start};
  return true;
}

bool regions_part(struct watch *w, uintptr_t at, struct region_part *out) {
  const struct region *r = regions_find(w, at);
  if (!r || r->variable || at < r->start || at >= r->end) return false;
  if (!r->arrays) return regions_part_of(r, r->start, r->end, r->name, out);
  const uint8_t number = w->array_of[(at - r->start) / WATCH_WORD];
  const struct shared_array *array = number ? &w->arrays[number - 1] : NULL;
  return array && !is_gap(array) && at >= array->start && at < array->end &&
         regions_part_of(r, array->start, array->end, array->name, out);
}

const struct region *regions_find(struct watch *w, uintptr_t at) {
  const struct region *shared = &w->shared[0];
  if (at - shared->start < shared->end - shared->start) return shared;
  const uintptr_t rank = dynamic_rank(w, at);
  if (rank < w->launch.blocks) return &w->dynamic[rank];
  return find_region(w, at);
}

struct cell *regions_cell(struct watch *w, uintptr_t at) {
  const struct region *r = &w->shared[w->launch.builtins->cluster_rank];
  if (at - r->start >= r->end - r->start) {
    const uintptr_t rank = dynamic_rank(w, at);
    if (rank == w->launch.blocks) return NULL;
    r = &w->dynamic[rank];
  }
  if (at - r->start >= r->end - r->start) return NULL;
  return &r->cells[(at - r->start) / WATCH_WORD];
}

/* ---- Buffers and images --------------------------------------------------------------------- */

int regions_buffers(struct watch *w, const struct watch_buffer *buffers, size_t count,
                    cugen_error *err) {
  for (size_t i = 0; i < w->region_count; i++) shadow_drop(&w->regions[i]);
  w->region_count = w->recent = 0;
  /* The next image may be loaded at the address of the present image. */
  w->image = (struct observed_image){NULL, 0, 0};
  for (size_t i = 0; i < count && i < WATCH_MOST_BUFFERS; i++) {
    struct region *r = &w->regions[w->region_count++];
    const uintptr_t start = (uintptr_t)buffers[i].start;
    *r = (struct region){.start = start,
                         .end = start + buffers[i].bytes,
                         .low = start - ZONE,
                         .high = start + buffers[i].bytes + ZONE,
                         .element = buffers[i].element,
                         .read_only = buffers[i].read_only,
                         .unwritten = buffers[i].unwritten};
    memcpy(r->name, buffers[i].name, strnlen(buffers[i].name, WATCH_NAME - 1));
    int status = shadow_make(r, err);
    if (status) return status;
  }
  return CUGEN_OK;
}

static void map_arrays(struct watch *w) {
  for (size_t i = 0; i < w->array_count; i++) {
    const uintptr_t start = w->arrays[i].start - w->shared[0].start,
                    end = w->arrays[i].end - w->shared[0].start;
    const uintptr_t first = (start + (is_gap(&w->arrays[i]) ? WATCH_WORD - 1 : 0)) / WATCH_WORD,
                    last = (end + WATCH_WORD - 1) / WATCH_WORD;
    if (first < last) /* a word that an array and a gap share belongs to the array */
      memset(w->array_of + first, (int)(i + 1), last - first);
  }
}

/* Makes the shadow of static shared memory for the blocks that run together. */
static int regions_make_shared(struct watch *w, cugen_error *err) {
  int status = CUGEN_OK;
  if (!w->array_count) return status;
  const uintptr_t start = w->arrays[0].start / WATCH_WORD * WATCH_WORD,
                  end = w->arrays[w->array_count - 1].end;
  for (unsigned i = 0; i < w->launch.blocks && !status; i++) {
    if (w->shared[i].cells) continue;
    w->shared[i] = (struct region){
        .start = start, .end = end, .shared = true, .unwritten = true, .arrays = true};
    status = shadow_make(&w->shared[i], err);
  }
  return status;
}

/* Writes the name of a variable. A variable smaller than the buffer of its name holds the buffer's
   address: "&data". */
static void name_variable(const struct watch *w, const struct image_variable *from,
                          char out[WATCH_NAME]) {
  bool address = false;
  for (size_t i = 0; i < w->region_count; i++)
    address |= strcmp(w->regions[i].name, from->name) == 0 &&
               from->end - from->start < w->regions[i].end - w->regions[i].start;
  out[0] = '&';
  memcpy(out + address, from->name, (size_t)(WATCH_NAME - 1 - address));
}

static int make_variables(struct watch *w, const struct image_memory *memory, cugen_error *err) {
  enum { BEHIND = 256 };
  int status = CUGEN_OK;
  w->variables = calloc(memory->variable_count + 1, sizeof *w->variables);
  if (!w->variables) return error_memory(err);
  for (size_t i = 0; i < memory->variable_count && !status; i++) {
    const struct image_variable *from = &memory->variables[i];
    struct region *r = &w->variables[w->variable_count++];
    *r = (struct region){.start = from->start,
                         .end = from->end,
                         .low = from->start,
                         .high = from->end + BEHIND,
                         .read_only = from->constant,
                         .variable = true};
    name_variable(w, from, r->name);
    status = shadow_make(r, err);
  }
  return status;
}

void regions_close_image(struct watch *w) {
  free(w->arrays);
  free(w->array_of);
  for (int i = 0; i < HB_BLOCKS; i++) shadow_drop(&w->shared[i]);
  for (size_t i = 0; i < w->variable_count; i++) shadow_drop(&w->variables[i]);
  free(w->variables);
  w->array_of = NULL;
  w->arrays = NULL;
  w->variables = NULL;
  w->array_count = w->variable_count = 0;
}

static int regions_read_image(struct watch *w, const struct observed_image *image,
                              cugen_error *err) {
  struct image_memory memory;
  int status = arrays_read(image->bytes, image->length, image->base, &memory, err);
  if (status) return status;
  w->arrays = memory.arrays;
  w->array_count = memory.array_count < MOST_ARRAYS ? memory.array_count : MOST_ARRAYS;
  status = make_variables(w, &memory, err);
  free(memory.variables);
  return status;
}

int regions_image(struct watch *w, const struct observed_image *image, cugen_error *err) {
  if (w->image.bytes == image->bytes && w->image.base == image->base)
    return regions_make_shared(w, err);
  regions_close_image(w);
  w->image = *image;
  int status = regions_read_image(w, image, err);
  if (!status) status = regions_make_shared(w, err);
  if (status || !w->array_count) return status;
  w->array_of = calloc((w->shared[0].end - w->shared[0].start) / WATCH_WORD + 2, 1);
  if (!w->array_of) return error_memory(err);
  map_arrays(w);
  return CUGEN_OK;
}

int regions_dynamic(struct watch *w, cugen_error *err) {
  int status = CUGEN_OK;
  for (int i = 0; i < HB_BLOCKS; i++) shadow_drop(&w->dynamic[i]);
  for (unsigned i = 0; i < w->launch.blocks && !status; i++) {
    const uintptr_t start = w->launch.dynamic + i * w->launch.dynamic_room;
    w->dynamic[i] = (struct region){.start = start,
                                    .end = start + w->launch.dynamic_bytes,
                                    .shared = true,
                                    .unwritten = true,
                                    .name = "dynamic shared memory"};
    status = shadow_make(&w->dynamic[i], err);
  }
  return status;
}

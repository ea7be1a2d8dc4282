/* Recording what was found, where, and by which threads; see state.h. */
#include <stdio.h>
#include <string.h>

#include "state.h"

uint64_t finding_site(const struct watch *w, const void *site) {
  return site ? (uintptr_t)site - w->launch.image->base : 0;
}

void finding_place(const struct watch *w, struct watch_place *place, uint64_t site, uint64_t block,
                   unsigned thread) {
  const struct cpu_dim3 *grid = &w->launch.grid, *size = &w->launch.block,
                        *cluster = &w->launch.cluster;
  const unsigned rank = thread / w->launch.padded, wide = grid->x / cluster->x,
                 high = grid->y / cluster->y;
  thread %= w->launch.padded;
  place->site = site;
  place->block[0] = (uint32_t)(block % wide) * cluster->x + rank % cluster->x;
  place->block[1] = (uint32_t)(block / wide % high) * cluster->y + rank / cluster->x % cluster->y;
  place->block[2] = (uint32_t)(block / wide / high) * cluster->z + rank / cluster->x / cluster->y;
  place->thread[0] = thread % size->x;
  place->thread[1] = thread / size->x % size->y;
  place->thread[2] = thread / size->x / size->y;
}

/* Returns the shared array or gap that has the address's word; NULL: there is none. */
static const struct shared_array *array_at(const struct watch *w, const struct region *region,
                                           uintptr_t at) {
  const uint8_t number = region->arrays ? w->array_of[(at - region->start) / WATCH_WORD] : 0;
  return number ? &w->arrays[number - 1] : NULL;
}

/* Adds a finding. Counts a known finding instead, sets w->known to it and returns NULL. Also
   returns NULL if there is no room, or if only traffic is counted. array: NULL if findings of all
   arrays count as one. */
static struct watch_finding *add_new(struct watch *w, cugen_finding_kind kind, uint64_t site,
                                     uint64_t other_site, unsigned thread, const char *array) {
  struct watch_report *report = w->report;
  w->known = NULL;
  if (report->mode == WATCH_TRAFFIC) return NULL;
  for (uint32_t i = 0; i < report->finding_count; i++) {
    struct watch_finding *f = &report->findings[i];
    if (f->kind != kind || f->here.site != site || f->other.site != other_site) continue;
    if (array && strncmp(f->array, array, WATCH_NAME - 1) != 0) continue;
    f->count++;
    w->known = f;
    return NULL;
  }
  /* the blocks run again in one process, which finds this again */
  if (w->speculation && kind != CUGEN_FINDING_HANG) speculation_drop(w->speculation);
  if (report->finding_count == WATCH_MOST_FINDINGS) {
    report->lost++;
    return NULL;
  }
  struct watch_finding *f = &report->findings[report->finding_count++];
  *f = (struct watch_finding){.kind = kind, .count = 1, .last_site = w->last_site};
  finding_place(w, &f->here, site, w->block, thread);
  f->other.site = other_site;
  return f;
}

struct watch_finding *finding_new(struct watch *w, cugen_finding_kind kind, uint64_t site,
                                  uint64_t other_site, unsigned thread) {
  return add_new(w, kind, site, other_site, thread, NULL);
}

void finding_text(struct watch_finding *finding, const char *text) {
  memcpy(finding->text, text, strnlen(text, WATCH_TEXT - 1));
}

void finding_where(struct watch *w, const struct region *region, uintptr_t at,
                   struct watch_finding *f) {
  const struct shared_array *array = array_at(w, region, at);
  const char *name = array ? array->name : region->name;
  const uintptr_t start = array ? array->start : region->start,
                  end = array ? array->end : region->end;
  memcpy(f->array, name, strnlen(name, WATCH_NAME - 1));
  f->shared = region->shared;
  f->offset = (int64_t)(at - start);
  f->bytes = (int64_t)(end - start);
  f->element = region->element;
}

void finding_compare(struct watch *w) {
  struct overwriting *o = &w->overwriting;
  if (memcmp(o->before, o->at, o->bytes) != 0) o->finding->same_value = false;
  o->finding = NULL;
  watch_look(w);
}

/* Begins to watch whether the second write of a race changes the value; a write that cannot be
   compared, such as an atomic one, is assumed to. known: the finding has been counted before. */
static void begin_overwriting(const struct access *a, const struct last_access *other,
                              struct watch_finding *f, bool known) {
  struct overwriting *o = &a->watch->overwriting;
  const bool plain =
      a->kind & other->kind & CPU_WRITE && !((a->kind | other->kind) & (CPU_ATOMIC | CPU_ASYNC));
  const bool comes =
      plain && a->own && a->bytes <= sizeof o->before && !(a->kind & OBSERVED_ENGINE);
  f->same_value = comes && (f->same_value || !known);
  if (!f->same_value) return;
  if (o->finding && o->finding != f) finding_compare(a->watch);
  *o = (struct overwriting){.finding = f, .at = (const void *)a->at, .bytes = a->bytes};
  memcpy(o->before, o->at, a->bytes);
  watch_look(a->watch);
}

void finding_add(const struct access *a, cugen_finding_kind kind, const struct last_access *other) {
  struct watch *w = a->watch;
  const struct shared_array *array = array_at(w, a->region, a->at);
  struct watch_finding *f = add_new(w, kind, a->site, other ? other->site : 0, a->thread,
                                    array ? array->name : a->region->name);
  const bool race = kind == CUGEN_FINDING_RACE || kind == CUGEN_FINDING_BLOCK_RACE;
  if (race && (f || w->known)) begin_overwriting(a, other, f ? f : w->known, !f);
  if (!f) return;
  f->here.write = a->kind & CPU_WRITE;
  f->size = (int)a->bytes;
  finding_where(w, a->region, a->at, f);
  if (!other) return;
  const struct begun *begun = hb_begun(&w->hb, other->epoch, NULL);
  finding_place(w, &f->other, other->site, begun ? begun->block : w->block, other->thread);
  f->other.write = other->kind & CPU_WRITE;
}

void finding_add_fence(const struct access *a, const struct last_access *other,
                       const struct missing_fence *fence) {
  struct watch *w = a->watch;
  const uint32_t count = w->report->finding_count;
  finding_add(a, CUGEN_FINDING_MISSING_FENCE, other);
  if (w->report->finding_count == count) return;
  struct watch_finding *f = &w->report->findings[count];
  f->fence = fence->site;
  snprintf(f->text, sizeof f->text, "__threadfence%s()", fence->device ? "" : "_block");
  f->fence_behind = !fence->front;
}

void finding_report(struct watch *w, cugen_finding_kind kind, const void *site, unsigned thread,
                    const void *other_site, unsigned other_thread, const char *text) {
  const uint64_t other = finding_site(w, other_site);
  struct watch_finding *f = finding_new(w, kind, finding_site(w, site), other, thread);
  if (!f) return;
  if (other) finding_place(w, &f->other, other, w->block, other_thread);
  finding_text(f, text);
}

void finding_stray(struct watch *w, const void *site, const void *address, bool write) {
  const uint64_t place = finding_site(w, finding_position(w, site));
  struct watch_finding *f =
      finding_new(w, CUGEN_FINDING_OUT_OF_BOUNDS, place, 0, w->launch.builtins->linear);
  if (!f) return;
  f->here.write = write;
  f->offset = (int64_t)(uintptr_t)address;
}

const void *finding_position(const struct watch *w, const void *site) {
  const uintptr_t base = w->launch.image->base;
  const bool inside = (uintptr_t)site - base < w->launch.image->length;
  return inside ? site : (const void *)(base + w->last_site);
}

/* Checking addresses that are not a multiple of what the access needs; see state.h. */
#include "emulator/fault_text.h"
#include "emulator/fibers.h"
#include "state.h"

/* Returns what the address must be a multiple of; 1: any address will do. A compiler that calls a
   hook for 16 bytes guarantees only a multiple of 8 (gcc, tsan.cc, instrument_expr). Asynchronous
   copies need 16, or their width. */
static unsigned needed_multiple(const struct access *a, bool noted) {
  if (a->kind & CPU_PACKED || !a->bytes) return 1;
  if (a->bytes > 16) return noted && a->kind & CPU_ASYNC ? 16 : 1;
  if (a->bytes & (a->bytes - 1)) return 1;
  return a->bytes == 16 && !noted ? 8 : a->bytes;
}

/* Adds a finding of the misaligned access. Returns false if the address is not watched. It is
   async-signal-safe. */
static bool alignment_add_misaligned(const struct access *a, unsigned multiple, const char *type) {
  const struct region *region = regions_find(a->watch, a->at);
  struct watch_finding *f =
      region ? finding_new(a->watch, CUGEN_FINDING_MISALIGNED, a->site, 0, a->thread) : NULL;
  if (!f) return region;
  f->here.write = a->kind & CPU_WRITE;
  f->size = (int)multiple;
  finding_where(a->watch, region, a->at, f);
  struct fault_text text = {f->text, f->text + sizeof f->text - 1};
  fault_text_count(&text, (unsigned)(a->at % multiple), " bytes past a multiple of ", multiple);
  fault_text_add(&text, ", which ");
  fault_text_add(&text, *type ? type : "an access of that width");
  fault_text_add(&text, " needs");
  return true;
}

/* Reports the access and ends the launch like a GPU. Does nothing if the address is not watched. */
void alignment_refuse(const struct access *a, unsigned multiple, const char *type) {
  if (alignment_add_misaligned(a, multiple, type))
    fibers_give_up(CUGEN_CAUSE_TRAP, "misaligned access");
}

void alignment_check(const struct access *a, bool noted) {
  const unsigned multiple = needed_multiple(a, noted);
  if (a->at % multiple) alignment_refuse(a, multiple, "");
}

void alignment_fault(struct watch *w, const void *site) {
  enum { WIDE = 16 };
  const struct access last = {.watch = w,
                              .at = w->last_at,
                              .bytes = WIDE,
                              .kind = w->last_kind,
                              .thread = watch_thread(w),
                              .site = w->last_site};
  if (w->last_at % WIDE && alignment_add_misaligned(&last, WIDE, "")) return;
  finding_report(w, CUGEN_FINDING_TRAP, finding_position(w, site), last.thread, NULL, 0,
                 "misaligned access");
}

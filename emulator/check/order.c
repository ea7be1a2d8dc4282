/* Sorting findings, so that likely causes stand before effects, and joining those of one mistake;
   see findings.h.

   Threads that meet at wrong barriers, or do not wait, run in another order from there on: races,
   reads of memory that is not written yet and wrong results follow. A wrong address has these
   effects, too. Findings of one kind about missing order in one array of a file may be joined
   (same_cause). */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

enum rank {
  RANK_WAITING,
  RANK_ADDRESS,
  RANK_UNORDERED,
  RANK_UNWRITTEN,
  RANK_END,
  RANK_RESULT,
  RANK_NOTE
};

static enum rank order_rank_of(cugen_finding_kind kind) {
  switch (kind) {
  case CUGEN_FINDING_DIVERGENCE:
  case CUGEN_FINDING_EXITED:
  case CUGEN_FINDING_ABSENT_LANES:
  case CUGEN_FINDING_DEADLOCK:
  case CUGEN_FINDING_ASYNC_MISUSE: return RANK_WAITING;
  case CUGEN_FINDING_OUT_OF_BOUNDS:
  case CUGEN_FINDING_MISALIGNED:
  case CUGEN_FINDING_INDEX:
  case CUGEN_FINDING_INPUT_WRITE:
  case CUGEN_FINDING_CONSTANT_WRITE:
  case CUGEN_FINDING_SHARED_LIMIT:
  case CUGEN_FINDING_LAUNCH: return RANK_ADDRESS;
  case CUGEN_FINDING_RACE:
  case CUGEN_FINDING_BLOCK_RACE:
  case CUGEN_FINDING_COPY_IN_FLIGHT:
  case CUGEN_FINDING_MISSING_FENCE:
  case CUGEN_FINDING_ACCUMULATORS: return RANK_UNORDERED;
  case CUGEN_FINDING_UNINITIALISED: return RANK_UNWRITTEN;
  case CUGEN_FINDING_HANG:
  case CUGEN_FINDING_TRAP: return RANK_END;
  case CUGEN_FINDING_SAME_VALUE: return RANK_NOTE;
  default: return RANK_RESULT;
  }
}

static int by_cause(const void *a, const void *b) {
  const cugen_check_finding *x = a, *y = b;
  const enum rank left = order_rank_of(x->kind), right = order_rank_of(y->kind);
  if (left != right) return left < right ? -1 : 1;
  const int files = strcmp(x->file, y->file);
  if (files) return files;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->message, y->message);
}

static void check_detail_free(struct check_detail *detail) {
  if (detail) free(detail->variants.bits);
  free(detail);
}

void finding_free(cugen_check_finding *f) {
  free(f->message);
  free(f->variant);
  free(f->problem);
  free(f->also);
  check_detail_free(f->detail);
}

cugen_check_skip *skip_new(cugen_check *r, const char *what, size_t number, const char *why) {
  if (!ARRAY_ROOM(r->skips, r->skip_count)) return NULL;
  cugen_check_skip *s = &r->skips[r->skip_count];
  *s = (cugen_check_skip){
      .what = strdup(what), .why = strdup(why), .detail = calloc(1, sizeof *s->detail)};
  if (!s->what || !s->why || !s->detail) {
    skip_free(s);
    return NULL;
  }
  s->detail->number = number;
  r->skip_count++;
  return s;
}

void skip_free(cugen_check_skip *s) {
  free(s->what);
  free(s->why);
  check_detail_free(s->detail);
}

void variants_join(struct check_variants *set, const struct check_variants *more, size_t words) {
  for (size_t i = 0; i < words; i++) {
    set->count += (size_t)__builtin_popcountll(more->bits[i] & ~set->bits[i]);
    set->bits[i] |= more->bits[i];
  }
}

void findings_sort(cugen_check_finding *findings, size_t count) {
  if (count) qsort(findings, count, sizeof *findings, by_cause);
}

/* Returns true if both findings are about missing order, for one reason. */
static bool same_cause(const cugen_check_finding *a, const cugen_check_finding *b) {
  const bool of_order = a->kind == CUGEN_FINDING_UNINITIALISED ||
                        a->kind == CUGEN_FINDING_SAME_VALUE ||
                        order_rank_of(a->kind) == RANK_UNORDERED;
  return a->kind == b->kind && of_order && a->line && *a->array &&
         strcmp(a->array, b->array) == 0 && strcmp(a->file, b->file) == 0 &&
         a->detail->fence.line == b->detail->fence.line && a->detail->waiver == b->detail->waiver;
}

static void order_add_place(const cugen_check_finding *f, const cugen_check_finding *first,
                            struct text *out) {
  enum { MOST = 8 };
  if (first->places == MOST + 1) text_add(out, ", ...");
  if (first->places > MOST) return;
  text_addf(out, "%s%s:%d", out->length ? ", " : "", f->file, f->line);
  if (f->other_line &&
      (f->other_line != first->other_line || strcmp(f->other_file, first->other_file) != 0))
    text_addf(out, " with %s:%d", f->other_file, f->other_line);
}

size_t findings_join(cugen_check_finding *findings, size_t count, size_t words) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    cugen_check_finding *first = &findings[kept++];
    struct text also = {0};
    size_t left = i + 1;
    *first = findings[i];
    first->places = 1;
    for (size_t j = i + 1; j < count; j++) {
      cugen_check_finding *f = &findings[j];
      if (!same_cause(first, f)) {
        findings[left++] = *f;
        continue;
      }
      order_add_place(f, first, &also);
      first->places++;
      first->count += f->count;
      first->detail->on_check |= f->detail->on_check;
      variants_join(&first->detail->variants, &f->detail->variants, words);
      finding_free(f);
    }
    count = left;
    if (also.length) first->also = text_take(&also);
  }
  return kept;
}

static int order_by_number(const void *a, const void *b) {
  const cugen_check_skip *x = a, *y = b;
  if (x->detail->number != y->detail->number) return x->detail->number < y->detail->number ? -1 : 1;
  return strcmp(x->why, y->why);
}

void skips_sort(cugen_check_skip *skips, size_t count) {
  if (count) qsort(skips, count, sizeof *skips, order_by_number);
}

/* Describing findings; see findings.h. */
#include "findings.h"

#include <string.h>

#include "base/launch.h"

enum { NULL_PAGE = 4096 };

static void add_dim(struct text *out, const char *what, const uint32_t at[3]) {
  text_addf(out, "%s (%u,%u,%u)", what, at[0], at[1], at[2]);
}

static void add_who(struct text *out, const struct watch_place *place) {
  add_dim(out, "block", place->block);
  add_dim(out, " thread", place->thread);
}

static void messages_add_place(struct text *out, const struct source_place *place) {
  if (place->line) text_addf(out, " at %s:%d", place->file, place->line);
  if (place->user_line) text_addf(out, " (for %s:%d)", place->user, place->user_line);
}

/* Appends "C[12]", "byte 1232 of tile_a"; for an access outside: "C[12], but C has 12 elements". */
static void messages_add_where(struct text *out, const struct watch_finding *f) {
  if (!*f->array && !f->bytes && f->offset >= 0 && f->offset < NULL_PAGE) {
    text_addf(out, "through a null pointer, at address 0x%llx", (unsigned long long)f->offset);
    return;
  }
  if (!*f->array && !f->bytes) {
    text_addf(out, "address 0x%llx, which is in no buffer or array", (unsigned long long)f->offset);
    return;
  }
  const char *array = *f->array ? f->array : "memory";
  const bool elements = f->element && f->offset % f->element == 0;
  if (elements)
    text_addf(out, "%s[%lld]", array, (long long)(f->offset / f->element));
  else
    text_addf(out, "byte %lld of %s", (long long)f->offset, array);
  if (f->offset >= 0 && f->offset + f->size <= f->bytes) return;
  if (elements && f->offset < f->bytes && f->offset >= 0) text_addf(out, " with %d bytes", f->size);
  text_addf(out, ", but %s has %lld %s", array,
            (long long)(elements ? f->bytes / f->element : f->bytes),
            elements ? "elements" : "bytes");
}

static void add_access(struct text *out, const struct check_detail *f) {
  add_who(out, &f->raw.here);
  text_add(out, f->raw.here.write ? " writes " : " reads ");
  messages_add_where(out, &f->raw);
}

/* Appends what the other thread did and, for a race between blocks, the thread's block. */
static void add_other(struct text *out, const struct check_detail *f) {
  const struct watch_place *other = &f->raw.other;
  const bool blocks =
      f->raw.kind == CUGEN_FINDING_BLOCK_RACE ||
      (f->raw.fence && memcmp(other->block, f->raw.here.block, sizeof other->block) != 0);
  if (blocks) add_dim(out, "block", other->block);
  add_dim(out, blocks ? " thread" : "thread", other->thread);
  text_add(out, other->write ? " wrote" : " read");
  messages_add_place(out, &f->other);
}

static void add_race(struct text *out, const struct check_detail *f) {
  add_access(out, f);
  text_add(out, ", which ");
  add_other(out, f);
  text_add(out,
           f->raw.kind == CUGEN_FINDING_RACE ? ", with no barrier between" : " in the same launch");
  if (f->raw.same_value) text_add(out, "; each time it wrote what was there already");
  if (*f->raw.text) text_addf(out, ": %s", f->raw.text);
}

static void add_in_flight(struct text *out, const struct check_detail *f) {
  add_access(out, f);
  text_add(out, ", where a copy is still on its way that ");
  add_dim(out, "thread", f->raw.other.thread);
  text_add(out, " began");
  messages_add_place(out, &f->other);
  text_add(out, ": it has not waited for it");
}

static void add_unwritten(struct text *out, const struct check_detail *f) {
  add_access(out, f);
  text_add(out, f->raw.shared ? ", which no thread of the block has written"
                              : ", which nobody has written");
}

static void messages_add_misaligned(struct text *out, const struct check_detail *f) {
  add_access(out, f);
  text_addf(out, ": %s", f->raw.text);
}

static void add_index(struct text *out, const struct check_detail *f) {
  add_who(out, &f->raw.here);
  text_addf(out, " uses index %lld of an array of type %s", (long long)f->raw.offset, f->raw.text);
}

static void add_input(struct text *out, const struct check_detail *f) {
  add_access(out, f);
  text_add(out, ", which the config declares an input");
}

static void messages_add_constant(struct text *out, const struct check_detail *f) {
  add_access(out, f);
  text_add(out, ", which is __constant__");
}

static void messages_add_limit(struct text *out, const struct check_detail *f) {
  text_addf(out,
            "the kernel's static shared memory, with %s, has %lld bytes, and a block may have %d "
            "(%d where it is "
            "compiled for sm_90a, sm_100a, sm_103a or sm_110a, 101376 for sm_120a or sm_121a): use "
            "dynamic shared "
            "memory, whose size 'shared' sets in the config",
            f->raw.array, (long long)f->raw.bytes, f->raw.size, LAUNCH_MOST_SHARED);
}

static void add_diverged(struct text *out, const struct check_detail *f) {
  add_who(out, &f->raw.here);
  const bool calls = f->raw.apart == WATCH_APART_AT_CALLS;
  text_add(out, calls ? " waits in the function called here while " : " waits here while ");
  add_dim(out, "thread", f->raw.other.thread);
  text_add(out, calls ? " waits in that called" : " waits at the barrier");
  messages_add_place(out, &f->other);
}

static void add_words(struct text *out, const struct check_detail *f) {
  add_who(out, &f->raw.here);
  text_addf(out, ": %s", f->raw.text);
}

static void add_hang(struct text *out, const struct check_detail *f) {
  add_who(out, &f->raw.here);
  text_add(out, f->raw.other.site ? " runs here, and " : " runs here when the time is up");
  if (!f->raw.other.site) return;
  add_dim(out, "thread", f->raw.other.thread);
  text_add(out, " waits");
  messages_add_place(out, &f->other);
  if (f->raw.count > 1) text_addf(out, ", as do %llu more", (unsigned long long)f->raw.count - 1);
}

static void add_fence(struct text *out, const struct check_detail *f) {
  if (f->raw.fence) {
    add_access(out, f);
    text_add(out, ", which ");
    add_other(out, f);
    text_addf(out, ". A flag orders them, but a %s is missing %s the flag's access", f->raw.text,
              f->raw.fence_behind ? "behind" : "in front of");
    messages_add_place(out, &f->fence);
    return;
  }
  if (!f->raw.other.site) {
    add_words(out, f);
    return;
  }
  add_access(out, f);
  text_add(out, " as a copy or product that goes on by itself, which ");
  add_other(out, f);
  text_add(out, ", with no fence.proxy.async between");
}

static void add_accumulators(struct text *out, const struct check_detail *f) {
  add_who(out, &f->raw.here);
  text_add(out, " uses sums here that the product");
  messages_add_place(out, &f->other);
  text_add(out, " still adds to: no wgmma.wait_group for it");
}

static void (*const adders[])(struct text *, const struct check_detail *) = {
    [CUGEN_FINDING_RACE] = add_race,
    [CUGEN_FINDING_BLOCK_RACE] = add_race,
    [CUGEN_FINDING_COPY_IN_FLIGHT] = add_in_flight,
    [CUGEN_FINDING_UNINITIALISED] = add_unwritten,
    [CUGEN_FINDING_OUT_OF_BOUNDS] = add_access,
    [CUGEN_FINDING_MISALIGNED] = messages_add_misaligned,
    [CUGEN_FINDING_INDEX] = add_index,
    [CUGEN_FINDING_INPUT_WRITE] = add_input,
    [CUGEN_FINDING_DIVERGENCE] = add_diverged,
    [CUGEN_FINDING_EXITED] = add_words,
    [CUGEN_FINDING_ABSENT_LANES] = add_words,
    [CUGEN_FINDING_DEADLOCK] = add_words,
    [CUGEN_FINDING_HANG] = add_hang,
    [CUGEN_FINDING_MISSING_FENCE] = add_fence,
    [CUGEN_FINDING_ACCUMULATORS] = add_accumulators,
    [CUGEN_FINDING_ASYNC_MISUSE] = add_words,
    [CUGEN_FINDING_TRAP] = add_words,
    [CUGEN_FINDING_SAME_VALUE] = add_race,
    [CUGEN_FINDING_CONSTANT_WRITE] = messages_add_constant,
    [CUGEN_FINDING_SHARED_LIMIT] = messages_add_limit,
    [CUGEN_FINDING_LAUNCH] = add_words,
};

char *check_message(cugen_finding_kind kind, const struct check_detail *f) {
  struct text out = {0};
  adders[kind](&out, f);
  return text_take(&out);
}

char *check_not_emulated(const char *source, cugen_cause cause, const char *refusal) {
  static const char *const instructions[] = {
      "wgmma",    "cp.async.bulk", "mbarrier",       "setmaxnreg", "mapa", "ldmatrix", "stmatrix",
      "mma.sync", "cp.async",      "griddepcontrol", "bar.sync",   "red.", "ld.",      "st."};
  struct text out = {0};
  const char *assembly = strstr(source, "asm");
  const char *found = NULL;
  for (size_t i = 0; assembly && i < sizeof instructions / sizeof *instructions && !found; i++)
    if (strstr(assembly, instructions[i])) found = instructions[i];
  /* error: the compiler's first "error:" or "Error:"; told: the text after the first line */
  const char *error = strstr(refusal, "rror:"), *told = strchr(refusal, '\n');
  told = told ? told + 1 : refusal;
  const char *named = strstr(refusal, " has no form on the cpu device");
  while (named && named > refusal && named[-1] != '\n') named--;
  if (named) {
    text_add_n(&out, named, strcspn(named, "\n"));
  } else if (found && cause == CUGEN_CAUSE_ASSEMBLY) {
    text_addf(&out, "the instruction %s has no form on the cpu device", found);
  } else {
    while (error && error > refusal && error[-1] != '\n') error--;
    text_add(&out, "the C++ compiler refuses it: ");
    text_add_n(&out, error ? error : told, strcspn(error ? error : told, "\n"));
  }
  return text_take(&out);
}

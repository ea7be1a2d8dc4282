/* Decides whether one error refuses every variant; see alike.h. The run ends early only if the
   evidence is broad: at least ENOUGH variants failed, none compiled, all have the same first
   diagnostic with a source line, and together they had every value that samples of the space have
   on the axes (axes.h). A diagnostic about values (static_assert, #error) never ends a run, and a
   run of unlimited budget tries all variants. */
#include "alike.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
  ENOUGH = 16,
  SAMPLES = 4096 /* variants of an implementation that are sampled to see which values occur */
};

/* Returns the first line with an error in a compiler's log, "k.cu:12: error: ..." or "k.cu:12:3:
   error: ...". NULL: the log has no error, or the first error has no source line. */
static const char *first_diagnostic(const char *log, size_t *length) {
  const char *error = strstr(log, "error: "), *line = error, *colon;
  if (!error) return NULL;
  while (line > log && line[-1] != '\n') line--;
  *length = strcspn(line, "\n");
  for (colon = line; (colon = memchr(colon, ':', (size_t)(error - colon))); colon++)
    if (isdigit((unsigned char)colon[1])) return line;
  return NULL;
}

static bool is_about_values(const char *line, size_t length) {
  static const char *const words[] = {"static assertion", "static_assert", "#error"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (memmem(line, length, words[i], strlen(words[i]))) return true;
  return false;
}

/* Returns true if the compile failed with the diagnostic of the first record, or is the first, and
   the diagnostic is not about values. */
static bool is_alike(struct alike *alike, const struct cache_record *record) {
  size_t length;
  const char *line =
      record->outcome == CUGEN_OUTCOME_COMPILE ? first_diagnostic(record->reason, &length) : NULL;
  if (!line || is_about_values(line, length)) return false;
  if (!alike->diagnostic) alike->diagnostic = strndup(line, length);
  return alike->diagnostic && strlen(alike->diagnostic) == length &&
         memcmp(alike->diagnostic, line, length) == 0;
}

/* Marks the variant's value on each axis by the bit of its position modulo 64. */
static void mark_values(const struct axes *axes, uint64_t index, uint64_t *marks) {
  struct strategy_space space = {0};
  uint16_t positions[STRATEGY_MAX_AXES];
  axes_describe(axes, &space);
  if (!space.axis_count) return;
  space.locate(space.context, index, positions);
  for (size_t i = 0; i < space.axis_count; i++)
    if (positions[i] != STRATEGY_ABSENT) marks[i] |= UINT64_C(1) << (positions[i] & 63);
}

static void mark_space(const struct tuner_run *run, const struct axes *axes, uint64_t *marks) {
  size_t count;
  const struct space_implementation *all = space_implementations(run->target->space, &count);
  for (size_t i = 0; i < count; i++) {
    const uint64_t valid = run_wants(run, &all[i]) ? all[i].valid : 0;
    const uint64_t samples = valid < SAMPLES ? valid : SAMPLES;
    for (uint64_t k = 0; k < samples; k++)
      mark_values(axes, all[i].first + run_sample(valid, samples, k), marks);
  }
}

void alike_note(struct alike *alike, const struct axes *axes, uint64_t index,
                const struct cache_record *record) {
  if (alike->other) return;
  alike->other = !is_alike(alike, record);
  alike->count++;
  if (!alike->other) mark_values(axes, index, alike->seen);
}

bool alike_judge(struct alike *alike, const struct tuner_run *run, const struct axes *axes) {
  const bool limited = run->options->budget_seconds >= 0 || run->options->budget_count;
  if (!limited || alike->other || alike->count < ENOUGH) return false;
  if (!alike->marked) mark_space(run, axes, alike->wanted), alike->marked = true;
  for (size_t i = 0; i < STRATEGY_MAX_AXES; i++)
    if (alike->wanted[i] & ~alike->seen[i]) return false;
  return alike->found = true;
}

size_t alike_count(const struct alike *alike) {
  return alike->found && !alike->other ? alike->count : 0;
}

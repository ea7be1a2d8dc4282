/* Records: the table of their columns, the checks of their values, their order. See record.h. */
#include "record.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

/* ---- Columns -------------------------------------------------------------------------------- */

#define COLUMN(format, TYPE, name, member, most)                                                   \
  {#name,                                                                                          \
   COLUMN_##TYPE,                                                                                  \
   offsetof(struct cache_record, member),                                                          \
   sizeof(((struct cache_record *)0)->member),                                                     \
   most,                                                                                           \
   format},
#define FIELD(format, TYPE, name, most)        COLUMN(format, TYPE, name, name, most)
#define CHARS(format, name, size)              COLUMN(format, CHARS, name, name, 0)
#define PART(format, TYPE, name, member, most) COLUMN(format, TYPE, name, member, most)

const struct cache_column cache_columns[CACHE_COLUMNS] = {CACHE_RECORD_FIELDS(FIELD, CHARS, PART)};
_Static_assert(offsetof(struct hash, hex) == 0, "a hash is read and written as its digits");
_Static_assert(sizeof(cugen_outcome) == sizeof(int), "outcome is read and written as an int");

void *cache_place_of(struct cache_record *record, int column) {
  return (char *)record + cache_columns[column].offset;
}

struct cache_value cache_value_of(const struct cache_record *record, int column,
                                  char outputs[OUTPUTS_TEXT]) {
  const void *from = (const char *)record + cache_columns[column].offset;
  switch (cache_columns[column].type) {
  case COLUMN_TEXT: return (struct cache_value){CACHE_TEXT, .text = *(char *const *)from};
  case COLUMN_CHARS:
  case COLUMN_HASH: return (struct cache_value){CACHE_TEXT, .text = from};
  case COLUMN_OUTPUTS:
    outputs_text(from, outputs, OUTPUTS_TEXT);
    return (struct cache_value){CACHE_TEXT, .text = outputs};
  case COLUMN_INT: return (struct cache_value){CACHE_WHOLE, .whole = *(const int *)from};
  case COLUMN_INT64:
  case COLUMN_TIME: return (struct cache_value){CACHE_WHOLE, .whole = *(const int64_t *)from};
  case COLUMN_REAL: break;
  }
  return (struct cache_value){CACHE_REAL, .real = *(const double *)from};
}

/* ---- Texts and times ------------------------------------------------------------------------ */

static bool is_control(char c) {
  return (unsigned char)c < ' ' || c == 127;
}

const char *cache_text_wrong(const char *text, const char *allowed) {
  for (size_t left = strlen(text), length; left; text += length, left -= length) {
    length = text_character(text, left);
    if (!length) return "is not UTF-8";
    if (is_control(*text) && !strchr(allowed, *text)) return "has a control character";
  }
  return NULL;
}

int64_t cache_time(int64_t time, int64_t units) {
  enum { EARLIEST = 1577836800 /* 2020-01-01 */, DAY = 86400 };
  const int64_t now = clock_unix(), seconds = time / units;
  return seconds >= EARLIEST && (seconds <= now + DAY || now < EARLIEST) ? time : 0;
}

/* ---- Values of columns ---------------------------------------------------------------------- */

static const char out_of_range[] = "is out of range";
const char cache_no_memory[] = "needs more memory than there is";

static const char *hash_wrong(const struct cache_column *column, const char *text) {
  const bool hash = strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
  return hash || (column->format > 1 && !*text) ? NULL : "must be 32 hexadecimal digits";
}

static const char *whole_wrong(const struct cache_column *column, int64_t number) {
  const int64_t most = column->type == COLUMN_INT ? INT32_MAX : INT64_MAX;
  return number >= 0 && number <= (column->most > 0 ? (int64_t)column->most : most) ? NULL
                                                                                    : out_of_range;
}

/* NaN stands for an unknown value. */
static const char *real_wrong(const struct cache_column *column, double number) {
  return number < 0 || (column->most > 0 && number > column->most) ? out_of_range : NULL;
}

const char *cache_take_text(struct cache_record *record, int i, const char *text) {
  const struct cache_column *column = &cache_columns[i];
  void *to = cache_place_of(record, i);
  if (column->type == COLUMN_TEXT) return (*(char **)to = strdup(text)) ? NULL : cache_no_memory;
  if (column->type == COLUMN_OUTPUTS) return outputs_parse(text, to) ? NULL : CACHE_OUTPUTS_WRONG;
  const char *wrong = column->type == COLUMN_HASH   ? hash_wrong(column, text)
                      : strlen(text) < column->size ? cache_text_wrong(text, "")
                                                    : "is too long";
  if (!wrong) memcpy(to, text, strlen(text) + 1);
  return wrong;
}

const char *cache_take_whole(struct cache_record *record, int i, int64_t number) {
  const struct cache_column *column = &cache_columns[i];
  void *to = cache_place_of(record, i);
  if (column->type == COLUMN_TIME)
    return *(int64_t *)to = cache_time(number, (int64_t)column->most), NULL;
  const char *wrong = whole_wrong(column, number);
  if (wrong) return wrong;
  if (column->type == COLUMN_INT)
    *(int *)to = (int)number;
  else
    *(int64_t *)to = number;
  return NULL;
}

const char *cache_take_real(struct cache_record *record, int i, double number) {
  const char *wrong = real_wrong(&cache_columns[i], number);
  if (!wrong) *(double *)cache_place_of(record, i) = number;
  return wrong;
}

/* ---- The whole record ----------------------------------------------------------------------- */

/* Returns what is wrong with a column's value; NULL: nothing. */
static const char *column_wrong(const struct cache_record *record, int i) {
  const struct cache_column *column = &cache_columns[i];
  const void *value = (const char *)record + column->offset;
  switch (column->type) {
  case COLUMN_TEXT:
    return cache_text_wrong(*(char *const *)value,
                            i == CACHE_COLUMN_reason ? CACHE_REASON_CONTROLS : "");
  case COLUMN_CHARS:
    return memchr(value, '\0', column->size) ? cache_text_wrong(value, "") : "has no end";
  case COLUMN_HASH: return hash_wrong(column, value);
  case COLUMN_INT: return whole_wrong(column, *(const int *)value);
  case COLUMN_INT64: return whole_wrong(column, *(const int64_t *)value);
  case COLUMN_OUTPUTS:
  case COLUMN_TIME: return NULL;
  case COLUMN_REAL: break;
  }
  const double number = *(const double *)value;
  if (record->outcome == CUGEN_OUTCOME_OK && !isfinite(number))
    return "must be a number, since the outcome is 0";
  return real_wrong(column, number);
}

const char *cache_record_wrong(const struct cache_record *record, int *column) {
  for (int i = 0; i < CACHE_COLUMNS; i++) {
    const char *wrong = column_wrong(record, i);
    *column = i;
    if (wrong) return wrong;
  }
  *column = CACHE_COLUMN_variant;
  if (!*record->variant) return "is empty";
  *column = CACHE_COLUMN_seconds;
  return record->outcome == CUGEN_OUTCOME_OK && !(record->seconds > 0) ? "must be above 0" : NULL;
}

/* compile_late is read from the reason's text, because the error's cause is not stored. */
void cache_record_settle(struct cache_record *record) {
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (cache_columns[i].type == COLUMN_TIME)
      cache_take_whole(record, i, *(int64_t *)cache_place_of(record, i));
  /* Control characters but newline and tab, and bytes that are not UTF-8, become '?', since a
     compiler or a kernel may write anything into a reason. */
  char *at = record->reason;
  for (size_t left = strlen(at), length; left; at += length, left -= length) {
    length = text_character(at, left);
    if (!length || (is_control(*at) && !strchr(CACHE_REASON_CONTROLS, *at))) *at = '?', length = 1;
  }
  record->compile_late =
      record->outcome == CUGEN_OUTCOME_COMPILE && strstr(record->reason, COMPILE_LATE);
  if (!record->wrong) record->wrong = cache_record_wrong(record, &record->wrong_column);
}

/* ---- Records -------------------------------------------------------------------------------- */

void cache_record_free(struct cache_record *record) {
  free(record->variant);
  free(record->reason);
  record->variant = record->reason = NULL;
}

static int by_time_and_energy(const void *a, const void *b) {
  const struct cache_record *x = *(struct cache_record *const *)a,
                            *y = *(struct cache_record *const *)b;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return (x->energy > y->energy) - (x->energy < y->energy);
}

/* Sorts the right records of known energy by time. A record is marked if it takes less energy than
   all before it, or the same time and energy as the last marked record. */
int cache_records_mark(struct cache_record *records, size_t count, cugen_error *err) {
  struct cache_record **sorted = calloc(count + 1, sizeof *sorted);
  const struct cache_record *last = NULL;
  size_t known = 0;
  if (!sorted) return error_memory(err);
  for (size_t i = 0; i < count; i++) {
    records[i].non_dominated = false;
    if (records[i].outcome == CUGEN_OUTCOME_OK && records[i].energy > 0)
      sorted[known++] = &records[i];
  }
  qsort(sorted, known, sizeof *sorted, by_time_and_energy);
  for (size_t i = 0; i < known; i++) {
    const bool equal =
        last && sorted[i]->seconds == last->seconds && sorted[i]->energy == last->energy;
    sorted[i]->non_dominated = !last || equal || sorted[i]->energy < last->energy;
    if (sorted[i]->non_dominated) last = sorted[i];
  }
  free(sorted);
  return CUGEN_OK;
}

bool cache_record_is_refuted(const struct cache_record *record) {
  return record->outcome == CUGEN_OUTCOME_WRONG || record->outcome == CUGEN_OUTCOME_BOUNDS ||
         record->outcome == CUGEN_OUTCOME_TRAP;
}

struct objective_values cache_record_values(const struct cache_record *record) {
  return (struct objective_values){record->seconds, record->energy, record->flops, record->bytes};
}

double cache_record_cost(const struct cache_record *record, const struct objective *objective) {
  const struct objective_values values = cache_record_values(record);
  return objective_cost(objective, &values);
}

static uint64_t place_within(uint64_t place, int bits) {
  const uint64_t most = ((uint64_t)1 << bits) - 1;
  return place < most ? place : most;
}

/* The order has the number that the objective prefers to be small, if there is one, in its upper
   bits (an unknown number as the greatest) and the place in its lower bits. */
uint64_t cache_record_order(const struct cache_record *record, uint64_t place,
                            const struct objective *objective) {
  const uint64_t registers =
      record->resources.registers > 0 ? (uint64_t)record->resources.registers : 0xffff;
  const float energy = record->energy > 0 ? (float)record->energy : INFINITY;
  uint32_t bits; /* bits of positive floats have the same order as the floats */
  switch (objective_prefers(objective)) {
  case PREFER_REGISTERS: return registers << 48 | place_within(place, 48);
  case PREFER_ENERGY:
    memcpy(&bits, &energy, sizeof bits);
    return (uint64_t)bits << 32 | place_within(place, 32);
  default: return place;
  }
}

bool cache_leads(double least, uint64_t leader, double cost, uint64_t order) {
  return cost <= least * CUGEN_TIE && order < leader;
}

/* ---- Outputs -------------------------------------------------------------------------------- */

bool cache_record_knows_outputs(const struct cache_record *record, uint64_t seed) {
  return record->outputs.known && record->outputs.seed == seed;
}

bool cache_record_gave(const struct cache_record *record, const cugen_outputs *outputs) {
  return record->outcome == CUGEN_OUTCOME_OK && outputs_equal(&record->outputs, outputs);
}

void cache_record_keep_outputs(const struct cache_record *before, struct cache_record *record) {
  if (!before->outputs.known || record->outcome != CUGEN_OUTCOME_OK) return;
  if (!record->outputs.known) {
    record->outputs = before->outputs;
    return;
  }
  const uint64_t seed = record->outputs.seed;
  const bool differ =
      before->outputs.seed == seed && !outputs_equal(&before->outputs, &record->outputs);
  if (differ || before->outputs.varies)
    record->outputs = (cugen_outputs){.known = 1, .varies = 1, .seed = seed};
}

/* ---- Which kernel a record is of ------------------------------------------------------------ */

void cache_record_take_hashes(struct cache_record *record, const struct kernel_spec *spec) {
  record->hash = spec->hash;
  record->source_hash = spec->source_hash;
  record->launches_hash = spec->launches_hash;
  record->arguments_hash = spec->arguments_hash;
  record->proof_hash = spec->proof_hash;
}

static bool same_hash(struct hash a, struct hash b) {
  return strcmp(a.hex, b.hex) == 0;
}

/* Compares the parts of the hash that do not depend on the reference. */
static bool same_parts(const struct cache_record *record, const struct kernel_spec *spec) {
  return same_hash(record->source_hash, spec->source_hash) &&
         same_hash(record->launches_hash, spec->launches_hash) &&
         same_hash(record->arguments_hash, spec->arguments_hash);
}

static bool same_as(const struct cache_record *record, const struct kernel_spec *spec, bool plain) {
  if (!record->lacks) return same_hash(record->hash, plain ? spec->plain_hash : spec->hash);
  return same_parts(record, spec) &&
         same_hash(record->proof_hash, kernel_spec_proof_without(spec, record->lacks, plain));
}

bool cache_record_is_same(const struct cache_record *record, const struct kernel_spec *spec) {
  return same_as(record, spec, false) || (spec->proof_check && same_as(record, spec, true));
}

bool cache_record_is_of(const struct cache_record *record, const struct kernel_spec *spec,
                        const struct objective *objective, bool predicted) {
  const struct objective_values then = cache_record_values(record),
                                now = {0, 0, spec->flops, spec->bytes};
  if (record->outcome == CUGEN_OUTCOME_OK && !objective_same_work(objective, &then, &now))
    return false;
  if (cache_record_is_same(record, spec)) return true;
  return predicted && !cache_record_is_refuted(record) && same_parts(record, spec);
}

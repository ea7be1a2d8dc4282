/* A record: what was measured of one variant. Plain data; where it is kept, and as what, is for others to know. */
#ifndef RUNTIME_STORE_RECORD_H
#define RUNTIME_STORE_RECORD_H

#include "base/objective.h"
#include "runtime/device.h"

/* Whether the variant of a prediction was run on the cpu device and came out right. One that came out wrong has another
   outcome; a measurement is of a variant that ran. */
enum cache_verdict { CACHE_NOT_RUN, CACHE_RIGHT, CACHE_NOT_VERIFIABLE, CACHE_VERDICTS };

/* The fields of a record that are kept, in the order of the columns of a database. From this table follow the members of the struct, a
   database's columns and its older formats, the members of a line of wisdom, and what is checked of each. A new field is a new row
   at the end, with the next format (CACHE_FORMAT_VERSION): ALTER TABLE adds columns there.

   FIELD(format, TYPE, name, most): since which format; TYPE of cache_column_type; numbers lie between 0 and most, 0: what the type
   holds. Of a TIME most is how many of its units a second has. CHARS(format, name, size): a text of fewer bytes than size. PART(format, TYPE, name, member, most): what lies in a
   member that is declared below. What was remembered before the format has "" or 0 there. */
#define CACHE_RECORD_FIELDS(FIELD, CHARS, PART)                                                                      \
  FIELD(1, TEXT, variant, 0)                                                                                         \
  FIELD(1, HASH, hash, 0) /* kernel_spec.hash: a record whose variant now has another hash is stale */               \
  PART(1, INT, outcome, outcome, CUGEN_OUTCOME_UNPREDICTED)                                                          \
  FIELD(1, TEXT, reason, 0)                                                                                          \
  FIELD(1, INT, samples, 0)                                                                                          \
  FIELD(1, REAL, seconds, 0)                                                                                         \
  FIELD(1, REAL, seconds_min, 0)                                                                                     \
  FIELD(1, REAL, seconds_p20, 0)                                                                                     \
  FIELD(1, REAL, seconds_p80, 0)                                                                                     \
  FIELD(1, REAL, error, 0)                                                                                           \
  FIELD(1, INT, threads, 0)                                                                                          \
  PART(1, INT, registers, resources.registers, 0)                                                                    \
  PART(1, INT, max_threads, resources.max_threads, 0)                                                                \
  PART(1, INT64, static_shared, resources.static_shared, 0)                                                          \
  FIELD(1, INT64, dynamic_shared, 0)                                                                                 \
  PART(1, INT64, local_bytes, resources.local_bytes, 0)                                                              \
  PART(1, INT64, spill_bytes, resources.spill_bytes, 0)                                                              \
  PART(1, INT64, constant_bytes, resources.constant_bytes, 0)                                                        \
  FIELD(1, REAL, occupancy, 1)                                                                                       \
  CHARS(1, limiter, 24)                                                                                              \
  FIELD(1, REAL, flops, 0)                                                                                           \
  FIELD(1, REAL, bytes, 0)                                                                                           \
  FIELD(1, INT, clock_mhz, 0)                                                                                        \
  FIELD(1, INT, power_watts, 0)                                                                                      \
  CHARS(1, throttle, 48) /* as device_clock's */                                                                     \
  FIELD(1, INT, driver_version, 0)                                                                                   \
  FIELD(1, INT, nvrtc_version, 0)                                                                                    \
  FIELD(1, TIME, measured_at, 1) /* seconds since the epoch; 0: not known */                                         \
  FIELD(2, HASH, source_hash, 0) /* the parts of hash; empty: not known */                                           \
  FIELD(2, HASH, launches_hash, 0)                                                                                   \
  FIELD(2, HASH, arguments_hash, 0)                                                                                  \
  FIELD(2, HASH, proof_hash, 0)                                                                                      \
  FIELD(3, INT, cluster_blocks, 0) /* as in cugen_record */                                                          \
  FIELD(3, INT, active_clusters, 0)                                                                                  \
  FIELD(4, INT, verdict, CACHE_VERDICTS - 1) /* enum cache_verdict */                                                \
  CHARS(4, unverified, 160)                  /* why it could not be verified; of a right one: on which sizes; "" */  \
  FIELD(6, REAL, compile_seconds, 0)         /* as in cugen_record */                                                \
  FIELD(6, REAL, measure_seconds, 0)                                                                                 \
  FIELD(8, REAL, requested, 0)       /* as in cugen_record */                                                        \
  FIELD(9, TIME, run_began, 1000000) /* as in cugen_record */                                                        \
  FIELD(9, REAL, run_seconds, 0)                                                                                     \
  FIELD(10, REAL, energy, 0) /* as in cugen_record */                                                                \
  FIELD(10, REAL, energy_resolution, 0)                                                                              \
  PART(12, OUTPUTS, outputs, outputs, 0)

struct cache_record {
#define FIELD(format, TYPE, name, most) CACHE_MEMBER_##TYPE name;
#define CHARS(format, name, size)       char name[size];
#define PART(format, TYPE, name, member, most)
#define CACHE_MEMBER_TEXT  char *
#define CACHE_MEMBER_HASH  struct hash
#define CACHE_MEMBER_INT   int
#define CACHE_MEMBER_INT64 int64_t
#define CACHE_MEMBER_TIME  int64_t
#define CACHE_MEMBER_REAL  double
  CACHE_RECORD_FIELDS(FIELD, CHARS, PART)
#undef FIELD
#undef CHARS
#undef PART
  cugen_outcome outcome;
  cugen_outputs outputs;
  struct kernel_resources resources; /* of plan_heaviest's launch, as what else is of one */
  bool elsewhere;                    /* as loaded: of a config file that is known and not the key's */
  bool compile_late;                 /* as loaded: its compile was stopped at a time limit */
  bool non_dominated;                /* as in cugen_record, of those that are at hand */
  uint64_t lacks;                    /* as loaded: the key's settings that its problem did not have yet, a bit each */
  uint64_t order;                    /* as judged: cache_record_order */
  const char *wrong;                 /* as settled: why it is no record; NULL: it is one */
  int wrong_column;                  /* where that is not NULL */
};

void cache_record_free(struct cache_record *record);
/* Sets non_dominated of those that are right, have an energy, and of which no other takes less of time or energy and no more of the other. */
int cache_records_mark(struct cache_record *records, size_t count, cugen_error *err);
struct objective_values cache_record_values(const struct cache_record *record);
/* What records are ranked by, the least first: the objective's cost. Infinite without what it needs, such as work or energy. */
double cache_record_cost(const struct cache_record *record, const struct objective *objective);
/* Whether the one is the better choice than the leader so far, where `least` is the least cost of all: of those within
   CUGEN_TIE of it the one with the least order. Whatever is called the best is chosen by this. */
bool cache_leads(double least, uint64_t leader, double cost, uint64_t order);
/* place: where its variant stands in the config's space, where the simple ones come first. */
uint64_t cache_record_order(const struct cache_record *record, uint64_t place, const struct objective *objective);
/* What is known of the later measurement's outputs, and else of the earlier one's: of two that differ, that they do. What was seen to
   vary once stays so, whatever the data. */
void cache_record_keep_outputs(const struct cache_record *before, struct cache_record *record);
/* Whether both are right and gave the same bits of the same data. */
bool cache_record_gave(const struct cache_record *record, const cugen_outputs *outputs);
/* Whether it is known what bits it gave of data of that seed. */
bool cache_record_knows_outputs(const struct cache_record *record, uint64_t seed);
void cache_record_take_hashes(struct cache_record *record, const struct kernel_spec *spec);
/* Whether the variant was seen to go wrong: a wrong result, out of bounds, a trap. */
bool cache_record_is_refuted(const struct cache_record *record);
/* Whether it is of this very kernel, held against the same; parameters aside that its problem did not have yet. */
bool cache_record_is_same(const struct cache_record *record, const struct kernel_spec *spec);
/* Whether the record says something of this kernel. A time that is predicted does not depend on what a result is held
   against, that a variant is wrong does. A rate is of the work that the config declares. */
bool cache_record_is_of(const struct cache_record *record, const struct kernel_spec *spec,
                        const struct objective *objective, bool predicted);

/* ---- Its fields as columns ---- */

/* What is kept as text comes first. */
enum cache_column_type {
  COLUMN_TEXT,
  COLUMN_CHARS,
  COLUMN_HASH,
  COLUMN_OUTPUTS, /* base/outputs.h */
  COLUMN_INT,
  COLUMN_INT64,
  COLUMN_TIME, /* int64_t; what cannot be is 0, not known */
  COLUMN_REAL
};
#define CACHE_OUTPUTS_WRONG "must be 'SEED DIGEST' or 'SEED varies'"

struct cache_column {
  const char *name;
  enum cache_column_type type;
  size_t offset, size;
  double most; /* numbers lie between 0 and this; 0: what the type holds */
  int format;  /* since which */
};

enum {
#define FIELD(format, TYPE, name, most)        CACHE_COLUMN_##name,
#define CHARS(format, name, size)              CACHE_COLUMN_##name,
#define PART(format, TYPE, name, member, most) CACHE_COLUMN_##name,
  CACHE_RECORD_FIELDS(FIELD, CHARS, PART)
#undef FIELD
#undef CHARS
#undef PART
      CACHE_COLUMNS
};
extern const struct cache_column cache_columns[CACHE_COLUMNS];
void *cache_place_of(struct cache_record *record, int column);

/* ---- The gate ---- */

/* What a record must be is said once, here. The same functions judge a row of a database, a line of wisdom, what a worker measured (tune/claim.h),
   and what is about to be stored. So whatever cugen has written, it takes for good. Each gives what is wrong, NULL: nothing. */

/* A compiler's words have line ends; nothing else that a terminal would obey is let through. */
#define CACHE_REASON_CONTROLS "\n\t"
/* No control characters but those, and UTF-8. */
const char *cache_text_wrong(const char *text, const char *allowed);
/* Before 2020, or more than a day ahead, a clock was wrong: 0, not known. Where this machine's own clock is before 2020 the future is not
   known either. units: of the time, in a second. */
int64_t cache_time(int64_t time, int64_t units);

/* Put a value into a column, unless it does not fit. Not for COLUMN_TEXT. */
const char *cache_take_text(struct cache_record *record, int column, const char *text);
const char *cache_take_whole(struct cache_record *record, int column, int64_t number);
const char *cache_take_real(struct cache_record *record, int column, double number);

/* The whole record, with *column the one that is wrong. */
const char *cache_record_wrong(const struct cache_record *record, int *column);
/* Of a record whose columns were taken: what depends on others follows, its reason gets no other characters than those above, its times
   become possible ones, and `wrong` says what is. */
void cache_record_settle(struct cache_record *record);

#endif

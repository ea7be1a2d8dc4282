/* A record: the measurement of one variant, as plain data. The engines (engine.h) store records. */
#ifndef RUNTIME_STORE_RECORD_H
#define RUNTIME_STORE_RECORD_H

#include "base/objective.h"
#include "runtime/device.h"

/* Whether the variant of a prediction was run on the cpu device with a right result. A variant
   with a wrong result has another outcome. */
enum cache_verdict { CACHE_NOT_RUN, CACHE_RIGHT, CACHE_NOT_VERIFIABLE, CACHE_VERDICTS };

/* Format of the tables of every engine, and of wisdom. Any change of the fields below needs a new
   number. */
enum { CACHE_FORMAT_VERSION = 12 };

/* The stored fields of a record, in the order of a database's columns. The members of the struct, a
   database's columns and older formats, the members of a line of wisdom, and the checks of each
   value are generated from this table. A new field is a new row at the end with the next format,
   because ALTER TABLE appends columns.

   FIELD(format, TYPE, name, most): format is the first with the field; COLUMN_TYPE is its
   cache_column_type; numbers lie between 0 and most, or, with most 0, the type's greatest. For a
   TIME, most is the number of its units in a second. CHARS(format, name, size): a text of fewer
   than size bytes. PART(format, TYPE, name, member, most): a field within a member that struct
   cache_record declares itself. Records from before the format have "" or 0 in the field. */
#define CACHE_RECORD_FIELDS(FIELD, CHARS, PART)                                                    \
  FIELD(1, TEXT, variant, 0)                                                                       \
  FIELD(1, HASH, hash,                                                                             \
        0) /* kernel_spec.hash: a record whose variant now has another hash is stale */            \
  PART(1, INT, outcome, outcome, CUGEN_OUTCOME_UNPREDICTED)                                        \
  FIELD(1, TEXT, reason, 0)                                                                        \
  FIELD(1, INT, samples, 0)                                                                        \
  FIELD(1, REAL, seconds, 0)                                                                       \
  FIELD(1, REAL, seconds_min, 0)                                                                   \
  FIELD(1, REAL, seconds_p20, 0)                                                                   \
  FIELD(1, REAL, seconds_p80, 0)                                                                   \
  FIELD(1, REAL, error, 0)                                                                         \
  FIELD(1, INT, threads, 0)                                                                        \
  PART(1, INT, registers, resources.registers, 0)                                                  \
  PART(1, INT, max_threads, resources.max_threads, 0)                                              \
  PART(1, INT64, static_shared, resources.static_shared, 0)                                        \
  FIELD(1, INT64, dynamic_shared, 0)                                                               \
  PART(1, INT64, local_bytes, resources.local_bytes, 0)                                            \
  PART(1, INT64, spill_bytes, resources.spill_bytes, 0)                                            \
  PART(1, INT64, constant_bytes, resources.constant_bytes, 0)                                      \
  FIELD(1, REAL, occupancy, 1)                                                                     \
  CHARS(1, limiter, 24)                                                                            \
  FIELD(1, REAL, flops, 0)                                                                         \
  FIELD(1, REAL, bytes, 0)                                                                         \
  FIELD(1, INT, clock_mhz, 0)                                                                      \
  FIELD(1, INT, power_watts, 0)                                                                    \
  CHARS(1, throttle, 48) /* as device_clock.throttle */                                            \
  FIELD(1, INT, driver_version, 0)                                                                 \
  FIELD(1, INT, nvrtc_version, 0)                                                                  \
  FIELD(1, TIME, measured_at, 1) /* seconds since the epoch; 0: not known */                       \
  FIELD(2, HASH, source_hash, 0) /* the parts of hash; empty: not known */                         \
  FIELD(2, HASH, launches_hash, 0)                                                                 \
  FIELD(2, HASH, arguments_hash, 0)                                                                \
  FIELD(2, HASH, proof_hash, 0)                                                                    \
  FIELD(3, INT, cluster_blocks, 0) /* as in cugen_record */                                        \
  FIELD(3, INT, active_clusters, 0)                                                                \
  FIELD(4, INT, verdict, CACHE_VERDICTS - 1) /* enum cache_verdict */                              \
  CHARS(4, unverified, 160) /* why the variant is not verified, or at which sizes only; or "" */   \
  FIELD(6, REAL, compile_seconds, 0) /* as in cugen_record */                                      \
  FIELD(6, REAL, measure_seconds, 0)                                                               \
  FIELD(8, REAL, requested, 0)       /* as in cugen_record */                                      \
  FIELD(9, TIME, run_began, 1000000) /* as in cugen_record */                                      \
  FIELD(9, REAL, run_seconds, 0)                                                                   \
  FIELD(10, REAL, energy, 0) /* as in cugen_record */                                              \
  FIELD(10, REAL, energy_resolution, 0)                                                            \
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
  /* Of the call's heaviest launch (plan_heaviest), like all values of a single launch. */
  struct kernel_resources resources;
  /* set by a load: the record is of a known config file other than the key's */
  bool elsewhere;
  bool compile_late;  /* set by cache_record_settle: the compile was stopped at a time limit */
  bool non_dominated; /* set by cache_records_mark */
  /* set by a load: a bit for each of the key's settings that the record's problem did not have
     yet */
  uint64_t lacks;
  uint64_t order; /* for cache_leads; UINT64_MAX: not in the space. A load leaves 0 */
  /* why the record is invalid; NULL: it is valid */
  const char *wrong;
  int wrong_column; /* the invalid column if `wrong` is not NULL */
};

void cache_record_free(struct cache_record *record);
/* Sets non_dominated of each record: true for a right record of known energy unless another such
   record takes less time and no more energy, or less energy and no more time. */
int cache_records_mark(struct cache_record *records, size_t count, cugen_error *err);
struct objective_values cache_record_values(const struct cache_record *record);
/* The cost by which records are ranked, the least first; infinite or very large if the record lacks
   a value that the objective needs, such as work or energy. */
double cache_record_cost(const struct cache_record *record, const struct objective *objective);
/* Whether a record of this cost and order is a better choice than one of the order `leader`.
   `least` is the least cost of all: of the records within the factor CUGEN_TIE of `least`, the
   record with the least order wins. */
bool cache_leads(double least, uint64_t leader, double cost, uint64_t order);
/* Returns the record's order for cache_leads: by what the objective prefers between equal costs, if
   anything, then by `place`, the variant's position in the config's space. */
uint64_t cache_record_order(const struct cache_record *record, uint64_t place,
                            const struct objective *objective);
/* Completes the outputs of a right new record from the known outputs of an earlier record: unknown
   outputs become the earlier outputs; known outputs are marked as varying if the earlier outputs
   vary, or differ for the same seed. */
void cache_record_keep_outputs(const struct cache_record *before, struct cache_record *record);
/* Returns whether the record is right and its outputs equal `outputs` (outputs_equal). */
bool cache_record_gave(const struct cache_record *record, const cugen_outputs *outputs);
/* Whether the record knows its outputs for data of that seed, or that they vary. */
bool cache_record_knows_outputs(const struct cache_record *record, uint64_t seed);
void cache_record_take_hashes(struct cache_record *record, const struct kernel_spec *spec);
/* Whether the variant was seen to fail: a wrong result, out of bounds, a trap. */
bool cache_record_is_refuted(const struct cache_record *record);
/* Whether the record is of exactly this kernel and reference, apart from parameters that its
   problem did not have yet, and from the kernel on the check problem, which records of earlier
   versions do not know. */
bool cache_record_is_same(const struct cache_record *record, const struct kernel_spec *spec);
/* Whether the record is valid for this kernel. A time that was predicted (`predicted`) does not
   depend on the reference, but a verdict that a variant is wrong does. A rate depends on the work
   that the config declares. */
bool cache_record_is_of(const struct cache_record *record, const struct kernel_spec *spec,
                        const struct objective *objective, bool predicted);

/* ---- The fields as columns ------------------------------------------------------------------ */

/* Columns that are kept as text come first, then those that are kept as whole numbers. */
enum cache_column_type {
  COLUMN_TEXT,
  COLUMN_CHARS,
  COLUMN_HASH,
  COLUMN_OUTPUTS, /* outputs_text of base/results.h */
  COLUMN_INT,
  COLUMN_INT64,
  COLUMN_TIME, /* int64_t; an impossible time is stored as 0, not known */
  COLUMN_REAL
};
#define CACHE_OUTPUTS_WRONG "must be 'SEED DIGEST' or 'SEED varies'"

struct cache_column {
  const char *name;
  enum cache_column_type type;
  size_t offset, size;
  double most; /* numbers lie between 0 and this; 0: the type's greatest. See CACHE_RECORD_FIELDS */
  int format;  /* the first format with this column */
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

/* Databases and wisdom know three kinds of values, to which the types of columns are reduced. */
enum cache_kind { CACHE_TEXT, CACHE_WHOLE, CACHE_REAL };
static inline enum cache_kind cache_kind_of(int column) {
  const enum cache_column_type type = cache_columns[column].type;
  return type < COLUMN_INT ? CACHE_TEXT : type < COLUMN_REAL ? CACHE_WHOLE : CACHE_REAL;
}
struct cache_value {
  enum cache_kind kind; /* says which of the next members is set */
  const char *text;
  int64_t whole;
  double real; /* NaN: not known */
};
/* The value of a column. A text is the record's, or was written into `outputs`. */
struct cache_value cache_value_of(const struct cache_record *record, int column,
                                  char outputs[OUTPUTS_TEXT]);

/* ---- The gate ------------------------------------------------------------------------------- */

/* The conditions that every record must meet. The same functions check what is read and what is
   about to be stored, so that cugen accepts everything it wrote. A function that returns a text
   returns what is wrong, such as "is out of range", or NULL. */

/* Control characters allowed in a reason. */
#define CACHE_REASON_CONTROLS "\n\t"
/* Checks for valid UTF-8 without control characters other than those allowed. */
const char *cache_text_wrong(const char *text, const char *allowed);
/* A time before 2020 or more than a day ahead comes from a wrong clock and becomes 0, not known.
   If this machine's own clock is before 2020, future times are accepted. units: number of the
   time's units in a second. */
int64_t cache_time(int64_t time, int64_t units);

/* Set a column's value, or return why the value does not fit. cache_take_text copies the text, and
   returns cache_no_memory if it cannot. */
extern const char cache_no_memory[];
const char *cache_take_text(struct cache_record *record, int column, const char *text);
const char *cache_take_whole(struct cache_record *record, int column, int64_t number);
const char *cache_take_real(struct cache_record *record, int column, double number);

/* Returns what is wrong with the record, and sets *column to the wrong column; NULL if the record
   is valid. */
const char *cache_record_wrong(const struct cache_record *record, int *column);
/* Completes a record whose columns were set: computes compile_late, replaces characters that a
   reason may not have, sets impossible times to 0, and checks the record unless `wrong` is set. */
void cache_record_settle(struct cache_record *record);

#endif

/* A record: what was measured of one variant. Plain data; where it is kept, and as what, is for others to know. */
#ifndef RUNTIME_STORE_RECORD_H
#define RUNTIME_STORE_RECORD_H

#include "runtime/device.h"

/* Whether the variant of a prediction was run on the cpu device and came out right. One that came out wrong has another
   outcome; a measurement is of a variant that ran. */
enum cache_verdict { CACHE_NOT_RUN, CACHE_RIGHT, CACHE_NOT_VERIFIABLE, CACHE_VERDICTS };

struct cache_record {
  char *variant;
  struct hash hash; /* kernel_spec.hash: a record whose variant now has another hash is stale */
  struct hash source_hash, launches_hash, arguments_hash, proof_hash; /* its parts; empty: not known */
  cugen_outcome outcome;
  char *reason;
  int samples;
  double seconds, seconds_min, seconds_p20, seconds_p80;
  double compile_seconds, measure_seconds; /* as in cugen_record */
  double error;
  int threads;
  struct kernel_resources resources; /* of plan_heaviest's launch, as what else is of one */
  int64_t dynamic_shared;
  double occupancy;
  char limiter[24];
  int cluster_blocks, active_clusters; /* as in cugen_record */
  int verdict;                         /* enum cache_verdict */
  char unverified[160];                /* why it could not be verified; "" */
  double flops, bytes;
  int clock_mhz, power_watts;
  char throttle[48]; /* as device_clock's */
  int driver_version, nvrtc_version;
  int64_t measured_at; /* seconds since the epoch */
  bool elsewhere;      /* as loaded: of a config file that is known and not the key's */
  bool compile_late;   /* as loaded: its compile was stopped at a time limit */
  uint64_t lacks;      /* as loaded: the key's settings that its problem did not have yet, a bit each */
};

void cache_record_free(struct cache_record *record);
/* What records are ranked by, the least first: seconds, for each unit of work where the objective is a rate. Infinite
   without work. */
double cache_record_cost(const struct cache_record *record, enum objective objective);
/* Times of right records within this factor of the best cost are a tie: the variant that comes first in the config is
   the simpler one and leads. */
#define CACHE_TIE 1.005
void cache_record_take_hashes(struct cache_record *record, const struct kernel_spec *spec);
/* Whether the variant was seen to go wrong: a wrong result, out of bounds, a trap. */
bool cache_record_is_refuted(const struct cache_record *record);
/* Whether it is of this very kernel, held against the same; parameters aside that its problem did not have yet. */
bool cache_record_is_same(const struct cache_record *record, const struct kernel_spec *spec);
/* Whether the record says something of this kernel. A time that is predicted does not depend on what a result is held
   against, that a variant is wrong does. A rate is of the work that the config declares. */
bool cache_record_is_of(const struct cache_record *record, const struct kernel_spec *spec, bool predicted);

/* ---- Its fields as columns: what is stored, read, exported, imported and checked follows one table ---- */

enum cache_column_type { COLUMN_TEXT, COLUMN_CHARS, COLUMN_HASH, COLUMN_INT, COLUMN_INT64, COLUMN_REAL };

struct cache_column {
  const char *name;
  enum cache_column_type type;
  size_t offset, size;
  double most; /* numbers lie between 0 and this; 0: what the type holds */
  int format;  /* since which; what was remembered before has "" or 0 there */
};

/* Columns that came with a later format stand last, as ALTER TABLE puts them. */
enum { CACHE_COLUMNS = 38 };
extern const struct cache_column cache_columns[CACHE_COLUMNS];
bool cache_column_holds(const struct cache_column *column, double number);
bool cache_is_hash(const char *text);
void *cache_place_of(struct cache_record *record, int column);
/* A compiler's words have line ends; nothing else that a terminal would obey is let through. */
#define CACHE_REASON_CONTROLS "\n\t"
bool cache_has_control(const char *text, const char *allowed);
/* From 2020 to tomorrow. What a database has besides is read as 0, so that it is later than nothing. */
bool cache_is_plausible_time(int64_t time);
/* The name of what is wrong in *name, and how; NULL: nothing. */
const char *cache_record_wrong(struct cache_record *record, const char **name);

#endif

/* Older formats of the cache's file, each made from the next one by taking away what was new. */
#ifndef TESTS_OLD_FORMATS_H
#define TESTS_OLD_FORMATS_H

#include "base/text.h"
#include "runtime/store/cache.h"

/* A column of the table `record`, and the field of a record that it holds. */
struct old_column {
  const char *name;
  size_t at, bytes;
};
#define OLD_COLUMN(field)                                                                          \
  { #field, offsetof(struct cache_record, field), sizeof((struct cache_record *)0)->field }

struct old_format {
  int format;
  const char *sql; /* what else the next format added, to be taken away */
  struct old_column columns[4];
};

static const struct old_format old_formats[] = {
    {11, "", {OLD_COLUMN(outputs)}},
    {10, "DROP TABLE portfolio;", {{0}}},
    {9, "", {OLD_COLUMN(energy), OLD_COLUMN(energy_resolution)}},
    {8, "", {OLD_COLUMN(run_began), OLD_COLUMN(run_seconds)}},
    {7, "", {OLD_COLUMN(requested)}},
    {6, "DROP INDEX record_variant; ALTER TABLE image DROP COLUMN seal;", {{0}}},
    {5, "", {OLD_COLUMN(compile_seconds), OLD_COLUMN(measure_seconds)}},
    {4,
     "DROP INDEX record_current; ALTER TABLE record DROP COLUMN origin;"
     "CREATE UNIQUE INDEX record_current ON record (space_id, variant) WHERE superseded = 0;",
     {{0}}},
    {3, "", {OLD_COLUMN(verdict), OLD_COLUMN(unverified)}},
    {2, "", {OLD_COLUMN(cluster_blocks), OLD_COLUMN(active_clusters)}},
    {1,
     "",
     {OLD_COLUMN(source_hash), OLD_COLUMN(launches_hash), OLD_COLUMN(arguments_hash),
      OLD_COLUMN(proof_hash)}},
};
enum { OLD_FORMATS = sizeof old_formats / sizeof *old_formats };

/* Appends the SQL that turns a cache of the current format into one of this format, and empties
   the fields that it lacks; lacking NULL: of no record. */
static inline void old_format_sql(int format, struct text *sql, struct cache_record *lacking) {
  for (size_t i = 0; i < OLD_FORMATS && old_formats[i].format >= format; i++) {
    text_add(sql, old_formats[i].sql);
    for (const struct old_column *c = old_formats[i].columns;
         c < old_formats[i].columns + 4 && c->name; c++) {
      text_addf(sql, "ALTER TABLE record DROP COLUMN %s;", c->name);
      if (lacking) memset((char *)lacking + c->at, 0, c->bytes);
    }
  }
  text_addf(sql, "PRAGMA user_version = %d", format);
}

#endif

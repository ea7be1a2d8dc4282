/* Visits the selected current records in the order of their texts; see cache_each in cache.h.

   Memory holds no list of all records. Only the groups (the few triples of config, device and
   options) and the ids of one set are sorted: within a group the index of space gives the
   problems in order. */
#include <string.h>

#include "database.h"

enum walk_statement { GROUPS, SPACES, COUNT, ORDER, RECORD, WALK_STATEMENTS };

static const char *const walk_sql[WALK_STATEMENTS] = {
    [GROUPS] =
        "SELECT DISTINCT config, device, options FROM space ORDER BY config, device, options",
    [SPACES] = "SELECT id, problem FROM space WHERE device = ?1 AND config = ?2 AND options = ?4 "
               "ORDER BY problem",
    [COUNT] = "SELECT %s FROM record WHERE space_id = ?1 AND superseded = 0",
    [ORDER] = "SELECT id FROM record WHERE space_id = ?1 AND superseded = 0 ORDER BY variant, "
              "outcome <> 0, seconds, id",
    [RECORD] = "SELECT %s FROM record WHERE id = ?1",
};

struct walk {
  struct sqlite_cache *cache;
  const struct cache_filter *filter;
  struct cache_pass pass;
  sqlite3_stmt *statements[WALK_STATEMENTS];
  struct cache_key key; /* of the present set; its texts belong to the statements */
};

static int walk_each_row(struct walk *walk, enum walk_statement which, cache_row_visitor *visit,
                         cugen_error *err) {
  return cache_visit(walk->cache, walk->statements[which], visit, walk, "read", err);
}

static int each_row_of(struct walk *walk, enum walk_statement which, int64_t id,
                       cache_row_visitor *visit, cugen_error *err) {
  if (sqlite3_bind_int64(walk->statements[which], 1, id) != SQLITE_OK)
    return cache_error(walk->cache, "read", err);
  return walk_each_row(walk, which, visit, err);
}

/* ---- Records -------------------------------------------------------------------------------- */

static int walk_visit_record(void *context, const struct cache_row *row, cugen_error *err) {
  struct walk *walk = context;
  return cache_pass_entry(&walk->pass, &walk->key, row, err);
}

static int visit_id(void *context, const struct cache_row *row, cugen_error *err) {
  struct walk *walk = context;
  return each_row_of(walk, RECORD, row_integer(row, 0), walk_visit_record, err);
}

/* ---- Sets of records ------------------------------------------------------------------------ */

static int walk_visit_space(void *context, const struct cache_row *row, cugen_error *err) {
  struct walk *walk = context;
  const int64_t space = row_integer(row, 0);
  walk->key.problem = row_text(row, 1);
  if (!cache_filter_takes(walk->filter, &walk->key)) return CUGEN_OK;
  return walk->pass.counting ? each_row_of(walk, COUNT, space, walk_visit_record, err)
                             : each_row_of(walk, ORDER, space, visit_id, err);
}

static int visit_group(void *context, const struct cache_row *row, cugen_error *err) {
  struct walk *walk = context;
  walk->key = (struct cache_key){.config = row_text(row, 0),
                                 .device = row_text(row, 1),
                                 .options = row_text(row, 2),
                                 .problem = ""};
  if (!cache_bind_key(walk->statements[SPACES], &walk->key))
    return cache_error(walk->cache, "read", err);
  return walk_each_row(walk, SPACES, walk_visit_space, err);
}

/* ---- All sets ------------------------------------------------------------------------------- */

/* Runs in one read-only transaction, so that the records counted are those visited. */
int sqlite_each(struct cache *base, const struct cache_filter *filter,
                const struct cache_visit *visit, cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  struct walk walk = {.cache = cache, .filter = filter, .pass = {.visit = visit, .counting = true}};
  bool good = true;
  for (int i = 0; i < WALK_STATEMENTS && good; i++)
    good = (walk.statements[i] = cache_query(cache, walk_sql[i])) != NULL;
  good = good && cache_sql(cache->db, "BEGIN");
  int status =
      good ? walk_each_row(&walk, GROUPS, visit_group, err) : cache_error(cache, "read", err);
  if (!status) status = visit->begin(visit->context, walk.pass.count, walk.pass.left_out, err);
  walk.pass.counting = false;
  if (!status) status = walk_each_row(&walk, GROUPS, visit_group, err);
  for (int i = 0; i < WALK_STATEMENTS; i++) sqlite3_finalize(walk.statements[i]);
  if (!sqlite3_get_autocommit(cache->db)) cache_step(cache, ROLLBACK);
  return status;
}

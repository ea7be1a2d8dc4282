/* The statements that only read, in the SQL that SQLite and PostgreSQL have in common; see
   engine.h. "@" stands in front of a table, "?1" for a value, "%s" for the columns of a record. */
#include "engine.h"

#define OF_KEY                                                                                     \
  "space_id = (SELECT id FROM @space WHERE device = ?1 AND config = ?2 AND problem = ?3 AND "      \
  "options = ?4)"
#define HAS_RECORDS "EXISTS (SELECT 1 FROM @record WHERE space_id = s.id AND superseded = 0)"
/* Times below 1e-30 seconds are not measurements, and the quotient may overflow. */
#define RATE(find)                                                                                 \
  "SELECT flops / seconds, bytes / seconds, measured_at FROM @space s JOIN @record ON space_id = " \
  "s.id WHERE device = ?1 AND config = ?2 AND " find                                               \
  "(' ' || problem || ' ', ?3) > 0 AND superseded = 0 AND outcome = 0 AND seconds > 1e-30 AND "    \
  "flops < 1e100 AND bytes < 1e100 ORDER BY (flops + bytes) / seconds DESC LIMIT 1"
#define PORTFOLIOS                                                                                 \
  "SELECT device, config, class, options, origin, objective, body, learnt_at FROM @portfolio"

#define ENTRIES(images, image_entries)                                                             \
  "SELECT 'image ''' || key || ''' has ' || entries || ' kernels' FROM (SELECT key, (SELECT "      \
  "count(*) FROM " image_entries " e WHERE e.key = i.key) AS entries FROM " images " i) c WHERE "  \
  "entries NOT BETWEEN 1 AND 8"
_Static_assert(KERNEL_MAX_ENTRIES == 8, "as above");

static const struct {
  const char *sql, *server; /* server: the statement for PostgreSQL; NULL: `sql`, as for SQLite */
} queries[CACHE_QUERIES] = {
    [CACHE_QUERY_LOAD] = {"SELECT %s, CASE WHEN origin IN ('', ?5) THEN 0 ELSE 1 END FROM @record "
                          "WHERE superseded = 0 AND " OF_KEY
                          " ORDER BY outcome <> 0, seconds NULLS FIRST, id",
                          NULL},
    /* in the order of the index record_fastest, so that no sorting is needed */
    [CACHE_QUERY_FASTEST] =
        {"SELECT %s FROM @record WHERE superseded = 0 AND outcome = 0 AND " OF_KEY
         " ORDER BY seconds NULLS FIRST, id",
         NULL},
    [CACHE_QUERY_HISTORY] =
        {"SELECT %s, 0 FROM @record WHERE superseded = 1 AND origin IN ('', ?5) AND " OF_KEY
         " ORDER BY id DESC",
         NULL},
    [CACHE_QUERY_PROBLEMS] = {"SELECT problem FROM @space s WHERE device = ?1 AND config = ?2 AND "
                              "options = ?3 AND " HAS_RECORDS " ORDER BY problem",
                              NULL},
    [CACHE_QUERY_DEVICES] = {"SELECT device, options FROM @space s WHERE config = ?1 AND problem = "
                             "?2 AND EXISTS (SELECT 1 FROM @record WHERE space_id = s.id AND "
                             "superseded = 0 AND outcome = 0) ORDER BY device, options",
                             NULL},
    /* the longest problems first; the bounds are compared as bytes */
    [CACHE_QUERY_SHORTER] = {"SELECT problem FROM @space s WHERE device = ?1 AND config = ?2 AND "
                             "options = ?4 AND problem >= ?5 AND problem < ?6 AND length(problem) "
                             "< length(CAST(?3 AS text)) AND " HAS_RECORDS
                             " ORDER BY length(problem) DESC, id",
                             NULL},
    [CACHE_QUERY_RATE] = {RATE("instr"), RATE("strpos")},
    [CACHE_QUERY_SPACES] =
        {"SELECT s.device, s.config, s.problem, s.options, b.variant, b.origin, s.id, c.records, "
         "c.failed, c.history, c.latest, coalesce(b.seconds, 0), coalesce(b.flops, 0), "
         "coalesce(b.bytes, 0) FROM @space s JOIN (SELECT space_id, count(*) FILTER (WHERE "
         "superseded = 0) AS records, count(*) FILTER (WHERE superseded = 0 AND " CACHE_FAILED_SQL
         ") AS failed, count(*) FILTER (WHERE superseded <> 0) AS history, max(measured_at) AS "
         "latest FROM @record GROUP BY space_id) c ON c.space_id = s.id LEFT JOIN @record b ON "
         "b.id = (SELECT id FROM @record WHERE space_id = s.id AND superseded = 0 AND outcome = 0 "
         "ORDER BY seconds NULLS FIRST, id LIMIT 1) ORDER BY s.config, s.device, s.options, "
         "s.problem",
         NULL},
    [CACHE_QUERY_ORIGIN] = {"SELECT 1 FROM @record WHERE origin = ?1 LIMIT 1", NULL},
    [CACHE_QUERY_PORTFOLIOS] = {PORTFOLIOS
                                " ORDER BY config, device, options, class, objective, origin",
                                NULL},
    [CACHE_QUERY_PORTFOLIOS_OF] = {PORTFOLIOS
                                   " WHERE device = ?1 AND config = ?2 AND options = ?3 ORDER BY "
                                   "learnt_at DESC, origin DESC, class, objective",
                                   NULL},
    /* In SQLite, `images` is a view of the cache's images and those of a read-only file. */
    [CACHE_QUERY_IMAGES] = {"SELECT key, length(data) FROM images",
                            "SELECT key, length(data) FROM @image ORDER BY id"},
    [CACHE_QUERY_KEYS] = {"SELECT device, config, problem, options, id FROM @space", NULL},
    [CACHE_QUERY_DOUBLES] = {"SELECT 'variant ''' || variant || ''' has ' || count(*) || ' records "
                             "that are not superseded' FROM @record WHERE superseded = 0 GROUP BY "
                             "space_id, variant, hash HAVING count(*) > 1",
                             NULL},
    [CACHE_QUERY_ENTRIES] = {ENTRIES("images", "image_entries"), ENTRIES("@image", "@image_entry")},
};

void cache_query_sql(enum cache_query which, bool server, struct text *out) {
  const char *sql = server && queries[which].server ? queries[which].server : queries[which].sql;
  for (size_t n; n = strcspn(sql, "@?"), text_add_n(out, sql, n), sql[n]; sql += n + 1)
    text_add(out, sql[n] == '?' ? (server ? "$" : "?") : server ? "cugen." : "");
}

const char *cache_query_doing(enum cache_query which) {
  return which >= CACHE_QUERY_IMAGES ? "check" : "read";
}

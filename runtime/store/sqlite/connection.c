/* A connection to a database that may come from a stranger; see database.h. */
#include "database.h"

/* The file may come from a stranger: nothing in its schema may run, its pages are not trusted,
   and no value may be larger than cugen stores. */
bool cache_harden(sqlite3 *db) {
  static const int switches[][2] = {{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
                                    {SQLITE_DBCONFIG_ENABLE_FKEY, 1}};
  static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, 2 * (int)CACHE_MAX_IMAGE + (16 << 20)},
                                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                  {SQLITE_LIMIT_ATTACHED, 1},
                                  {SQLITE_LIMIT_WORKER_THREADS, 0},
                                  {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                  {SQLITE_LIMIT_COLUMN, 200}};
  bool good = true;
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
    good = good && sqlite3_db_config(db, switches[i][0], switches[i][1], NULL) == SQLITE_OK;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    sqlite3_limit(db, limits[i][0], limits[i][1]);
  return good &&
         cache_sql(db,
                   "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY");
}

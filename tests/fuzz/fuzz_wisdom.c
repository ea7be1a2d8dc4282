/* Fuzz target: any bytes as a wisdom file, and as one whose lines all end with the right
   checksum. Reading ends; what is refused says where and leaves the cache as it was; what is
   taken is as it should be, comes back as it was, and is known when it comes again.

   Reading and judging need no database: they are run on a list in memory, which stands behind
   the interface of engines. A database is opened for the first inputs that are taken, which are
   the corpus, and for few of the others. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "fuzz.h"
#include "runtime/store/engine.h"
#include "runtime/store/wisdom.h"

/* ---- A list as an engine -------------------------------------------------------------------- */

enum { MOST_ENTRIES = 4096 }; /* an input of some 4 KB has fewer */

struct list {
  struct cache cache;
  struct cache_stage stage;
  struct cache_entry entries[MOST_ENTRIES];
  size_t count, merged;
  struct cache_portfolio *portfolios;
  size_t portfolio_count;
};

static struct list *list_of(struct cache *cache) {
  return (struct list *)cache;
}

static struct list *list_of_stage(struct cache_stage *stage) {
  return (struct list *)((char *)stage - offsetof(struct list, stage));
}

static char *copy(const char *text) {
  char *own = strdup(text);
  require(own != NULL);
  return own;
}

static void entry_free(struct cache_entry *entry) {
  free((char *)(uintptr_t)entry->key.device);
  free((char *)(uintptr_t)entry->key.config);
  free((char *)(uintptr_t)entry->key.problem);
  free((char *)(uintptr_t)entry->key.options);
  cache_record_free(&entry->record);
}

static void drop(struct list *list, size_t from) {
  for (size_t i = from; i < list->count; i++) entry_free(&list->entries[i]);
  list->count = from;
}

static int stage_open(struct cache *cache, const struct cache_stage *given,
                      struct cache_stage **out, cugen_error *err) {
  (void)given, (void)err;
  *out = &list_of(cache)->stage;
  return CUGEN_OK;
}

static bool is_same(const struct cache_entry *a, const struct cache_entry *b) {
  return strcmp(a->record.variant, b->record.variant) == 0 &&
         strcmp(a->record.hash.hex, b->record.hash.hex) == 0 &&
         strcmp(a->key.device, b->key.device) == 0 && strcmp(a->key.config, b->key.config) == 0 &&
         strcmp(a->key.problem, b->key.problem) == 0 && strcmp(a->key.options, b->key.options) == 0;
}

static int stage_add(struct cache_stage *stage, const struct cache_entry *entry, size_t line,
                     size_t *twice, cugen_error *err) {
  struct list *list = list_of_stage(stage);
  (void)line;
  for (size_t i = list->merged; i < list->count && !*twice; i++)
    if (is_same(&list->entries[i], entry)) *twice = i + 1;
  if (*twice) return CUGEN_OK;
  if (list->count == MOST_ENTRIES) return error_memory(err);
  struct cache_entry *own = &list->entries[list->count++];
  *own = *entry;
  own->key = (struct cache_key){.device = copy(entry->key.device),
                                .config = copy(entry->key.config),
                                .problem = copy(entry->key.problem),
                                .options = copy(entry->key.options)};
  own->record.variant = copy(entry->record.variant);
  own->record.reason = copy(entry->record.reason);
  return CUGEN_OK;
}

static int stage_merge(struct cache_stage *stage, cugen_cache_merged *out, cugen_error *err) {
  struct list *list = list_of_stage(stage);
  (void)err;
  out->added = list->count - list->merged;
  list->merged = list->count;
  return CUGEN_OK;
}

static void stage_close(struct cache_stage *stage) {
  drop(list_of_stage(stage), list_of_stage(stage)->merged);
}

static int each(struct cache *cache, const struct cache_filter *filter,
                const struct cache_visit *visit, cugen_error *err) {
  struct list *list = list_of(cache);
  (void)filter;
  int status = visit->begin(visit->context, list->merged, 0, err);
  for (size_t i = 0; i < list->merged && !status; i++)
    status = visit->record(visit->context, &list->entries[i], err);
  return status;
}

/* A row's answer is a portfolio. */
static const char *portfolio_text(const struct cache_row *row, int column) {
  const struct cache_portfolio *p = row->answer;
#define X(field) p->field,
  const char *const texts[] = {CACHE_PORTFOLIO_KEY(X) p->body};
#undef X
  return texts[column];
}

static int64_t portfolio_integer(const struct cache_row *row, int column) {
  (void)column;
  return ((const struct cache_portfolio *)row->answer)->learnt_at;
}

static int query(struct cache *cache, enum cache_query which, const char *const *values, int count,
                 cache_row_visitor *visit, void *context, cugen_error *err) {
  static const struct cache_columns_of columns = {portfolio_text, portfolio_integer, NULL};
  const struct list *list = list_of(cache);
  int status = CUGEN_OK;
  (void)values, (void)count;
  require(which == CACHE_QUERY_PORTFOLIOS);
  for (size_t i = 0; i < list->portfolio_count && !status; i++) {
    const struct cache_row row = {&columns, cache, &list->portfolios[i], 0};
    status = visit(context, &row, err);
  }
  return status;
}

static int portfolios_change(struct cache *cache, const struct cache_portfolio *from, size_t count,
                             bool removed, cugen_error *err) {
  struct list *list = list_of(cache);
  if (removed) return error_memory(err);
  for (size_t i = 0; i < count; i++) {
    struct cache_portfolio *grown =
        array_grow(list->portfolios, list->portfolio_count, sizeof *grown);
    require(grown != NULL);
    list->portfolios = grown;
    struct cache_portfolio *own = &grown[list->portfolio_count++];
    *own = (struct cache_portfolio){.learnt_at = from[i].learnt_at, .body = copy(from[i].body)};
#define X(field) own->field = copy(from[i].field ? from[i].field : "");
    CACHE_PORTFOLIO_KEY(X)
#undef X
  }
  return CUGEN_OK;
}

static const struct cache_engine list_engine = {.stage_open = stage_open,
                                                .stage_add = stage_add,
                                                .stage_merge = stage_merge,
                                                .stage_close = stage_close,
                                                .each = each,
                                                .query = query,
                                                .portfolios_change = portfolios_change};

static struct list *list_open(struct list *list) {
  pthread_mutex_init(&list->cache.lock, NULL);
  list->cache.engine = list->stage.engine = &list_engine;
  return list;
}

static void list_clear(struct list *list) {
  drop(list, 0);
  list->merged = 0;
  cache_portfolios_free(list->portfolios, list->portfolio_count);
  list->portfolios = NULL;
  list->portfolio_count = 0;
}

/* ---- A database ----------------------------------------------------------------------------- */

static struct cache *open_cache(void) {
  struct cache *cache;
  require(cache_open("none", &cache, NULL, NULL) == CUGEN_OK);
  return cache;
}

static size_t count_spaces(struct cache *cache) {
  struct cache_space *spaces;
  size_t count;
  require(cache_spaces(cache, &spaces, &count, NULL) == CUGEN_OK);
  cache_spaces_free(spaces, count);
  return count;
}

static void export_all(struct cache *cache, struct text *out) {
  static const struct cache_filter all = {0};
  size_t count;
  require(wisdom_export(cache, &all, out, &count, NULL) == CUGEN_OK);
}

/* Checks the records that were taken. */
static void check_taken(struct cache *cache, const char *data, size_t size,
                        const cugen_cache_merged *first) {
  struct cache *other = open_cache();
  cugen_cache_merged merged;
  cugen_cache_counts checked;
  struct text once = {0}, twice = {0}, wrong = {0};
  require(first->better + first->worse + first->known == 0);
  require(wisdom_import(cache, "again", data, size, &merged, NULL) == CUGEN_OK &&
          merged.known == first->added);
  require(merged.added + merged.better + merged.worse == 0);
  require(cache_verify(cache, &checked, &wrong, &wrong, NULL) == CUGEN_OK && wrong.length == 0);
  require(checked.records == first->added);
  export_all(cache, &once);
  require(wisdom_import(other, "other", text_get(&once), once.length, &merged, NULL) == CUGEN_OK);
  export_all(other, &twice);
  require(strcmp(text_get(&once), text_get(&twice)) == 0);
  text_free(&once);
  text_free(&twice);
  text_free(&wrong);
  cache_close(other);
}

static void check_database(const char *data, size_t size) {
  static struct cache *cache; /* kept, because opening a cache takes longest */
  cugen_cache_merged merged;
  cugen_error err = {0};
  if (!cache) cache = open_cache();
  if (wisdom_import(cache, "fuzz", data, size, &merged, &err)) {
    require(strncmp(err.message, "fuzz:", 5) == 0 && count_spaces(cache) == 0);
    return;
  }
  check_taken(cache, data, size, &merged);
  if (count_spaces(cache) == 0) return;
  cache_close(cache);
  cache = NULL;
}

/* ---- Both ----------------------------------------------------------------------------------- */

static void check_sound(const struct list *list) {
  for (size_t i = 0; i < list->merged; i++) {
    const char *name;
    int column;
    require(!cache_key_wrong(&list->entries[i].key, &name));
    require(!cache_record_wrong(&list->entries[i].record, &column));
  }
}

static void check(const char *data, size_t size) {
  enum { FIRST = 16, EACH = 1024 };
  static struct list lists[2];
  static size_t taken;
  struct list *list = list_open(&lists[0]), *other = list_open(&lists[1]);
  struct text once = {0}, twice = {0};
  cugen_cache_merged merged;
  cugen_error err = {0};
  if (wisdom_import(&list->cache, "fuzz", data, size, &merged, &err)) {
    require(strncmp(err.message, "fuzz:", 5) == 0 && list->merged == 0 &&
            list->portfolio_count == 0);
  } else {
    check_sound(list);
    export_all(&list->cache, &once);
    require(wisdom_import(&other->cache, "other", text_get(&once), once.length, &merged, NULL) ==
            CUGEN_OK);
    export_all(&other->cache, &twice);
    require(strcmp(text_get(&once), text_get(&twice)) == 0);
    taken++;
    if (taken <= FIRST || taken % EACH == 0) check_database(data, size);
  }
  list_clear(list);
  list_clear(other);
  text_free(&once);
  text_free(&twice);
}

/* Adds the right checksum to each line. */
static void seal(const char *data, size_t size, struct text *out) {
  for (const char *end = data + size; data < end;) {
    const char *stop = memchr(data, '\n', (size_t)(end - data));
    size_t length = (size_t)((stop ? stop : end) - data);
    text_add_n(out, data, length);
    text_addf(out, ",\"checksum\":\"%s\"}\n", hash_bytes(data, length).hex);
    data += length + (stop != NULL);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct text sealed = {0};
  check((const char *)data, size);
  seal((const char *)data, size, &sealed);
  check(text_get(&sealed), sealed.length);
  text_free(&sealed);
  return 0;
}

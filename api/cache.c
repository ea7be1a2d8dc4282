/* Operations on the cache as a whole: listing its contents, removing from it, checking it. */
#include <stdlib.h>
#include <string.h>

#include "base/device_name.h"
#include "base/system.h"
#include "cache.h"
#include "foreign.h"
#include "learning.h"
#include "machine.h"
#include "portfolio_out.h"
#include "runtime/store/wisdom.h"
#include "set_best.h"

struct listing {
  cugen_cache_set *sets;
  size_t count;
};

static void clear_listing(void *data) {
  struct listing *listing = data;
  cache_spaces_free(listing->sets, listing->count);
}

struct checked {
  struct text wrong, foreign;
};

static void clear_checked(void *data) {
  struct checked *checked = data;
  text_free(&checked->wrong);
  text_free(&checked->foreign);
}

/* ---- Resolving a filter --------------------------------------------------------------------- */

/* A cugen_cache_filter with its names resolved. `filter` borrows the texts below and the
   caller's. */
struct meant {
  struct cache_filter filter;
  struct text config, origin, device;
};

static void meant_free(struct meant *meant) {
  text_free(&meant->config);
  text_free(&meant->origin);
  text_free(&meant->device);
}

static int name_nearest(const char *config, const struct cache_space *spaces, size_t count,
                        cugen_error *err) {
  const char **names = calloc(count + 1, sizeof *names);
  if (!names) return error_memory(err);
  for (size_t i = 0; i < count; i++) names[i] = spaces[i].config;
  const char *nearest = text_nearest(config, names, count);
  if (nearest) error_append(err, "; something is remembered of '%s'", nearest);
  free(names);
  return err ? err->status : CUGEN_ERROR_MISSING;
}

/* Finds a kernel by a name in the cache, else by a config's name or path; out->origin then
   identifies the config file. */
static int cache_find_config(cugen *lib, const char *name, const struct cache_space *spaces,
                             size_t count, struct meant *out, cugen_error *err) {
  struct config *config;
  int status = CUGEN_OK;
  size_t at = 0;
  while (at < count && strcmp(spaces[at].config, name) != 0) at++;
  if (at < count) {
    text_add(&out->config, name);
  } else {
    status = config_open(&lib->sources, name, &config, err);
    if (status == CUGEN_ERROR_MISSING) return name_nearest(name, spaces, count, err);
    if (status) return status;
    text_add(&out->config, config->name);
    status = api_origin(&lib->sources, config, &out->origin, err);
    config_close(config);
  }
  return out->config.failed ? error_memory(err) : status;
}

/* Resolves a device. "cuda:0" or "model:H200" means one device. "cpu", and text of no such form, is
   a part of devices' texts. */
static int cache_find_device(cugen *lib, const char *name, struct meant *out, cugen_error *err) {
  struct found_device found;
  const cugen_device_name named = device_parse(name);
  out->filter.device = name;
  if (named.kind == CUGEN_DEVICE_NAMED || named.kind == CUGEN_DEVICE_CPU) return CUGEN_OK;
  int status = api_find_device(lib, name, &found, NULL, err);
  if (status) return status;
  text_addf(&out->device, "%s%s", named.kind == CUGEN_DEVICE_MODEL ? DEVICE_NAME_PREDICTED : "",
            found.description.fingerprint);
  out->filter.device = text_get(&out->device);
  out->filter.whole_device = true;
  return out->device.failed ? error_memory(err) : CUGEN_OK;
}

static bool cache_is_blank(const char *text) {
  return text && !text[strspn(text, " ")];
}

/* Refuses a blank config, device or problem, which would match everything, and words of the problem
   that are not NAME=VALUE. */
static int check_filter(const cugen_cache_filter *filter, cugen_error *err) {
  if (cache_is_blank(filter->config) || cache_is_blank(filter->device) ||
      cache_is_blank(filter->problem))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "the %s to select is empty: no record has an empty one; leave it out for all",
                     cache_is_blank(filter->config)   ? "config"
                     : cache_is_blank(filter->device) ? "device"
                                                      : "problem");
  struct setting word;
  for (const char *at = filter->problem; at && setting_next(&at, &word);)
    if (word.name + 1 >= word.length)
      return error_set(
          err, CUGEN_ERROR_USAGE,
          "problem '%.*s': it is written NAME=VALUE, several between spaces: \"M=8192 dtype=f16\"",
          (int)word.length, word.text);
  return CUGEN_OK;
}

/* Resolves a way of measuring. "served", the way of plans that explored, exists only for
   records. */
static int take_way(const char *word, struct cache_filter *out, cugen_error *err) {
  const char *served = measure_way_names[MEASURE_SERVED];
  out->timed = true;
  out->measure = MEASURE_SERVED;
  if (strcmp(word, served) == 0) return CUGEN_OK;
  int status = api_measure_way(word, &out->measure, err);
  if (status) error_append(err, ", %s", served);
  return status;
}

static int cache_take_filter(cugen *lib, struct cache *cache, const cugen_cache_filter *from,
                             struct meant *out, cugen_error *err) {
  static const cugen_cache_filter all = {0};
  struct cache_space *spaces;
  size_t count;
  *out = (struct meant){0};
  if (!from) from = &all;
  int status = check_filter(from, err);
  if (status) return status;
  out->filter = (struct cache_filter){
      .problem = from->problem, .before = from->before, .failed = from->failed != 0};
  if (from->measure) status = take_way(from->measure, &out->filter, err);
  if (!status && from->device) status = cache_find_device(lib, from->device, out, err);
  if (status || !from->config) return status;
  status = cache_spaces(cache, &spaces, &count, err);
  if (!status) status = cache_find_config(lib, from->config, spaces, count, out, err);
  cache_spaces_free(spaces, count);
  out->filter.config = text_get(&out->config);
  return status;
}

/* ---- Listing -------------------------------------------------------------------------------- */

/* Fills in what the options of a set tell about its records. */
static void describe_set(cugen_cache_set *set) {
  const struct record_options said = record_options_parse(set->options);
  if (said.kind == OPTIONS_MEASURED) {
    memcpy(set->arch, said.arch, sizeof set->arch);
    set->measure = measure_way_names[said.measure];
  }
  if (said.kind == OPTIONS_BASELINE) set->measure = "baseline";
  /* Imported suggestions were not measured here, so none of them is the best. */
  if (strcmp(set->options, FOREIGN_OPTIONS) == 0) *set->best = '\0', set->seconds = 0;
}

cugen_cache_kind api_cache_parse(const char *text) {
  return cache_parse(text);
}

int api_cache_list(cugen *lib, const cugen_cache_filter *filter, const cugen_cache_set **out,
                   size_t *count, cugen_error *error) {
  struct cache *cache;
  struct meant meant = {0};
  struct listing *listing = NULL;
  struct set_best best = {.lib = lib};
  *out = NULL, *count = 0;
  int status = api_cache_to_read(lib, &cache, error);
  if (!status) status = cache_take_filter(lib, cache, filter, &meant, error);
  if (!status) listing = kept_renew(&lib->sets, sizeof *listing, clear_listing, error);
  if (!status && !listing) status = CUGEN_ERROR_MEMORY;
  if (!status) status = cache_spaces(cache, &listing->sets, &listing->count, error);
  for (size_t i = 0; !status && i < listing->count; i++) {
    cugen_cache_set set = listing->sets[i];
    const struct cache_key key = {
        .device = set.device, .config = set.config, .problem = set.problem, .options = set.options};
    if (!cache_filter_takes(&meant.filter, &key)) continue;
    status = set_best_find(&best, &set, error);
    describe_set(&set);
    listing->sets[i] = listing->sets[*count]; /* sets that the filter leaves out go to the end */
    listing->sets[(*count)++] = set;
  }
  set_best_close(&best);
  meant_free(&meant);
  if (!status) *out = listing->sets;
  return status;
}

int api_cache_portfolios(cugen *lib, const cugen_cache_filter *filter, const cugen_portfolio **out,
                         size_t *count, cugen_error *error) {
  struct cache *cache;
  struct meant meant = {0};
  struct portfolio_holdings *holdings = NULL;
  struct cache_portfolio *all = NULL;
  size_t all_count = 0;
  *out = NULL, *count = 0;
  int status = api_cache_to_read(lib, &cache, error);
  if (!status) status = cache_take_filter(lib, cache, filter, &meant, error);
  if (!status)
    holdings = kept_renew(&lib->portfolios, sizeof *holdings, portfolio_holdings_clear, error);
  if (!status && !holdings) status = CUGEN_ERROR_MEMORY;
  if (!status) status = cache_portfolios(cache, NULL, &all, &all_count, error);
  for (size_t i = 0; i < all_count && !status; i++) {
    const struct cache_key key = {.device = all[i].device,
                                  .config = all[i].config,
                                  .problem = all[i].class,
                                  .options = all[i].options};
    if (!cache_filter_takes(&meant.filter, &key)) continue;
    struct portfolio_holding *h = portfolio_holding_add(holdings, error);
    status = h ? portfolio_body_parse(all[i].body, &h->body, error) : CUGEN_ERROR_MEMORY;
    if (status) break;
    h->kept = all[i];
    all[i] = (struct cache_portfolio){0};
    portfolio_publish(h, &holdings->out[holdings->count - 1]);
  }
  cache_portfolios_free(all, all_count);
  meant_free(&meant);
  if (!status) *out = holdings->out, *count = holdings->count;
  return status;
}

/* Refuses a database that cannot be written: changes of the library's copy in memory would be
   lost. */
static int check_writable(const cugen *lib, const struct cache *cache, const char *what,
                          cugen_error *err) {
  if (!lib->warning.length) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_IO, "%s: the cache cannot be written, so nothing was %s: %s",
                   lib->cache_name, what, cache_why_unwritable(cache));
}

/* Resolves a config that can no longer be read to the origin of its records: the real path that the
   file had, if its folder still exists. *gone: the cache has records of this origin. */
static int take_gone(cugen *lib, struct cache *cache, const cugen_cache_filter *from,
                     struct meant *out, bool *gone, cugen_error *err) {
  cugen_cache_filter rest = *from;
  struct text folder = {0};
  rest.config = NULL;
  *gone = false;
  meant_free(out);
  int status = cache_take_filter(lib, cache, &rest, out, err);
  if (status) return status;
  path_folder(from->config, &folder);
  char *real = folder.failed ? NULL : realpath(text_get(&folder), NULL);
  const char *slash = strrchr(from->config, '/');
  if (real)
    text_addf(&out->origin, "%s/%s", strcmp(real, "/") ? real : "",
              slash ? slash + 1 : from->config);
  if (folder.failed || out->origin.failed) status = error_memory(err);
  free(real);
  text_free(&folder);
  if (!status && out->origin.length)
    status = cache_has_origin(cache, text_get(&out->origin), gone, err);
  return status;
}

/* Resolves the filter of a removal. The path of a config means the records measured from this file
   and, unless the file can no longer be read, records of unknown files. */
static int take_removal(cugen *lib, struct cache *cache, const cugen_cache_filter *from,
                        struct meant *out, cugen_error *err) {
  cugen_error why = {0};
  bool gone = false;
  int status = cache_take_filter(lib, cache, from, out, &why);
  bool unread = status == CUGEN_ERROR_MISSING || status == CUGEN_ERROR_CONFIG;
  if (unread && from && from->config) {
    int other = take_gone(lib, cache, from, out, &gone, err);
    if (other) return other;
  }
  if (status && !gone) return error_copy(err, &why);
  out->filter.unknown = !gone;
  if (out->origin.length) out->filter.origin = text_get(&out->origin);
  return CUGEN_OK;
}

/* ---- Removing and checking ------------------------------------------------------------------ */

int api_cache_remove(cugen *lib, const cugen_cache_filter *filter, int really,
                     cugen_cache_counts *out, cugen_error *error) {
  struct cache *cache;
  struct meant meant = {0};
  *out = (cugen_cache_counts){0};
  int status = api_cache_to_read(lib, &cache, error);
  if (!status) status = take_removal(lib, cache, filter, &meant, error);
  if (!status) status = check_writable(lib, cache, "removed", error);
  if (!status) status = cache_remove(cache, &meant.filter, really != 0, out, error);
  if (!status)
    status = cache_portfolios_remove(cache, &meant.filter, really != 0, &out->portfolios, error);
  const size_t gone = out->records + out->history;
  if (status && really && gone)
    error_append(error, "; %zu record%s removed already: run it again for the rest", gone,
                 gone == 1 ? " is" : "s are");
  meant_free(&meant);
  return status;
}

int api_cache_verify(cugen *lib, cugen_cache_counts *out, const char **wrong, cugen_error *error) {
  struct cache *cache;
  if (wrong) *wrong = NULL;
  *out = (cugen_cache_counts){0};
  if (api_cache_is_missing(lib))
    return error_set(error, CUGEN_ERROR_MISSING, "%s: there is no database there", lib->cache_name);
  struct checked *checked = kept_renew(&lib->checked, sizeof *checked, clear_checked, error);
  int status = checked ? api_cache_to_read(lib, &cache, error) : CUGEN_ERROR_MEMORY;
  if (status) return status;
  status = cache_verify(cache, out, &checked->wrong, &checked->foreign, error);
  const char *lines = text_get(&checked->wrong);
  if (!status && !*lines && checked->foreign.length && wrong) *wrong = text_get(&checked->foreign);
  if (status || !*lines) return status;
  if (wrong) *wrong = lines;
  return error_set(
      error, CUGEN_ERROR_CACHE,
      "%s: the cache is not as it should be:\n%.3000sWhat is wrong with a record costs that record "
      "alone: it is not used, 'cugen cache export' leaves it out, and 'cugen cache rm' removes it "
      "with its kernel. Else move the cache away, or name another with cugen_options.cache",
      lib->cache_name, lines);
}

/* ---- Wisdom --------------------------------------------------------------------------------- */

struct exporting {
  cugen_export_callback progress;
  void *context;
  struct file_writing *file; /* NULL: no file is written */
};

static int take_piece(void *context, const cugen_export_progress *piece, cugen_error *err) {
  const struct exporting *exporting = context;
  int status =
      exporting->file ? file_add(exporting->file, piece->text, piece->length, err) : CUGEN_OK;
  if (status || !exporting->progress || !exporting->progress(piece, exporting->context))
    return status;
  return error_set(err, CUGEN_ERROR_INTERRUPTED,
                   "stopped on request; what was written is not whole");
}

static int export_to_file(struct cache *cache, const struct cache_filter *filter, const char *path,
                          struct exporting *exporting, size_t *records, cugen_error *err) {
  struct file_writing file;
  const struct wisdom_sink sink = {take_piece, exporting};
  int status = file_begin(&file, path, err);
  if (status) return status;
  exporting->file = &file;
  status = wisdom_write(cache, filter, &sink, records, err);
  if (status == CUGEN_ERROR_INTERRUPTED && file.beside.length)
    error_set(err, status, "stopped on request; nothing was exported");
  return file_end(&file, status, err);
}

int api_cache_export(cugen *lib, const cugen_cache_filter *filter, const char *path,
                     cugen_export_callback progress, void *context, size_t *records,
                     cugen_error *error) {
  struct cache *cache;
  struct meant meant = {0};
  struct exporting exporting = {progress, context, NULL};
  const struct wisdom_sink sink = {take_piece, &exporting};
  *records = 0;
  int status = api_cache_to_read(lib, &cache, error);
  if (!status) status = cache_take_filter(lib, cache, filter, &meant, error);
  if (!status && path)
    status = export_to_file(cache, &meant.filter, path, &exporting, records, error);
  else if (!status)
    status = wisdom_write(cache, &meant.filter, &sink, records, error);
  meant_free(&meant);
  return status;
}

int api_cache_import(cugen *lib, const char *path, cugen_import_callback progress, void *context,
                     cugen_cache_merged *out, cugen_error *error) {
  struct cache *cache;
  const struct cache_watch watch = {progress, context};
  *out = (cugen_cache_merged){0};
  int status = api_cache(lib, &cache, error);
  if (!status) status = check_writable(lib, cache, "imported", error);
  if (!status) status = wisdom_import_file(cache, path, &watch, out, error);
  out->records = out->added + out->better + out->worse + out->known;
  return status;
}

int api_cache_suggest(cugen *lib, const char *path, const char *map, api_suggested *out,
                      cugen_error *error) {
  struct cache *cache;
  *out = (api_suggested){0};
  int status = api_cache(lib, &cache, error);
  if (!status) status = check_writable(lib, cache, "imported", error);
  if (!status) status = api_foreign_import(lib, cache, path, map, out, error);
  const cugen_cache_merged *m = &out->merged;
  out->merged.records = m->added + m->better + m->worse + m->known;
  return status;
}

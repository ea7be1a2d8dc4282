/* cugen layout: draws the arrays of a variant, and counts sectors and bank passes of a warp's
   accesses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/layout.h"
#include "findings.h"
#include "print.h"
#include "table.h"

enum { OFFSETS_MOST = 65536, ACCESSES_MOST = 2 };

struct layout_request {
  struct cli *cli;
  struct api_layouts *layouts;
  const char *access; /* NULL: row and col */
  int bytes;
  bool titled; /* the first line was printed */
};

static bool is_global(const api_array *array) {
  return !array->shared;
}

/* ---- The picture ---------------------------------------------------------------------------- */

/* Draws the last two dimensions, from their first elements on: the offset of each element in global
   memory, its bank in shared memory. */
static void layout_draw(const struct layout_request *r, size_t which) {
  const api_array *array = api_layouts_array(r->layouts, which);
  const bool global = is_global(array), wide = options_given(r->cli, OPTION_WIDE);
  const int last = array->rank - 1, rows = last ? last - 1 : -1;
  const int64_t most_rows = wide ? 64 : global ? 4 : 8, most_columns = wide ? 64 : global ? 8 : 16;
  const int64_t height = rows >= 0 ? array->shape[rows] : 1, width = array->shape[last];
  printf(global ? "  offset of each element, in elements:\n" : "  bank of each element:\n");
  for (int64_t i = 0; i < height && i < most_rows; i++) {
    int64_t at[CUGEN_MAX_RANK] = {0};
    printf(" ");
    for (int64_t j = 0; j < width && j < most_columns; j++) {
      if (rows >= 0) at[rows] = i;
      at[last] = j;
      const int64_t offset = api_layouts_offset(r->layouts, which, at);
      if (global)
        printf(" %7" PRId64, offset);
      else
        printf(" %2" PRId64, offset * array->element_bytes / 4 % 32);
    }
    printf(width > most_columns ? " ...\n" : "\n");
  }
  if (height > most_rows) printf("  ...\n");
}

/* ---- Accesses ------------------------------------------------------------------------------- */

/* The accesses to count: the user's, or row and col as far as the array has them. possible[i] is
   false if the array does not allow the access, and the user named no array. */
struct layout_accesses {
  const char *text[ACCESSES_MOST];
  api_access counts[ACCESSES_MOST];
  bool possible[ACCESSES_MOST];
  size_t count;
};

static int layout_count(const struct layout_request *r, size_t which, struct layout_accesses *out) {
  const api_array *array = api_layouts_array(r->layouts, which);
  *out = (struct layout_accesses){.count = r->access || array->rank < 2 ? 1 : 2};
  for (size_t i = 0; i < out->count; i++) {
    out->text[i] = r->access ? r->access : i ? "col" : "row";
    int status = api_layouts_access(r->layouts, which, out->text[i], r->bytes, &out->counts[i],
                                    &r->cli->error);
    if (status && (status != CUGEN_ERROR_USAGE || r->cli->values[OPTION_ARRAY])) return status;
    out->possible[i] = !status;
  }
  return CUGEN_OK;
}

static int layout_print_accesses(const struct layout_request *r, const api_array *array,
                                 const struct layout_accesses *accesses) {
  const struct table_column columns[] = {{"access", TABLE_WRAP, 0},
                                         {"lanes", TABLE_RIGHT, 0},
                                         {"bytes", TABLE_RIGHT, 0},
                                         {is_global(array) ? "sectors" : "passes", TABLE_RIGHT, 0},
                                         {"least", TABLE_RIGHT, 0}};
  struct table table;
  table_open(&table, r->cli, columns, 5);
  for (size_t i = 0; i < accesses->count; i++) {
    const api_access *counts = &accesses->counts[i];
    const int numbers[] = {counts->lanes, counts->bytes, counts->sectors + counts->passes,
                           counts->least};
    table_cell(&table, accesses->text[i]);
    for (size_t n = 0; n < 4; n++)
      table_cell(&table, accesses->possible[i] ? print_count((uint64_t)numbers[n]).text : "-");
  }
  int status = table_close(&table, 2, stdout, &r->cli->error);
  for (size_t i = 0; i < accesses->count && !status; i++)
    if (accesses->possible[i] && *accesses->counts[i].padded)
      printf("  least padding for %s: layout %s, passes %d\n", accesses->text[i],
             accesses->counts[i].padded, accesses->counts[i].padded_passes);
  return status;
}

static void append_shape(const api_array *array, char *out, size_t size) {
  size_t length = 0;
  *out = '\0';
  for (int i = 0; i < array->rank && length < size; i++)
    length += (size_t)snprintf(out + length, size - length, "%s%" PRId64, i ? " x " : "",
                               array->shape[i]);
}

static int layout_print_array(struct layout_request *r, size_t which) {
  const api_array *array = api_layouts_array(r->layouts, which);
  char shape[128], stages[32] = "";
  struct layout_accesses accesses;
  int status = layout_count(r, which, &accesses);
  if (status) return status;
  if (!r->titled)
    printf("%s %s: %s\n", cugen_kernel_name(r->cli->kernel),
           api_kernel_problem_short(r->cli->kernel), api_layouts_variant(r->layouts));
  r->titled = true;
  append_shape(array, shape, sizeof shape);
  if (array->stages > 1) snprintf(stages, sizeof stages, "%" PRId64 " x ", array->stages);
  printf("\n%s: %s%s of %s, %s; %s of %s memory", array->name, stages, shape, array->dtype,
         array->layout, print_bytes(array->bytes).text, array->memory);
  if (array->file) printf(" (%s:%d)", array->file, array->line);
  printf("\n");
  layout_draw(r, which);
  return layout_print_accesses(r, array, &accesses);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *layout_json_accesses(const api_array *array,
                                    const struct layout_accesses *accesses) {
  json_t *list = json_array();
  for (size_t i = 0; i < accesses->count; i++) {
    const api_access *counts = &accesses->counts[i];
    if (!accesses->possible[i]) continue;
    json_t *object = JSON_NEW(
        {"access", json_string(accesses->text[i])}, MEMBER(integer, counts, bytes),
        MEMBER(integer, counts, lanes),
        {is_global(array) ? "sectors" : "passes", json_integer(counts->sectors + counts->passes)},
        MEMBER(integer, counts, least));
    if (!is_global(array)) {
      const bool helps = *counts->padded;
      JSON_ADD(object, {"padded", helps ? json_string(counts->padded) : json_null()},
               {"padded_passes", helps ? json_integer(counts->padded_passes) : json_null()});
    }
    json_array_append_new(list, object);
  }
  return list;
}

/* Returns the offsets of all elements, the last index fastest; JSON null for a large array. */
static json_t *layout_json_offsets(const struct layout_request *r, size_t which) {
  const api_array *array = api_layouts_array(r->layouts, which);
  int64_t elements = 1, at[CUGEN_MAX_RANK] = {0};
  for (int i = 0; i < array->rank; i++)
    if (__builtin_mul_overflow(elements, array->shape[i], &elements)) return json_null();
  if (elements > OFFSETS_MOST) return json_null();
  json_t *list = json_array();
  for (int64_t n = 0; n < elements; n++) {
    int64_t left = n;
    for (int i = array->rank - 1; i >= 0; i--) {
      at[i] = left % array->shape[i];
      left /= array->shape[i];
    }
    json_array_append_new(list, json_integer(api_layouts_offset(r->layouts, which, at)));
  }
  return list;
}

static int layout_add_json(const struct layout_request *r, size_t which, json_t *list) {
  const api_array *array = api_layouts_array(r->layouts, which);
  struct layout_accesses accesses;
  int status = layout_count(r, which, &accesses);
  if (status) return status;
  json_t *object =
      JSON_NEW(MEMBER(string, array, name), MEMBER(string, array, memory),
               MEMBER(string, array, dtype), {"shape", json_extents(array->shape, array->rank)},
               MEMBER(string, array, layout), MEMBER(integer, array, stages),
               MEMBER(integer, array, bytes), MEMBER(optional_string, array, file),
               MEMBER(integer, array, line), {"offsets", layout_json_offsets(r, which)},
               {"accesses", layout_json_accesses(array, &accesses)});
  json_array_append_new(list, object);
  return CUGEN_OK;
}

/* ---- Pictures for a report ------------------------------------------------------------------ */

enum { CORNER_LINES = 32, CORNER_MOST = 128 };

static json_t *layout_corner(const struct api_layouts *layouts, size_t which) {
  const api_array *array = api_layouts_array(layouts, which);
  const int last = array->rank - 1, rows = last - 1;
  const int64_t unit = is_global(array) ? 32 : 4, across = CORNER_MOST / array->element_bytes;
  json_t *lines = json_array();
  for (int64_t i = 0; i < (rows < 0 ? 1 : array->shape[rows]) && i < CORNER_LINES; i++) {
    int64_t at[CUGEN_MAX_RANK] = {0};
    json_t *line = json_array();
    if (rows >= 0) at[rows] = i;
    for (at[last] = 0; at[last] < array->shape[last] && at[last] < across; at[last]++) {
      const int64_t offset = api_layouts_offset(layouts, which, at) * array->element_bytes;
      json_array_append_new(line,
                            json_integer(is_global(array) ? offset / unit : offset / unit % 32));
    }
    json_array_append_new(lines, line);
  }
  return lines;
}

int layout_pictures(struct cli *cli, const char *variant, json_t **out) {
  struct layout_request request = {.cli = cli};
  *out = json_array();
  int status = api_layouts_open(cli->kernel, variant, &request.layouts, &cli->error);
  const size_t count = status ? 0 : api_layouts_count(request.layouts);
  for (size_t i = 0; i < count; i++) {
    const api_array *array = api_layouts_array(request.layouts, i);
    if (is_global(array) && strcmp(array->layout, "row") == 0) continue;
    status = layout_add_json(&request, i, *out);
    if (status) break;
    json_t *picture = json_array_get(*out, json_array_size(*out) - 1);
    json_object_del(picture, "offsets");
    json_object_set_new(picture, "corner", layout_corner(request.layouts, i));
  }
  api_layouts_close(request.layouts);
  return status;
}

/* ---- The command ---------------------------------------------------------------------------- */

static int layout_each(struct layout_request *r, const char *only, json_t *list) {
  const size_t count = api_layouts_count(r->layouts);
  bool found = false;
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++) {
    if (only && strcmp(api_layouts_array(r->layouts, i)->name, only) != 0) continue;
    found = true;
    status = list ? layout_add_json(r, i, list) : layout_print_array(r, i);
  }
  if (status || found || !only) return status;
  cli_fail(r->cli, CUGEN_ERROR_USAGE, "this variant has no array '%s'; it has", only);
  for (size_t i = 0; i < count; i++)
    cli_append(r->cli, "%s %s", i ? "," : "", api_layouts_array(r->layouts, i)->name);
  return CUGEN_ERROR_USAGE;
}

static int layout_print(struct layout_request *r, const char *only) {
  struct cli *cli = r->cli;
  if (!options_given(cli, OPTION_JSON)) return layout_each(r, only, NULL);
  json_t *list = json_array();
  const int status = layout_each(r, only, list);
  if (status) return json_decref(list), status;
  return cli_print_json(cli, JSON_NEW({"kernel", json_string(cugen_kernel_name(cli->kernel))},
                                      {"problem", json_string(cugen_kernel_problem(cli->kernel))},
                                      {"variant", json_string(api_layouts_variant(r->layouts))},
                                      {"arrays", list}));
}

int command_layout(struct cli *cli) {
  struct layout_request request = {.cli = cli, .access = cli->values[OPTION_ACCESS]};
  size_t bytes = 0;
  int status = cli_open_kernel(cli);
  if (!status) status = options_count(cli, OPTION_BYTES, 1, &bytes);
  if (!status && bytes > 16)
    status = cli_fail(cli, CUGEN_ERROR_USAGE, "--bytes %s: an access has 16 bytes at most",
                      cli->values[OPTION_BYTES]);
  request.bytes = (int)bytes;
  if (!status)
    status =
        api_layouts_open(cli->kernel, cli->values[OPTION_VARIANT], &request.layouts, &cli->error);
  if (!status) status = layout_print(&request, cli->values[OPTION_ARRAY]);
  api_layouts_close(request.layouts);
  return status;
}

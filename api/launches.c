/* The launches of a variant for a reader: equal launches in a row are listed once. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/library.h"
#include "source.h"

struct launches {
  struct kernel_spec spec; /* owns the strings of the list, except `passes` */
  cugen_launch_info *list;
  size_t count;
};

static void clear_launches(void *data) {
  struct launches *launches = data;
  for (size_t i = 0; i < launches->count; i++) free((char *)(uintptr_t)launches->list[i].passes);
  free(launches->list);
  kernel_spec_free(&launches->spec);
}

/* Prints the passed parameters: "source, ping, n=100". */
static char *print_passed(const struct kernel_spec *spec, const struct kernel_launch *launch) {
  struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
  const size_t count = kernel_launch_parameters(spec, launch, passed);
  struct text text = {0};
  text_add(&text, "");
  for (size_t i = 0; i < count; i++) {
    text_addf(&text, "%s%s", i ? ", " : "", spec->arguments[passed[i].argument].name);
    if (passed[i].value.type == VALUE_NIL) continue;
    text_add_char(&text, '=');
    value_print(passed[i].value, &text);
  }
  return text_take(&text);
}

static bool alike(const cugen_launch_info *a, const cugen_launch_info *b) {
  return a->line == b->line && strcmp(a->entry, b->entry) == 0 &&
         memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
         memcmp(a->block, b->block, sizeof a->block) == 0 && a->shared_bytes == b->shared_bytes &&
         a->carveout == b->carveout && a->overlap == b->overlap &&
         a->cooperative == b->cooperative && strcmp(a->passes, b->passes) == 0;
}

/* Adds a launch to the list, or raises the count of an equal last launch. */
static int launches_add(struct launches *launches, const struct kernel_launch *launch, size_t times,
                        cugen_error *err) {
  char *passes = print_passed(&launches->spec, launch);
  if (!passes) return error_memory(err);
  cugen_launch_info info = {.entry = launch->entry,
                            .place = launch->place ? launch->place : "",
                            .line = launch->line,
                            .shared_bytes = launch->shared_bytes,
                            .carveout = launch->has_carveout ? launch->carveout : -1,
                            .overlap = launch->overlap,
                            .cooperative = launch->cooperative,
                            .listed = launch->listed,
                            .passes = passes,
                            .times = times};
  for (int i = 0; i < 3; i++) info.grid[i] = launch->grid[i], info.block[i] = launch->block[i];
  const char *source = launches->spec.source;
  if (source && library_call_is(source, strlen(source)))
    info.grid[0] = info.block[0] = 0; /* the library chooses grid and block */
  if (launches->count && alike(&launches->list[launches->count - 1], &info)) {
    launches->list[launches->count - 1].times += times;
    free(passes);
    return CUGEN_OK;
  }
  launches->list[launches->count++] = info;
  return CUGEN_OK;
}

/* Fills the list. For a long sequence lists each different launch once, with the number of times
   that it is made. */
static int launches_fill(struct launches *launches, cugen_error *err) {
  const struct kernel_spec *spec = &launches->spec;
  const bool each = kernel_spec_is_long(spec);
  const size_t count = each ? spec->launch_count : kernel_spec_calls(spec);
  size_t *times = calloc(spec->launch_count + 1, sizeof *times);
  launches->list = calloc(count + 1, sizeof *launches->list);
  int status = launches->list && times ? CUGEN_OK : error_memory(err);
  if (!status) kernel_spec_times(spec, times);
  for (size_t i = 0; i < count && !status; i++) {
    const size_t at = each ? i : kernel_spec_call(spec, i);
    status = launches_add(launches, &spec->launches[at], each ? times[at] : 1, err);
  }
  free(times);
  return status;
}

int api_kernel_launches(cugen_kernel *k, const char *variant, const cugen_launch_info **out,
                        size_t *count, const char **name, cugen_error *error) {
  if (name) *name = NULL;
  *out = NULL, *count = 0;
  struct launches *launches = kept_renew(&k->launches, sizeof *launches, clear_launches, error);
  if (!launches) return CUGEN_ERROR_MEMORY;
  int status = api_expand_text(k, variant, &launches->spec, error);
  if (!status) status = launches_fill(launches, error);
  if (status) return status;
  *out = launches->list, *count = launches->count;
  if (name) *name = text_get(&k->variant_text);
  return CUGEN_OK;
}

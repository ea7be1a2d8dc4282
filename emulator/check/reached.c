/* Finding the lines that have run; see findings.h. */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emulator/sites.h"

void reached_image_free(struct reached_image *image) {
  free(image->sites);
  free(image->places);
  *image = (struct reached_image){.sites = NULL};
}

/* Finds the lines of the image's accesses. If lines_find fails, as without addr2line, the image is
   taken to have no accesses. */
static int reached_find_places(struct reached_image *image, const struct compiled *compiled,
                               cugen_error *err) {
  struct line_site *sites = calloc(image->count + 1, sizeof *sites);
  cugen_error ignored;
  image->places = calloc(image->count + 1, sizeof *image->places);
  const bool made = sites && image->places;
  for (size_t i = 0; i < image->count && made; i++) sites[i].site = image->sites[i];
  if (made && lines_find(compiled->image, compiled->image_length, sites, image->count,
                         image->places, &ignored))
    image->count = 0;
  free(sites);
  return made ? CUGEN_OK : error_memory(err);
}

int reached_look(struct reached_image *image, const struct compiled *compiled, cugen_error *err) {
  if (image->sites && strcmp(image->hash.hex, compiled->image_hash.hex) == 0) return CUGEN_OK;
  reached_image_free(image);
  int status =
      sites_find(compiled->image, compiled->image_length, &image->sites, &image->count, err);
  if (!status) status = reached_find_places(image, compiled, err);
  image->hash = compiled->image_hash;
  return status;
}

static cugen_check_line *reached_line_of(cugen_check *check, const struct source_place *place) {
  for (size_t i = check->lines; i-- > 0;)
    if (check->unreached[i].line == place->line &&
        strcmp(check->unreached[i].file, place->file) == 0)
      return &check->unreached[i];
  if (!ARRAY_ROOM(check->unreached, check->lines)) return NULL;
  cugen_check_line *line = &check->unreached[check->lines];
  *line = (cugen_check_line){.file = strdup(place->file), .line = place->line};
  return line->file ? check->lines++, line : NULL;
}

int reached_add(cugen_check *check, const struct reached_image *image,
                const struct watch_report *report, cugen_error *err) {
  for (size_t i = 0; i < image->count; i++) {
    const uint64_t site = image->sites[i];
    if (!image->places[i].line || site >= WATCH_REACHED) continue;
    cugen_check_line *line = reached_line_of(check, &image->places[i]);
    if (!line) return error_memory(err);
    line->ran |= report->reached[site / 8] >> site % 8 & 1;
  }
  return CUGEN_OK;
}

static int reached_by_place(const void *a, const void *b) {
  const cugen_check_line *x = a, *y = b;
  const int files = strcmp(x->file, y->file);
  if (x->ran != y->ran) return x->ran - y->ran;
  return files ? files : x->line - y->line;
}

void reached_sort(cugen_check *check) {
  if (check->lines)
    qsort(check->unreached, check->lines, sizeof *check->unreached, reached_by_place);
  for (size_t i = 0; i < check->lines; i++) check->lines_reached += check->unreached[i].ran;
}

/* Suggests existing files for the name of a missing file; see near.h. */
#include "near.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/text.h"

static bool has_ending(const char *name, const char *ending) {
  const char *own = strrchr(name, '.');
  return own && strcmp(own, ending) == 0;
}

/* Returns the nearest of the entries that have the same file ending as the name. */
static const char *nearest_entry(const char *name, struct dirent *const *entries, int count) {
  const char *ending = strrchr(name, '.'), *nearest = NULL;
  const char **names = calloc((size_t)(count > 0 ? count : 1), sizeof *names);
  size_t alike = 0;
  for (int i = 0; i < count && names && ending; i++)
    if (has_ending(entries[i]->d_name, ending)) names[alike++] = entries[i]->d_name;
  if (names) nearest = text_nearest(name, names, alike);
  free(names);
  return nearest;
}

char *near_file(const char *folder, const char *name) {
  const size_t within = (size_t)(path_base(name) - name);
  struct text place = {0}, near = {0};
  struct dirent **entries = NULL;
  if (name[0] != '/') text_addf(&place, "%s/", folder);
  text_add_n(&place, name, within);
  const int count = place.failed ? -1 : scandir(text_get(&place), &entries, NULL, alphasort);
  const char *nearest = nearest_entry(name + within, entries, count);
  if (nearest) text_addf(&near, "%.*s%s", (int)within, name, nearest);
  for (int i = 0; i < count; i++) free(entries[i]);
  free(entries);
  text_free(&place);
  if (nearest && !near.failed) return text_take(&near);
  text_free(&near);
  return NULL;
}

char *near_beside(const char *from, const char *name) {
  struct text folder = {0};
  path_folder(from, &folder);
  char *nearest = folder.failed ? NULL : near_file(text_get(&folder), name);
  text_free(&folder);
  return nearest;
}

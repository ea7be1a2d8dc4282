/* Lists the places that a compiler or addr2line may open; see tools.h. */
#include "tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/system.h"

/* Sets *prefix to the parent of the program's folder; leaves it empty if the program is not found
   or the parent is "/". */
static void find_prefix(const char *program, struct text *prefix) {
  struct text file = {0}, programs = {0};
  char *real = path_find_program(program, &file) ? realpath(text_get(&file), NULL) : NULL;
  if (real) path_folder(real, &programs);
  path_folder(text_get(&programs), prefix);
  if (!programs.length || !strcmp(text_get(prefix), "/") || !strcmp(text_get(prefix), "."))
    text_clear(prefix);
  free(real);
  text_free(&file);
  text_free(&programs);
}

void tool_places_find(const char *program, const char *folder, int access,
                      struct tool_places *out) {
  out->prefix = (struct text){0};
  find_prefix(program, &out->prefix);
  const struct jail_place list[TOOL_PLACES] = {
      {"/usr", JAIL_EXECUTE},
      {"/bin", JAIL_EXECUTE},
      {"/lib", JAIL_EXECUTE},
      {"/lib32", JAIL_READ},
      {"/lib64", JAIL_EXECUTE},
      {"/opt", JAIL_EXECUTE},
      {"/nix/store", JAIL_EXECUTE},
      {"/etc/ld.so.cache", JAIL_READ},
      {"/dev/null", JAIL_WRITE},
      {"/dev/urandom", JAIL_READ},
      {"/proc/cpuinfo", JAIL_READ},
      {"/sys/devices/system/cpu", JAIL_READ},
      /* read by glibc for the large pages that compile.c asks for (GLIBC_TUNABLES) */
      {"/sys/kernel/mm/transparent_hugepage", JAIL_READ},
      {text_get(&out->prefix), JAIL_EXECUTE},
      {folder, access},
  };
  memcpy(out->list, list, sizeof list);
}

void tool_places_free(struct tool_places *places) {
  text_free(&places->prefix);
}

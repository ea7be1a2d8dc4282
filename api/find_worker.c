/* Finds the worker program. The program is searched beside libcugen, as installed or built. The
   running program itself is not taken for the worker, because an application would run a second
   time as itself. */
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "library.h"

static const char program[] = "cugen-worker";

/* A program that links the static library need not be beside the worker. But the cugen.h with which
   the program was compiled leaves its path in the program; see the end of cugen.h. */
#if defined(__GNUC__)
extern const char cugen_header_file[] __attribute__((weak, visibility("hidden")));
#endif

/* Looks for the worker in `below` under the folder. */
static void find_worker_look_at(const char *folder, const char *below, struct text *found,
                                struct text *places) {
  struct text path = {0};
  if (found->length) return;
  text_addf(&path, "%s/%s%s%s", folder, below, *below ? "/" : "", program);
  text_addf(places, "%s%s", places->length ? ", " : "", text_get(&path));
  path_find_program(text_get(&path), found);
  found->failed |= path.failed;
  text_free(&path);
}

/* Looks beside libcugen.so, or beside the program that contains cugen. */
static int look_beside_code(struct text *found, struct text *places, cugen_error *err) {
  struct text file = {0}, folder = {0};
  int status = path_of_code(program, &file, err);
  path_folder(text_get(&file), &folder);
  if (!status && folder.failed) status = error_memory(err);
  if (!status) {
    /* libcugen in the build folder */
    find_worker_look_at(text_get(&folder), "", found, places);
    /* libcugen in PREFIX/lib */
    find_worker_look_at(text_get(&folder), CUGEN_LIB_TO_WORKER, found, places);
    if (strcmp(CUGEN_LIB_TO_WORKER, CUGEN_BIN_TO_WORKER) != 0) /* program in PREFIX/bin */
      find_worker_look_at(text_get(&folder), CUGEN_BIN_TO_WORKER, found, places);
    /* program in a subfolder of the build folder, such as the examples' */
    find_worker_look_at(text_get(&folder), "..", found, places);
  }
  text_free(&file);
  text_free(&folder);
  return status;
}

static void look_beside_header(struct text *found, struct text *places) {
#if defined(__GNUC__)
  struct text folder = {0};
  if (!cugen_header_file || cugen_header_file[0] != '/') return;
  path_folder(cugen_header_file, &folder);
  find_worker_look_at(text_get(&folder), CUGEN_INCLUDE_TO_WORKER, found, places);
  found->failed |= folder.failed;
  text_free(&folder);
#endif
}

int api_find_worker(char **out, struct text *places, cugen_error *err) {
  struct text found = {0};
  int status = look_beside_code(&found, places, err);
  if (!status) look_beside_header(&found, places);
  if (!status && (found.failed || places->failed)) status = error_memory(err);
  *out = status || !found.length ? NULL : text_take(&found);
  if (!status && found.length && !*out) status = error_memory(err);
  text_free(&found);
  return status;
}

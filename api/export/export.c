/* Exports a kernel's variants as plain C into a folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"
#include "export.h"

/* ---- Files ---------------------------------------------------------------------------------- */

enum { FILES = 5 };

struct file {
  struct text name, content;
};

/* Prints the files. The header is first, because it identifies an earlier bundle. */
static int make_files(const struct exporter *x, struct file files[FILES], cugen_error *err) {
  const char *name = text_get(&x->base->export_name);
  text_addf(&files[0].name, "%s.h", name);
  text_addf(&files[1].name, "%s.c", name);
  text_add(&files[2].name, "README.md");
  text_add(&files[3].name, "CMakeLists.txt");
  text_add(&files[4].name, "example.c");
  int status = export_header(x, &files[0].content, err);
  if (!status) status = export_source(x, &files[1].content, err);
  export_readme(x, &files[2].content);
  export_cmake(x, &files[3].content);
  export_example(x, &files[4].content);
  for (size_t i = 0; i < FILES && !status; i++)
    if (files[i].name.failed || files[i].content.failed) status = error_memory(err);
  return status;
}

static int export_write_files(const char *folder, const struct file files[FILES],
                              cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < FILES && !status; i++) {
    struct text path = {0};
    text_addf(&path, "%s/%s", folder, text_get(&files[i].name));
    status = path.failed ? error_memory(err)
                         : file_write(text_get(&path), text_get(&files[i].content),
                                      files[i].content.length, err);
    text_free(&path);
  }
  return status;
}

/* ---- The folder ----------------------------------------------------------------------------- */

/* Returns whether the name is that of a file of the bundle, or of a file that the commands in the
   bundle's README make: NAME.o, NAME.so, example.o and example. */
static bool export_is_ours(const struct file files[FILES], const char *name) {
  for (size_t i = 0; i < FILES; i++) {
    const char *file = text_get(&files[i].name), *end = strstr(file, ".c");
    size_t stem = end ? (size_t)(end - file) : 0;
    if (strcmp(file, name) == 0) return true;
    if (end && strncmp(file, name, stem) == 0 &&
        (strcmp(name + stem, ".o") == 0 || strcmp(name + stem, ".so") == 0))
      return true;
  }
  return strcmp(name, "example") == 0;
}

/* Returns whether the header in the folder begins like this bundle's, up to the version. */
static bool is_bundle(const char *folder, const struct file files[FILES]) {
  struct text path = {0}, header = {0};
  const char *mark = "made by 'cugen export'", *title = text_get(&files[0].content),
             *end = strstr(title, mark);
  text_addf(&path, "%s/%s", folder, text_get(&files[0].name));
  bool same = !path.failed && end && file_read(text_get(&path), &header, NULL) == CUGEN_OK &&
              strncmp(text_get(&header), title, (size_t)(end - title) + strlen(mark)) == 0;
  text_free(&path);
  text_free(&header);
  return same;
}

struct place {
  bool there, empty;
  struct text foreign; /* an entry of the folder that is no file of the bundle */
};

static int export_look(const char *folder, const struct file files[FILES], struct place *out,
                       cugen_error *err) {
  struct stat info;
  *out = (struct place){.empty = true};
  if (stat(folder, &info) != 0) {
    if (errno == ENOENT) return CUGEN_OK;
    return error_set(err, CUGEN_ERROR_IO, "%s: %s", folder, strerror(errno));
  }
  if (!S_ISDIR(info.st_mode))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "%s is a file; a bundle is a folder: name another with -o", folder);
  DIR *dir = opendir(folder);
  if (!dir) return error_set(err, CUGEN_ERROR_IO, "%s: %s", folder, strerror(errno));
  out->there = true;
  for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    out->empty = false;
    if (!out->foreign.length && !export_is_ours(files, entry->d_name))
      text_add(&out->foreign, entry->d_name);
  }
  closedir(dir);
  return out->foreign.failed ? error_memory(err) : CUGEN_OK;
}

/* Makes an empty folder of a new name beside `folder`. */
static int make_beside(const char *folder, struct text *out, cugen_error *err) {
  struct text prefix = {0};
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  text_add_n(&prefix, folder, length);
  text_add_char(&prefix, '.');
  int why = prefix.failed ? ENOMEM : folder_fresh(text_get(&prefix), out);
  if (!why && chmod(text_get(out), 0755) != 0) why = errno;
  text_free(&prefix);
  if (!why) return CUGEN_OK;
  text_clear(out);
  if (why == ENOMEM) return error_memory(err);
  if (why != ENOENT)
    return error_set(err, CUGEN_ERROR_IO, "%s cannot be made: %s", folder, strerror(why));
  return error_set(err, CUGEN_ERROR_IO,
                   "%s cannot be made: the folder that it is to be in is not there", folder);
}

/* Replaces the folder where the file system cannot exchange two names: for a moment there is no
   folder of that name. */
static int exchange_slowly(const char *fresh, const char *folder, cugen_error *err) {
  struct text old = {0};
  text_addf(&old, "%s.old", fresh);
  int status = old.failed ? error_memory(err) : CUGEN_OK;
  if (!status && rename(folder, text_get(&old)) != 0)
    status = error_set(err, CUGEN_ERROR_IO, "%s cannot be replaced: %s", folder, strerror(errno));
  if (!status && rename(fresh, folder) != 0) {
    status = error_set(err, CUGEN_ERROR_IO, "%s cannot be made: %s", folder, strerror(errno));
    if (rename(text_get(&old), folder) != 0)
      error_append(err, "; the earlier bundle is in %s", text_get(&old));
  }
  if (!status) folder_remove(text_get(&old));
  text_free(&old);
  return status;
}

/* Gives the new folder the name of the old one: a reader sees the earlier bundle or the new one,
   unless the file system needs exchange_slowly. */
static int swap(const char *fresh, const char *folder, bool earlier, cugen_error *err) {
  if (earlier && renameat2(AT_FDCWD, fresh, AT_FDCWD, folder, RENAME_EXCHANGE) == 0) {
    folder_remove(fresh); /* the earlier bundle */
    return CUGEN_OK;
  }
  if (earlier && (errno == EINVAL || errno == ENOSYS)) return exchange_slowly(fresh, folder, err);
  /* an empty or missing folder is simply replaced */
  if (!earlier && rename(fresh, folder) == 0) return CUGEN_OK;
  if (errno == ENOTEMPTY || errno == EEXIST)
    return error_set(err, CUGEN_ERROR_IO, "%s was created meanwhile: run the export again", folder);
  return error_set(err, CUGEN_ERROR_IO, "%s cannot be made: %s", folder, strerror(errno));
}

/* Writes the files to a new folder and swaps it in. This thread blocks SIGINT, SIGTERM and SIGHUP
   meanwhile, so that no new folder is left behind. */
static int export_publish(const char *folder, const struct file files[FILES], bool earlier,
                          cugen_error *err) {
  struct text fresh = {0};
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT), sigaddset(&ends, SIGTERM), sigaddset(&ends, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  int status = make_beside(folder, &fresh, err);
  const int hold = status ? -1 : folder_hold(text_get(&fresh));
  if (!status) status = export_write_files(text_get(&fresh), files, err);
  if (!status) status = swap(text_get(&fresh), folder, earlier, err);
  if (status && fresh.length) folder_remove(text_get(&fresh));
  if (hold >= 0) close(hold);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  text_free(&fresh);
  return status;
}

static int place_files(const struct exporter *x, const char *folder, const struct file files[FILES],
                       cugen_error *err) {
  struct place place;
  int status = export_look(folder, files, &place, err);
  const bool earlier = !status && !place.empty && !place.foreign.length && is_bundle(folder, files);
  if (!status && (place.empty || earlier))
    status = export_publish(folder, files, earlier, err);
  else if (!status && x->options->force)
    status = export_write_files(folder, files, err);
  else if (!status && place.foreign.length)
    status = error_set(err, CUGEN_ERROR_USAGE,
                       "%s holds other things, such as '%s'; --force writes the bundle's files "
                       "there all the same, and leaves the others",
                       folder, text_get(&place.foreign));
  else if (!status)
    status = error_set(err, CUGEN_ERROR_USAGE,
                       "%s is not an earlier bundle of %s; name another folder, or replace the "
                       "files of a bundle's names with --force",
                       folder, text_get(&x->base->export_name));
  text_free(&place.foreign);
  return status;
}

/* ---- The whole export ----------------------------------------------------------------------- */

static int export_check_options(const cugen_export_options *options, const char *folder,
                                cugen_error *err) {
  if (!(options->distance < 1000))
    return error_set(err, CUGEN_ERROR_USAGE, "--distance is %g, should be below 1000",
                     options->distance);
  if (options->portfolio && options->problems)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "an export of a portfolio alone is for all sizes: leave out --problems");
  if (options->variant && (options->portfolio || options->distance > 0))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "an export of one variant has nothing else: leave out --%s",
                     options->portfolio ? "portfolio" : "distance");
  if (!folder || !*folder)
    return error_set(err, CUGEN_ERROR_USAGE, "an export needs a folder: -o FOLDER");
  return CUGEN_OK;
}

/* Finds the name of the folder without links and dots: the real name if the folder exists, else its
   last part behind the real name of its parent. */
static int export_resolve(const char *folder, struct text *out, cugen_error *err) {
  struct text parent = {0};
  struct stat info;
  const char *last = folder + strlen(folder);
  while (last > folder && last[-1] == '/') last--;
  size_t length = (size_t)(last - folder);
  while (last > folder && last[-1] != '/') last--;
  text_add_n(&parent, folder, (size_t)(last - folder));
  bool there = lstat(folder, &info) == 0;
  char *real = realpath(there ? folder : parent.length ? text_get(&parent) : ".", NULL);
  int why = errno;
  if (real) text_add(out, real);
  if (real && !there) text_addf(out, "/%.*s", (int)(length - (size_t)(last - folder)), last);
  int status = CUGEN_OK;
  if (!real && !there && why == ENOENT)
    status = error_set(err, CUGEN_ERROR_IO,
                       "%s cannot be made: the folder that it is to be in is not there", folder);
  else if (!real)
    status = error_set(err, CUGEN_ERROR_IO, "%s cannot be made: %s", folder, strerror(why));
  free(real);
  text_free(&parent);
  return status || !out->failed ? status : error_memory(err);
}

int api_kernel_export(cugen_kernel *k, const cugen_export_options *options, const char *folder,
                      cugen_export_result *result, cugen_error *error) {
  static const cugen_export_options defaults = {0};
  struct file files[FILES] = {0};
  struct place place = {0};
  struct text real = {0};
  cugen_export_result ignored;
  cugen_error own = {0};
  if (!error) error = &own; /* defaults.c judges a failure by its cause */
  if (!options) options = &defaults;
  if (!result) result = &ignored;
  *result = (cugen_export_result){.name = "", .notes = ""};
  struct exporter x = {.base = k, .options = options, .result = result, .notes = &k->export_notes};
  text_clear(&k->export_name);
  text_clear(&k->export_notes);
  export_name(k->lookup.config, &k->export_name);
  int status = export_check_options(options, folder, error);
  if (!status) status = export_resolve(folder, &real, error);
  /* The folder is looked at before anything is compiled, because compiling takes a while. */
  if (!status) status = export_look(text_get(&real), files, &place, error);
  text_free(&place.foreign);
  if (!status) status = api_cache(k->lookup.lib, &x.cache, error);
  if (!status) status = export_collect(&x, error);
  if (!status) status = make_files(&x, files, error);
  if (!status) status = place_files(&x, text_get(&real), files, error);
  if (!status && (k->export_name.failed || k->export_notes.failed)) status = error_memory(error);
  if (!status) {
    result->devices = x.device_count;
    result->problems = x.tuned_count;
    result->variants = x.code_count;
    result->images = x.image_count;
    result->portfolios = export_portfolio_count(&x, false);
    for (size_t i = 0; i < x.image_count; i++) result->image_bytes += (int64_t)x.images[i].bytes;
    result->source_bytes = (int64_t)(files[0].content.length + files[1].content.length);
  }
  result->name = text_get(&k->export_name);
  result->notes = text_get(&k->export_notes);
  for (size_t i = 0; i < FILES; i++) text_free(&files[i].name), text_free(&files[i].content);
  text_free(&real);
  export_free(&x);
  return status;
}

/* Finding configs and templates; see sources.h. */
#include "sources.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sizes.h"
#include "base/system.h"

/* A search in progress, which ends at the first place that has the file. */
struct search {
  const struct source_file *files;
  struct text *path, *content;
  struct source_data *data;       /* receives the open file, which is not read; NULL: the file is
                                     read */
  struct text looked;             /* the places searched: "a.lua, b/a.lua" */
  const struct file_roots *roots; /* folders in which the file must lie; NULL: anywhere, because
                                     the user named the file */
  struct text tree;               /* the folder of the config: the first of the roots */
  struct file_roots tree_roots;
  size_t most;  /* limit of the size in bytes */
  bool found;   /* the file was found */
  bool shipped; /* the file that was found is a shipped file */
  bool folder;  /* a folder stands where the file was looked for */
  int status;
  cugen_error *err;
};

/* ---- Places --------------------------------------------------------------------------------- */

/* Notes a searched place once. */
static void sources_note_place(struct search *search, const char *place, const char *kind) {
  struct text all = {0}, one = {0};
  text_addf(&all, ", %s, ", text_get(&search->looked));
  text_addf(&one, ", %s%s, ", place, kind);
  if (!strstr(text_get(&all), text_get(&one)))
    text_addf(&search->looked, "%s%s%s", search->looked.length ? ", " : "", place, kind);
  text_free(&all);
  text_free(&one);
}

static void found(struct search *search, const char *path) {
  search->found = true;
  text_add(search->path, path);
}

static void sources_take(struct search *search, const void *memory, size_t length) {
  if (search->data)
    *search->data = (struct source_data){-1, memory, length};
  else
    text_add_n(search->content, memory, length);
}

/* Keeps the descriptor of an open file if the search has `data` and the file is not too large.
   Returns whether the search owns the descriptor now. */
static bool sources_take_descriptor(struct search *search, int fd) {
  struct stat info;
  if (!search->data || fd < 0 || fstat(fd, &info) || info.st_size < 0 ||
      (uintmax_t)info.st_size > search->most)
    return false;
  *search->data = (struct source_data){fd, NULL, (size_t)info.st_size};
  return true;
}

static void try_file(struct search *search, const char *path) {
  if (search->found || search->status) return;
  sources_note_place(search, path, "");
  int fd;
  const enum file_kind kind = file_open(path, search->roots, &fd);
  search->folder |= kind == FILE_FOLDER;
  const bool taken = sources_take_descriptor(search, fd);
  if (fd >= 0 && !taken) close(fd);
  if (kind == FILE_MISSING || kind == FILE_FOLDER) return;
  if (!taken)
    search->status =
        file_read_beneath(path, search->roots, search->most, search->content, search->err);
  found(search, path);
}

static void try_folder(struct search *search, const char *folder, const char *name) {
  struct text path = {0};
  text_addf(&path, "%s/%s", folder, name);
  if (path.failed)
    search->status = error_memory(search->err);
  else
    try_file(search, text_get(&path));
  text_free(&path);
}

static void try_memory(struct search *search, const char *folder, const char *name) {
  if (search->found || search->status || !search->files) return;
  const struct source_file *file;
  sources_note_place(search, name, " (in memory)");
  search->status = sources_find(search->files, folder, name, &file, search->err);
  if (search->status || !file) return;
  sources_take(search, file->data, file->length);
  found(search, file->name);
}

static const struct embedded_file *embedded_find(const char *path) {
  for (const struct embedded_file *file = embedded_files; file->path; file++)
    if (strcmp(file->path, path) == 0) return file;
  return NULL;
}

static void try_shipped(struct search *search, const char *folder, const char *name) {
  if (search->found || search->status) return;
  struct text path = {0};
  text_addf(&path, "%s%s%s", folder, *folder ? "/" : "", name);
  if (path.failed) search->status = error_memory(search->err);
  const struct embedded_file *file = path.failed ? NULL : embedded_find(text_get(&path));
  sources_note_place(search, text_get(&path), " (shipped)");
  if (file) {
    sources_take(search, file->data, file->length);
    found(search, file->path);
    search->shipped = true;
  }
  text_free(&path);
}

/* Skips the byte order mark with which some editors begin files, but not in data files. */
static void skip_mark(const struct search *search) {
  static const char mark[] = "\xef\xbb\xbf";
  struct text *content = search->content;
  if (search->most == SIZE_DATA || content->length < 3 || memcmp(content->data, mark, 3) != 0)
    return;
  memmove(content->data, content->data + 3, content->length - 2); /* moves the closing zero, too */
  content->length -= 3;
}

/* Restricts the search to the folders of the config and template_dir, which may be NULL. */
static void search_in_tree(struct search *search, const char *config, const char *template_dir) {
  if (config) path_folder(config, &search->tree);
  if (search->tree.failed) search->status = error_memory(search->err);
  search->tree_roots = (struct file_roots){{config ? text_get(&search->tree) : NULL, template_dir}};
  search->roots = &search->tree_roots;
}

static void search_free(struct search *search) {
  text_free(&search->looked);
  text_free(&search->tree);
}

static int search_end(struct search *search) {
  if (!search->status && (search->looked.failed || search->path->failed || search->content->failed))
    search->status = error_memory(search->err);
  if (!search->status && search->found) skip_mark(search);
  return search->status;
}

/* ---- Files near to a missing one ------------------------------------------------------------ */

static bool ends_with(const char *name, const char *end) {
  size_t length = strlen(name), end_length = strlen(end);
  return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

/* Returns the nearest of the entries that have the same file ending as the name. */
static const char *nearest_entry(const char *name, struct dirent *const *entries, int count) {
  const char *ending = strrchr(name, '.'), *nearest = NULL;
  const char **names = calloc((size_t)(count > 0 ? count : 1), sizeof *names);
  size_t alike = 0;
  for (int i = 0; i < count && names && ending; i++)
    if (ends_with(entries[i]->d_name, ending)) names[alike++] = entries[i]->d_name;
  if (names) nearest = text_nearest(name, names, alike);
  free(names);
  return nearest;
}

/* Returns the file that the name, relative to the folder, may mean: a file in the folder where the
   named file would be, with the same ending. The result is relative to the folder, too, and the
   caller frees it; NULL: no file is near. */
static char *near_file(const char *folder, const char *name) {
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

/* Like near_file, relative to the folder of the file `from`. */
static char *near_beside(const char *from, const char *name) {
  struct text folder = {0};
  path_folder(from, &folder);
  char *nearest = folder.failed ? NULL : near_file(text_get(&folder), name);
  text_free(&folder);
  return nearest;
}

/* ---- Configs -------------------------------------------------------------------------------- */

/* Tries the name with .lua, and the name as given if that differs. The name with .lua comes first,
   because a program "matmul" may lie beside "matmul.lua". */
static void try_config(struct search *search, const char *folder, const char *name,
                       const char *full_name) {
  const char *const names[] = {full_name, name};
  for (size_t i = 0; i < (full_name == name ? 1 : 2); i++) {
    if (folder)
      try_folder(search, folder, names[i]);
    else
      try_file(search, names[i]);
  }
}

static bool replaced(const struct source_file *all, const struct source_file *file) {
  while (strcmp(all->name, file->name) != 0) all = all->older;
  return all != file;
}

/* Lists the shipped configs (their number is *shipped), then the configs in memory. */
static size_t known_configs(const struct source_file *files, const char **out, size_t most,
                            size_t *shipped) {
  size_t count = sources_configs(out, most);
  *shipped = count = count < most ? count : most;
  for (const struct source_file *file = files; file && count < most; file = file->older)
    if (ends_with(file->name, ".lua") && !replaced(files, file)) out[count++] = file->name;
  return count;
}

static void list_known(const struct search *search) {
  enum { MOST = 64 };
  const char *known[MOST];
  size_t shipped, count = known_configs(search->files, known, MOST, &shipped);
  for (size_t i = 0; i < count; i++) {
    const char *before = i == 0 && shipped ? "; shipped are: "
                         : i == shipped    ? "; in memory are: "
                                           : ", ";
    error_append(search->err, "%s%.*s", before, (int)(strlen(known[i]) - strlen(".lua")), known[i]);
  }
}

/* Returns an existing file near to the name, or a known config with a near name; the caller frees
   it. NULL: neither is near. */
static char *nearest_config(const struct search *search, const char *config_dir,
                            const char *full_name) {
  enum { MOST = 64 };
  const char *known[MOST];
  char *file = near_file(".", full_name);
  if (!file && config_dir && full_name[0] != '/') file = near_file(config_dir, full_name);
  if (file) return file;
  size_t shipped, count = known_configs(search->files, known, MOST, &shipped);
  const char *nearest = text_nearest(path_base(full_name), known, count);
  return nearest ? strndup(nearest, strlen(nearest) - strlen(".lua")) : NULL;
}

static int config_missing(const struct search *search, const char *config_dir, const char *name,
                          const char *full_name) {
  struct text folder = {0};
  path_folder(name, &folder);
  char *nearest = nearest_config(search, config_dir, full_name);
  if (search->folder)
    error_set(search->err, CUGEN_ERROR_MISSING,
              "no config '%s': it is a folder; name a file in it: %s%sNAME.lua", name, name,
              ends_with(name, "/") ? "" : "/");
  else
    error_set(search->err, CUGEN_ERROR_MISSING, "no config '%s': looked for %s", name,
              text_get(&search->looked));
  if (!search->folder && nearest)
    error_append(search->err, " (nearest '%s')", nearest);
  else if (!search->folder && strchr(name, '/') && !folder.failed &&
           !folder_exists(text_get(&folder)))
    error_append(search->err, "; there is no folder '%s'", text_get(&folder));
  else if (!search->folder)
    list_known(search);
  text_free(&folder);
  free(nearest);
  return CUGEN_ERROR_MISSING;
}

int sources_config(const struct sources *sources, const char *name, struct text *path,
                   struct text *content, bool *shipped, cugen_error *err) {
  struct text full = {0};
  text_addf(&full, "%s.lua", name);
  if (full.failed) return error_memory(err);
  const char *full_name = ends_with(name, ".lua") ? name : text_get(&full);
  struct search search = {
      .files = sources->files, .path = path, .content = content, .most = SIZE_CONFIG, .err = err};
  if (strncmp(name, "./", 2) != 0) try_memory(&search, NULL, full_name);
  if (strncmp(name, "./", 2) != 0 && full_name != name) try_memory(&search, NULL, name);
  try_config(&search, NULL, name, full_name);
  if (sources->config_dir && name[0] != '/')
    try_config(&search, sources->config_dir, name, full_name);
  if (strncmp(name, "configs/", strlen("configs/")) == 0)
    try_shipped(&search, "", full_name);
  else if (name[0] != '/' && strncmp(name, "./", 2) != 0)
    try_shipped(&search, "configs", full_name);
  int status = search_end(&search);
  if (!status && !search.found)
    status = config_missing(&search, sources->config_dir, name, full_name);
  *shipped = search.shipped;
  search_free(&search);
  text_free(&full);
  return status;
}

/* Matches "configs/matmul.lua" but not "configs/old/matmul.lua". */
static bool is_config(const char *path) {
  size_t folder = strlen("configs/");
  return strncmp(path, "configs/", folder) == 0 && !strchr(path + folder, '/') &&
         ends_with(path, ".lua");
}

size_t sources_configs(const char **out, size_t count) {
  size_t all = 0;
  for (const struct embedded_file *file = embedded_files; file->path; file++) {
    if (!is_config(file->path)) continue;
    if (all < count) out[all] = file->path + strlen("configs/");
    all++;
  }
  return all;
}

/* ---- Devices -------------------------------------------------------------------------------- */

int sources_device(const char *device_dir, const char *name, struct text *path,
                   struct text *content, bool *is_there, cugen_error *err) {
  struct search search = {.path = path, .content = content, .most = SIZE_DESCRIPTION, .err = err};
  struct text file = {0};
  for (const char *at = name; *at; at++) text_add_char(&file, (char)tolower((unsigned char)*at));
  text_add(&file, ".lua");
  int status = file.failed ? error_memory(err) : CUGEN_OK;
  if (!status && (strchr(name, '/') || ends_with(name, ".lua"))) {
    try_file(&search, name);
    if (!search.status && !search.found)
      search.status = error_set(err, CUGEN_ERROR_MISSING,
                                "no file '%s': a description of a GPU is read from it", name);
  } else if (!status) {
    if (device_dir) try_folder(&search, device_dir, text_get(&file));
    try_shipped(&search, "configs/devices", text_get(&file));
  }
  if (!status) status = search_end(&search);
  *is_there = search.found;
  search_free(&search);
  text_free(&file);
  return status;
}

/* ---- Templates ------------------------------------------------------------------------------ */

bool sources_inside(const char *name) {
  return name[0] != '/' && name[0] != '\0' && !strchr(name, '\n') && !path_has_hidden(name);
}

/* Returns whether the path, which may also be that of a shipped file, is a file on disk in the
   search's folders. */
static bool is_in_tree(const struct search *search, const char *path) {
  int fd;
  const bool there = file_open(path, search->roots, &fd) == FILE_REGULAR;
  if (there) close(fd);
  return there;
}

static void try_beside(struct search *search, const char *name, const char *from) {
  struct text folder = {0};
  path_folder(from, &folder);
  if (folder.failed)
    search->status = error_memory(search->err);
  else if (sources_holds(search->files, from))
    try_memory(search, text_get(&folder), name);
  else if (embedded_find(from) && !is_in_tree(search, from))
    try_shipped(search, text_get(&folder), name);
  else if (strcmp(text_get(&folder), ".") == 0 && strncmp(from, "./", 2) != 0)
    try_file(search, name);
  else
    try_folder(search, text_get(&folder), name);
  text_free(&folder);
}

/* Returns the nearest of the shipped templates and of the files in memory, or, with `include`, of
   the shipped files in folders of configs/. axpy.lua in memory is not suggested for axpy.cu. */
static const char *nearest_known(const struct source_file *files, const char *name, bool include) {
  enum { MOST = 256 };
  const char *names[MOST], *folder = include ? "configs/" : "templates/";
  size_t count = 0;
  for (const struct embedded_file *file = embedded_files; file->path && count < MOST; file++) {
    const char *within = file->path + strlen(folder);
    if (strncmp(file->path, folder, strlen(folder)) == 0 && (!include || strchr(within, '/')))
      names[count++] = within;
  }
  for (; files && !include && count < MOST; files = files->older)
    if (!ends_with(files->name, ".lua") || ends_with(name, ".lua")) names[count++] = files->name;
  return text_nearest(name, names, count);
}

/* Reports that no `what` of that name was found: a template or data file, or with `include` a file
   that a config includes. from: the file that names it; NULL: none. */
static int report_missing(const struct search *search, const char *what, const char *name,
                          const char *from, bool include) {
  char *beside = from && !sources_holds(search->files, from) ? near_beside(from, name) : NULL;
  const char *nearest = beside ? beside : nearest_known(search->files, name, include);
  error_set(search->err, CUGEN_ERROR_MISSING, "no %s '%s': looked for %s", what, name,
            text_get(&search->looked));
  if (nearest) error_append(search->err, " (nearest '%s')", nearest);
  free(beside);
  return CUGEN_ERROR_MISSING;
}

int sources_check_name(const char *what, const char *name, cugen_error *err) {
  enum { LONGEST = 1024 };
  const unsigned char *at = (const unsigned char *)name;
  while (*at >= ' ' && *at != 0x7f) at++;
  if (*at)
    return error_set(err, CUGEN_ERROR_MISSING,
                     "the name of a %s has a control character, number %u, behind %zu bytes", what,
                     *at, (size_t)(at - (const unsigned char *)name));
  if ((size_t)(at - (const unsigned char *)name) <= LONGEST) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_MISSING, "the name of a %s has more than %d bytes: '%.40s...'",
                   what, LONGEST, name);
}

/* Finds a template or data file in the tree of the config. what: the kind of the file, for
   messages; from: the file that names it; search: the limit of the size, and where the result
   goes. */
static int find_in_tree(const struct sources *sources, const char *what, const char *name,
                        const char *from, const char *config, struct search *search) {
  const int bad = sources_check_name(what, name, search->err);
  if (bad) return bad;
  if (!sources_inside(name))
    return error_set(
        search->err, CUGEN_ERROR_MISSING,
        "%s '%s' is outside: a %s is named relative to the file that mentions it or to "
        "cugen_options.template_dir, without '..' or a hidden name",
        what, name, what);
  bool in_memory = from && sources_holds(sources->files, from);
  search->files = sources->files;
  search_in_tree(search, config, sources->template_dir);
  if (in_memory) try_beside(search, name, from);
  try_memory(search, NULL, name);
  if (sources->template_dir) try_folder(search, sources->template_dir, name);
  if (from && !in_memory) try_beside(search, name, from);
  try_shipped(search, "templates", name);
  int status = search_end(search);
  if (!status && !search->found) status = report_missing(search, what, name, from, false);
  search_free(search);
  return status;
}

/* ---- Files that a config includes ----------------------------------------------------------- */

static void try_include(struct search *search, const struct include_wanted *wanted) {
  struct text folder = {0};
  path_folder(wanted->from, &folder);
  if (folder.failed) search->status = error_memory(search->err);
  if (!wanted->shipped) {
    if (!sources_holds(search->files, wanted->from)) try_memory(search, NULL, wanted->name);
    try_beside(search, wanted->name, wanted->from);
  }
  try_shipped(search, wanted->shipped ? text_get(&folder) : "configs", wanted->name);
  text_free(&folder);
}

int sources_include(const struct sources *sources, const struct include_wanted *wanted,
                    struct text *path, struct text *content, bool *shipped, cugen_error *err) {
  const int bad = sources_check_name("file", wanted->name, err);
  if (bad) return bad;
  if (!sources_inside(wanted->name))
    return error_set(
        err, CUGEN_ERROR_MISSING,
        "'%s' is outside: a file is named relative to the one that includes it, without '..' or a "
        "hidden name",
        wanted->name);
  struct search search = {
      .files = sources->files, .path = path, .content = content, .most = SIZE_CONFIG, .err = err};
  search_in_tree(&search, wanted->config, NULL);
  try_include(&search, wanted);
  int status = search_end(&search);
  if (!status && !search.found)
    status = report_missing(&search, "file", wanted->name, wanted->from, true);
  *shipped = search.shipped;
  search_free(&search);
  return status;
}

/* ---- Headers -------------------------------------------------------------------------------- */

int sources_header(const struct sources *sources, const struct header_search *wanted,
                   struct text *path, struct text *content, bool *is_there, cugen_error *err) {
  struct search search = {
      .files = sources->files, .path = path, .content = content, .most = SIZE_TEMPLATE, .err = err};
  search_in_tree(&search, wanted->config, sources->template_dir);
  if (wanted->quoted) try_beside(&search, wanted->name, wanted->from);
  for (size_t i = 0; i < wanted->folder_count; i++) {
    struct text name = {0};
    text_addf(&name, "%s/%s", wanted->folders[i], wanted->name);
    if (name.failed) search.status = error_memory(err);
    try_beside(&search, text_get(&name), wanted->config);
    try_memory(&search, NULL, text_get(&name));
    if (sources->template_dir) try_folder(&search, sources->template_dir, text_get(&name));
    text_free(&name);
  }
  int status = search_end(&search);
  *is_there = search.found;
  search_free(&search);
  return status;
}

static bool is_folder(const char *parent, const char *name, struct text *path) {
  struct stat info;
  text_clear(path);
  text_addf(path, "%s/%s", parent, name);
  return !path->failed && stat(text_get(path), &info) == 0 && S_ISDIR(info.st_mode);
}

int sources_folder(const struct sources *sources, const char *config, const char *folder,
                   bool *found, cugen_error *err) {
  struct text parent = {0}, path = {0};
  path_folder(config, &parent);
  *found = sources->files || is_folder(text_get(&parent), folder, &path) ||
           (sources->template_dir && is_folder(sources->template_dir, folder, &path));
  const bool failed = parent.failed || path.failed;
  text_free(&parent);
  text_free(&path);
  return failed ? error_memory(err) : CUGEN_OK;
}

int sources_template(const struct sources *sources, const char *name, const char *from,
                     const char *config, struct text *path, struct text *content,
                     cugen_error *err) {
  struct search search = {.path = path, .content = content, .most = SIZE_TEMPLATE, .err = err};
  return find_in_tree(sources, "template", name, from, config, &search);
}

int sources_data_open(const struct sources *sources, const char *name, const char *config,
                      struct text *path, struct source_data *out, cugen_error *err) {
  struct text nothing = {0}, own = {0};
  struct search search = {
      .path = path ? path : &own, .content = &nothing, .data = out, .most = SIZE_DATA, .err = err};
  *out = (struct source_data){.fd = -1};
  int status = find_in_tree(sources, "data file", name, config, config, &search);
  text_free(&nothing);
  text_free(&own);
  return status;
}

int sources_data_read(const struct source_data *data, size_t offset, void *to, size_t bytes,
                      cugen_error *err) {
  if (offset > data->bytes || bytes > data->bytes - offset)
    return error_set(err, CUGEN_ERROR_INTERNAL, "a data file is read beyond its end");
  if (data->fd < 0) {
    if (bytes) memcpy(to, data->memory + offset, bytes);
    return CUGEN_OK;
  }
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = pread(data->fd, (char *)to + done, bytes - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return error_set(err, CUGEN_ERROR_IO, "cannot read: %s",
                       got ? strerror(errno) : "it has become shorter while it was read");
    done += (size_t)got;
  }
  return CUGEN_OK;
}

void sources_data_close(struct source_data *data) {
  if (data->fd >= 0) close(data->fd);
  data->fd = -1;
}

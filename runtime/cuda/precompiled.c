/* Precompiled headers; see precompiled.h.

   NVRTC accepts a precompiled header only at the very beginning of a source, but variants define
   their tunables before the includes. Therefore the includes are moved to the beginning, which
   changes nothing unless a header looks at those definitions. Whether a header does is tested:
   after some sources with the same includes and macros, the next source is compiled both ways, and
   only if the images are equal bit for bit are the following sources compiled with the includes in
   front. If a compile with the includes in front fails, the source is compiled again as it is, so
   that messages are about the original source.

   The file of the precompiled header is unlinked as soon as it is open. */
#include "precompiled.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/source_place.h"
#include "base/system.h"

enum { PRECOMPILED = 12080 /* the first NVRTC with precompiled headers */ };

/* A process keeps no file if fewer files than this would fit on the disk. */
enum { FILES_TO_FIT = 32 };

/* A source is compiled both ways only if its first compile takes less than this fraction of the
   timeout, because making a precompiled header takes longer. */
static const double share_of_time = 0.2;

enum stage {
  WAIT,   /* sources with this key are counted */
  PROVE,  /* the next source is compiled both ways */
  USE,    /* the file has been proved, and sources are compiled with it */
  REFUSED /* sources with this key are compiled as they are */
};

struct precompiled {
  struct text folder, key; /* key: the sources that `stage` and `met` are about */
  int patience, met;       /* met: number of sources seen with this key */
  enum stage stage;
  int file; /* open in stage USE; else -1 */
};

int precompiled_open(const char *folder, int patience, struct precompiled **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  if (!*out) return error_memory(err);
  (*out)->file = -1;
  (*out)->patience = patience;
  text_add(&(*out)->folder, folder);
  if (!(*out)->folder.failed) return CUGEN_OK;
  precompiled_close(*out);
  *out = NULL;
  return error_memory(err);
}

void precompiled_close(struct precompiled *h) {
  if (!h) return;
  if (h->file >= 0) close(h->file);
  text_free(&h->folder);
  text_free(&h->key);
  free(h);
}

bool precompiled_in_use(const struct precompiled *h) {
  return h->stage == USE;
}

/* ---- What a source begins with -------------------------------------------------------------- */

static bool takes_long(const char *name, size_t length) {
  static const char *const slow[] = {"cooperative_groups", "cub/", "cuda/", "thrust/"};
  for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
    if (length >= strlen(slow[i]) && memcmp(name, slow[i], strlen(slow[i])) == 0) return true;
  return false;
}

static const char *precompiled_skip_blanks(const char *at) {
  return at + strspn(at, " \t");
}

/* Skips blanks, comments and empty lines. */
static const char *skip_nothing(const char *at) {
  for (const char *next;; at = next) {
    at += strspn(at, " \t\r\n");
    next = *at == '/' ? text_skip_opaque(at) : at;
    if (next == at) return at;
  }
}

/* Returns the end of a line; for a continued line the end of its last part. */
static const char *precompiled_line_end(const char *at) {
  for (;;) {
    at += strcspn(at, "\n");
    if (!*at || at[-1] != '\\') return at;
    at++;
  }
}

bool precompiled_find(const char *source, struct text *includes, struct text *macros) {
  size_t kept_includes = 0, kept_macros = 0;
  int depth = 0;
  for (const char *at = skip_nothing(source); *at == '#';
       at = skip_nothing(precompiled_line_end(at))) {
    const char *word = precompiled_skip_blanks(at + 1);
    if (source_after_word(word, "if") || source_after_word(word, "ifdef") ||
        source_after_word(word, "ifndef"))
      depth++;
    if (source_after_word(word, "endif")) depth--;
    if (source_after_word(word, "define") || source_after_word(word, "undef")) {
      const char *name = precompiled_skip_blanks(word + strcspn(word, " \t\n"));
      text_addf(macros, "%.*s\n", (int)strcspn(name, " \t(\r\n"), name);
    }
    const char *name = precompiled_skip_blanks(word + strlen("include"));
    if (!source_after_word(word, "include") || depth != 0 || *name != '<') continue;
    size_t length = strcspn(name, ">\n");
    if (name[length] != '>') continue;
    text_addf(includes, "#include %.*s\n", (int)length + 1, name);
    if (!takes_long(name + 1, length - 1)) continue;
    kept_includes = includes->length;
    kept_macros = macros->length;
  }
  text_cut(includes, kept_includes);
  text_cut(macros, kept_macros);
  return kept_includes > 0 && !includes->failed && !macros->failed;
}

/* ---- A compile with the includes in front --------------------------------------------------- */

/* option: "create" or "use"; path: the precompiled header. */
static int compile_moved(const struct nvrtc *nvrtc, const struct compile_request *request,
                         const struct text *includes, const char *option, const char *path,
                         struct compiled *out, cugen_error *err) {
  struct text source = {0}, options = {0};
  struct compile_request moved = *request;
  text_addf(&source, "%s#pragma nv_hdrstop\n#line 1\n%s", text_get(includes), request->source);
  text_addf(&options, "%s%s--%s-pch=%s --pch-messages=false",
            request->options ? request->options : "",
            request->options && *request->options ? " " : "", option, path);
  moved.source = text_get(&source);
  moved.options = text_get(&options);
  int status =
      source.failed || options.failed ? error_memory(err) : nvrtc_compile(nvrtc, &moved, out, err);
  text_free(&source);
  text_free(&options);
  return status;
}

static bool precompiled_has_room(const char *path) {
  struct statvfs place;
  long long size = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool room = file >= 0 && fstatvfs(file, &place) == 0 && (size = lseek(file, 0, SEEK_END)) > 0 &&
              (long long)place.f_bavail * (long long)place.f_frsize / FILES_TO_FIT > size;
  if (file >= 0) close(file);
  return room;
}

/* Makes the file, which is used from now on if the image equals that of the source as it is and the
   disk has room. */
static void precompiled_prove(struct precompiled *h, const struct nvrtc *nvrtc,
                              const struct compile_request *request, const struct text *includes,
                              const struct compiled *as_it_stands) {
  struct text path = {0};
  struct compiled moved = {0};
  cugen_error ignored;
  text_addf(&path, "%s/%ld.pch", text_get(&h->folder), (long)getpid());
  h->stage = REFUSED;
  if (!path.failed &&
      !compile_moved(nvrtc, request, includes, "create", text_get(&path), &moved, &ignored) &&
      strcmp(moved.image_hash.hex, as_it_stands->image_hash.hex) == 0 &&
      precompiled_has_room(text_get(&path))) {
    h->file = open(text_get(&path), O_RDONLY | O_CLOEXEC);
    if (h->file >= 0) h->stage = USE;
  }
  if (!path.failed) unlink(text_get(&path));
  compiled_free(&moved);
  text_free(&path);
}

/* Counts a source. Another architecture, other options, includes or macros start the count anew. */
static void meet(struct precompiled *h, const struct compile_request *request,
                 const struct text *includes, const struct text *macros) {
  struct text key = {0};
  text_addf(&key, "%s\n%s\n%s%s", request->arch, request->options ? request->options : "",
            text_get(includes), text_get(macros));
  bool same = h->key.length && strcmp(text_get(&h->key), text_get(&key)) == 0;
  if (same) {
    text_free(&key);
    const int patience = request->more == COMPILE_MANY ? 1 : h->patience;
    if (h->stage == WAIT && h->met++ >= patience && request->more != COMPILE_FEW) h->stage = PROVE;
    return;
  }
  text_free(&h->key);
  h->key = key;
  h->stage = key.failed ? REFUSED : WAIT;
  h->met = 1;
  if (h->file >= 0) close(h->file);
  h->file = -1;
}

/* Compiles a source whose includes can be precompiled, with the file if there is one. */
static int compile_met(struct precompiled *h, const struct nvrtc *nvrtc,
                       const struct compile_request *request, const struct text *includes,
                       struct compiled *out, cugen_error *err) {
  char path[64];
  cugen_error ignored;
  snprintf(path, sizeof path, "/proc/self/fd/%d", h->file);
  if (h->stage == USE &&
      compile_moved(nvrtc, request, includes, "use", path, out, &ignored) == CUGEN_OK)
    return CUGEN_OK;
  const double begin = clock_seconds();
  int status = nvrtc_compile(nvrtc, request, out, err);
  const bool time_left = clock_seconds() - begin < share_of_time * request->timeout;
  if (!status && h->stage == PROVE && time_left)
    precompiled_prove(h, nvrtc, request, includes, out);
  return status;
}

int precompiled_compile(struct precompiled *h, const struct nvrtc *nvrtc,
                        const struct compile_request *request, struct compiled *out,
                        cugen_error *err) {
  struct text includes = {0}, macros = {0};
  int status;
  if (h->folder.length && nvrtc_version(nvrtc) >= PRECOMPILED &&
      precompiled_find(request->source, &includes, &macros)) {
    meet(h, request, &includes, &macros);
    status = compile_met(h, nvrtc, request, &includes, out, err);
  } else {
    status = nvrtc_compile(nvrtc, request, out, err);
  }
  text_free(&includes);
  text_free(&macros);
  return status;
}

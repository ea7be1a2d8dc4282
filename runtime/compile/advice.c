/* Adding advice to a compiler's diagnostics; see advice.h. */
#include "advice.h"

#include <ctype.h>
#include <string.h>

#include "base/source_place.h"
#include "blame.h"
#include "passed.h"
#include "standard.h"

#define HOST                                                                                       \
  ". If host code alone needs it, put '#ifndef __CUDACC_RTC__' and '#endif' around it and that "   \
  "code"

/* The parts of a diagnostic: "k.cu:12: error: what" or "k.cu:12:3: error: what". */
struct diagnostic {
  struct text path;
  int line;
};

static bool advice_take_apart(const char *line, size_t length, struct diagnostic *out) {
  const char *end = line + length;
  for (const char *colon = line; (colon = memchr(colon, ':', (size_t)(end - colon))); colon++) {
    size_t digits = 0;
    out->line = 0;
    while (colon + 1 + digits < end && isdigit((unsigned char)colon[1 + digits]) && digits < 9)
      out->line = 10 * out->line + (colon[1 + digits++] - '0');
    if (!digits || colon + 1 + digits >= end || colon[1 + digits] != ':') continue;
    text_add_n(&out->path, line, (size_t)(colon - line));
    return !out->path.failed;
  }
  return false;
}

/* ---- Missing headers ------------------------------------------------------------------------ */

/* Takes the text between two marks of the line; returns false if the marks are not there. */
static bool advice_between(const char *line, size_t length, const char *open, const char *close,
                           struct text *out) {
  const char *end = line + length, *at = memmem(line, length, open, strlen(open));
  if (!at) return false;
  at += strlen(open);
  const char *last = memmem(at, (size_t)(end - at), close, strlen(close));
  if (last) text_add_n(out, at, (size_t)(last - at));
  return last && !out->failed;
}

/* Returns whether the text begins with one of the words, which end with NULL. */
static bool begins_with(const char *text, const char *const *words) {
  for (; *words; words++)
    if (strncmp(text, *words, strlen(*words)) == 0) return true;
  return false;
}

static void add_missing(const struct advice *advice, const char *header, struct text *out) {
  /* libcu++ and CUB come together, in a folder of their own or beside the other headers */
  static const char *const core[] = {"cub/", "thrust/", "cuda/", "nv/", NULL};
  const struct toolkit *toolkit = advice->request->toolkit;
  if (advice->cpu)
    text_add(out,
             ": it is neither beside its file nor in a folder of include_dirs, and the cpu device "
             "has few of CUDA's headers. Use a GPU, or a described one such as model:H200");
  else if (begins_with(header, core) && !standard_has_libcuxx(toolkit, "cstdint"))
    text_addf(out,
              ": CUDA's core libraries (cccl: cub, libcu++, what <cooperative_groups.h> needs) are "
              "not with the CUDA headers in '%s'; a whole CUDA toolkit has them "
              "(cugen_options.toolkit, $CUGEN_TOOLKIT), and the Python wheel nvidia-cuda-cccl",
              text_get(&toolkit->include));
  else if (standard_has_libcuxx(toolkit, header))
    text_addf(out, ": NVRTC has no C++ library; use <cuda/std/%s>, whose names are in cuda::std",
              header);
  else if (strchr(header, '.'))
    text_add(out, ": it is neither beside its file nor in a folder of include_dirs, nor with CUDA");
  else {
    text_add(out, ": NVRTC has no C++ library, only these (each as <NAME.h> too):");
    for (const struct standard_header *h = standard_headers; h->name; h++)
      if (!strstr(h->name, ".h")) text_addf(out, " <%s>", h->name);
  }
  text_add(out, HOST);
}

/* ---- Headers that the cpu device lacks ------------------------------------------------------ */

/* Replaces the diagnostic on a header of `families`, because the host compiler's message does not
   help; else returns false. */
static bool refuse_for_gpus(struct advice *advice, const char *path, int line, const char *header,
                            struct text *out) {
  /* beginnings of the names of CUDA's headers */
  static const char *const families[] = {
      "cooperative_groups", "cub/",     "cuda/", "thrust/", "nv/", "curand", "cublas",
      "cuComplex.h",        "cusolver", NULL};
  if (!advice->cpu || !begins_with(header, families)) return false;
  text_addf(
      out,
      "%s:%d: error: the cpu device does not have <%s>. Use a GPU, or predict for a described one "
      "such as model:H200. Or write a branch without it, by '#ifdef __CUGEN_CPU__'",
      path, line, header);
  advice->given = advice->ends = true;
  return true;
}

/* Appends advice on a header that does not compile. ours: the header is the cpu device's own. */
static void add_header(bool cpu, bool ours, const char *header, struct text *out) {
  if (ours)
    text_add(out, ": the cpu device has a part of this header. Use a GPU, or a described one such "
                  "as model:H200");
  else if (cpu)
    text_add(out, ": the cpu device has few of CUDA's headers. Use a GPU, or a described one such "
                  "as model:H200");
  else if (!strncmp(header, "thrust/", 7))
    text_add(out, ": NVRTC takes device code only, and Thrust's algorithms are called by the host; "
                  "a kernel has <cub/block/...>, <cuda/std/functional> and <cuda/std/tuple>");
  else if (!strncmp(header, "cub/", 4))
    text_add(out, ": NVRTC takes device code only; of cub, include what the kernel uses, such as "
                  "<cub/block/block_reduce.cuh>");
  else
    text_add(out, ": NVRTC takes device code only");
  text_add(out, HOST);
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Names that nvcc has from a header of the host, and names that CUDA removed. */
static const char *const names[][2] = {
    {"INFINITY", ": it is in <cmath>"},
    {"NAN", ": it is in <cmath>"},
    {"HUGE_VAL", ": it is in <cmath>"},
    {"HUGE_VALF", ": it is in <cmath>"},
    {"M_PI", ": it is in <cmath>"},
    {"FLT_MAX", ": it is in <cfloat>"},
    {"FLT_MIN", ": it is in <cfloat>"},
    {"DBL_MAX", ": it is in <cfloat>"},
    {"FLT_EPSILON", ": it is in <cfloat>"},
    {"INT_MAX", ": it is in <climits>"},
    {"INT_MIN", ": it is in <climits>"},
    {"UINT_MAX", ": it is in <climits>"},
    {"LLONG_MAX", ": it is in <climits>"},
    {"texture", ": texture references are gone since CUDA 12; give the kernel a texture object"},
    {"__shfl", ": it is gone since sm_70; __shfl_sync names the lanes"},
    {"__shfl_up", ": it is gone since sm_70; __shfl_up_sync names the lanes"},
    {"__shfl_down", ": it is gone since sm_70; __shfl_down_sync names the lanes"},
    {"__shfl_xor", ": it is gone since sm_70; __shfl_xor_sync names the lanes"},
    {"__ballot", ": it is gone since sm_70; __ballot_sync names the lanes"},
    {"__any", ": it is gone since sm_70; __any_sync names the lanes"},
    {"__all", ": it is gone since sm_70; __all_sync names the lanes"}};
enum { NAMES = sizeof names / sizeof *names };

/* Appends advice on an undeclared name. Returns false if the line names none, or there is no
   advice on the name. */
static bool add_name(const char *line, size_t length, struct text *out) {
  struct text name = {0};
  const bool named = advice_between(line, length, "identifier \"", "\" is undefined", &name) ||
                     advice_between(line, length, "error: '", "' was not declared", &name) ||
                     advice_between(line, length, "error: '", "' does not name a type", &name);
  size_t i = 0;
  while (named && i < NAMES && strcmp(names[i][0], text_get(&name)) != 0) i++;
  const bool advised = named && i < NAMES;
  if (advised) text_add(out, names[i][1]);
  out->failed |= name.failed;
  text_free(&name);
  return advised;
}

/* Appends advice on a diagnostic that asks for a flag which NVRTC lacks, or which a config can set.
   Returns false if the line names no such flag. */
static bool add_flag(const char *line, size_t length, struct text *out) {
  static const char *const rows[][2] = {
      {"--device-int128", "; say options { flags = { \"--device-int128\" } } in the config"},
      {"--device-float128", "; say options { flags = { \"--device-float128\" } } in the config"},
      {"--extended-lambda", "; NVRTC has no such flag: a lambda of a kernel is device code without "
                            "__device__, so leave that out"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (memmem(line, length, rows[i][0], strlen(rows[i][0])))
      return text_add(out, rows[i][1]), true;
  return false;
}

/* ---- Constants ------------------------------------------------------------------------------ */

/* passed: the size that the name is computed from; NULL: not known. */
static void advise_passed(const struct passed *passed, struct text *out) {
  if (!passed) {
    text_add(out, ": CUDA needs a constant there");
    return;
  }
  text_add(out, ": ");
  if (passed->name != passed->size)
    text_addf(out, "%.*s comes from ", (int)passed->name_length, passed->name);
  text_addf(out,
            "%.*s%s is passed at launch; to compile it in, give the kernel's scalar specialize = "
            "true, or an implementation's scalar another name",
            (int)passed->size_length, passed->size, passed->name == passed->size ? "" : ", which");
}

/* Appends advice on a diagnostic that asks for a constant as an array's bound, a template's
   argument or a #pragma's number, in the words of NVRTC, g++ and clang++. */
static bool advise_constant(const struct advice *advice, const struct diagnostic *d,
                            const char *line, size_t length, struct text *out) {
  static const char *const words[] = {
      "must have a constant value", "variable length array",   "takes a constant",
      "in a constant expression",   "not a constant",          "is not constant",
      "integral constant expr",     "not an integer constant", "storage size of"};
  bool wanted = false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    wanted |= memmem(line, length, words[i], strlen(words[i])) != NULL;
  const char *text =
      wanted ? blame_text(advice->request->source, text_get(&d->path), d->line) : NULL;
  struct passed found;
  if (!text || !passed_find(advice->request->source, text, text + strcspn(text, "\n"), &found)) {
    const bool vla = advice->cpu && memmem(line, length, "variable length array", 21);
    if (vla) advise_passed(NULL, out);
    return vla;
  }
  advise_passed(&found, out);
  return true;
}

/* ---- Limits of ptxas ------------------------------------------------------------------------ */

/* Messages such as "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes,
   0xc000 max)", which name no line. */
static const struct {
  const char *words;
  enum source_cause cause;
  const char *advice;
} limits[] = {{"too much global constant data", SOURCE_CONSTANT,
               ": give the kernel what is large by its address: an input of the config instead of "
               "a constant"},
              {"too much shared data", SOURCE_SHARED,
               ": give the array to dynamic shared memory, whose bytes 'shared' sets in the "
               "config; of a static one, sm_90a, sm_100a, sm_103a and sm_110a take up to 227 KiB, "
               "sm_120a and sm_121a 99 KiB, all others 48 KiB"}};
enum { LIMITS = sizeof limits / sizeof *limits };

/* Adds a message that reports one of the limits. Returns false if the line reports none. */
static bool advice_add_limit(struct advice *advice, const char *line, size_t length,
                             struct text *out) {
  const struct compile_request *request = advice->request;
  struct text file = {0};
  size_t which = 0;
  int number = 0;
  while (which < LIMITS && !memmem(line, length, limits[which].words, strlen(limits[which].words)))
    which++;
  if (which == LIMITS) return false;
  if (source_place(request->source, request->entry_count == 1 ? request->entries[0] : NULL,
                   limits[which].cause, &file, &number)) {
    text_addf(out, "%s:%d: ", text_get(&file), number);
    error_place(&advice->where, text_get(&file), number);
  }
  text_add_n(out, line, length);
  text_add(out, limits[which].advice);
  advice->given = true;
  out->failed |= file.failed;
  text_free(&file);
  return true;
}

/* ---- Whole diagnostics ---------------------------------------------------------------------- */

/* Adds a diagnostic in a file that is not part of the source. */
static void add_foreign(struct advice *advice, const struct diagnostic *d, const char *line,
                        size_t length, const char *from, struct text *out) {
  struct text header = {0}, place = {0};
  struct diagnostic includer = {.line = 0};
  const char *source = advice->request->source;
  bool found = false;
  if (!from) {
    found = blame_header(advice->request->toolkit, source, text_get(&d->path), &place, &header);
  } else if (advice_take_apart(from, strlen(from), &includer)) {
    text_addf(&place, "%s:%d", text_get(&includer.path), includer.line);
    found = blame_include(source, text_get(&includer.path), includer.line, &header);
  }
  /* The path of a header of the cpu device's own is relative. */
  const bool ours = advice->cpu && text_get(&d->path)[0] != '/';
  if (!found || ours ||
      !refuse_for_gpus(advice, text_get(&includer.path), includer.line, text_get(&header), out)) {
    if (found) text_addf(out, "%s: #include <%s>: ", text_get(&place), text_get(&header));
    text_add_n(out, line, length);
    if (found) add_header(advice->cpu, ours, text_get(&header), out);
    advice->given = found;
  }
  out->failed |= header.failed || place.failed;
  text_free(&includer.path);
  text_free(&header);
  text_free(&place);
}

/* Adds a diagnostic in one of the source's own files. */
static void advice_add_own(struct advice *advice, const struct diagnostic *d, const char *line,
                           size_t length, struct text *out) {
  struct text header = {0};
  struct blamed_function function;
  const char *path = text_get(&d->path);
  /* A place in the prologue is not noted, because its path is no file. */
  if (strcmp(path, advice->request->name) != 0 && strcmp(path, SOURCE_PROLOGUE) != 0)
    error_place(&advice->where, path, d->line);
  const bool missing =
      advice_between(line, length, "cannot open source file \"", "\"", &header) ||
      /* the form of clang */
      advice_between(line, length, "fatal error: '", "' file not found", &header) ||
      advice_between(line, length, "fatal error: ", ": No such file", &header);
  if (missing && refuse_for_gpus(advice, text_get(&d->path), d->line, text_get(&header), out)) {
    text_free(&header);
    return;
  }
  text_add_n(out, line, length);
  advice->given = true;
  if (missing)
    add_missing(advice, text_get(&header), out);
  else if (!add_name(line, length, out) && !add_flag(line, length, out) &&
           !advise_constant(advice, d, line, length, out)) {
    advice->given = blame_function(advice->request->source, text_get(&d->path), d->line, &function);
    if (advice->given)
      text_addf(out,
                ": '%.*s' is %s. Put host code between '#ifndef __CUDACC_RTC__' and '#endif', or "
                "the kernel into a file of its own",
                (int)function.length, function.name,
                function.host ? "a __host__ function"
                              : "neither __global__ nor __device__, and so host code perhaps");
  }
  out->failed |= header.failed;
  text_free(&header);
}

/* Adds a diagnostic about a launched kernel's name: in cugen's code for the cpu device, or in
   NVRTC's list of names. Returns false for any other. */
static bool add_entry(struct advice *advice, const struct diagnostic *d, const char *line,
                      size_t length, struct text *out) {
  static const char mark[] = "error: ";
  const char *path = text_get(&d->path);
  const int entries = (int)advice->request->entry_count;
  int number = -1; /* of the kernel */
  if (advice->cpu && strcmp(path, CPU_ENTRIES_NAME) == 0)
    number = d->line - 1;
  else if (!advice->cpu && strcmp(path, "__nv_name_map") == 0)
    number = d->line - 2;
  else if (advice->cpu && entries == 1 && strcmp(path, CPU_UNIT_NAME) == 0 &&
           memmem(line, length, " converting ", 12))
    number = 0;
  if (number < 0 || number >= entries) return false;
  const char *entry = advice->request->entries[number],
             *what = memmem(line, length, mark, sizeof mark - 1);
  struct text places = {0};
  const int count = blame_kernels(advice->request->source, entry, &places);
  if (count) text_addf(out, "%.*s: ", (int)strcspn(text_get(&places), ","), text_get(&places));
  text_addf(out, "entry \"%s\": ", entry);
  text_add_n(out, what, length - (size_t)(what - line));
  if (count > 1)
    text_addf(out, ". Several kernels have this name (%s): rename all but one", text_get(&places));
  advice->given = true;
  out->failed |= places.failed;
  text_free(&places);
  return true;
}

/* most bytes of a diagnostic */
enum { LINE_MOST = 1000 };

void advice_add(struct advice *advice, const char *line, size_t length, const char *from,
                struct text *out) {
  if (length > LINE_MOST) {
    length = LINE_MOST;
    /* a UTF-8 character stays whole */
    while (length && ((unsigned char)line[length] & 0xc0) == 0x80) length--;
  }
  if (!advice->cpu && !advice->given && advice_add_limit(advice, line, length, out)) return;
  struct diagnostic d = {.line = 0};
  if (advice->given || !memmem(line, length, "error: ", strlen("error: ")) ||
      !advice_take_apart(line, length, &d))
    text_add_n(out, line, length);
  else if (!add_entry(advice, &d, line, length, out)) {
    if (blame_is_own(advice->request, text_get(&d.path)))
      advice_add_own(advice, &d, line, length, out);
    else
      add_foreign(advice, &d, line, length, from, out);
  }
  text_free(&d.path);
}

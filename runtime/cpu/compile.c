/* Compiling for the cpu device; see compile.h. The shim does nearly all of the translation; two steps are textual:
   dynamic shared memory, which has no C++ form, and one exported entry for each kernel. */
#include "compile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asm_text.h"
#include "base/includes.h"
#include "base/jail.h"
#include "base/system.h"
#include "headers.h"
#include "object.h"
#include "runtime/compile/advice.h"
#include "runtime/compile/standard.h"
#include "runtime/compile/toolkit.h"
#include "tools.h"
#include "unjailed.h"

extern const char cpu_shim_text[]; /* abi.h and the parts of cuda_shim.h, embedded by the build */
extern const size_t cpu_shim_length;

/* -O2: at -O1 a register-blocked matmul compiles in 0.26 s instead of 0.33 s but runs four times longer. Hidden symbols
   keep a template's __shared__ arrays the object's own; -w: warnings are NVRTC's business. */
static const char *const flags[] = {"-std=c++17",
                                    "-O2",
                                    "-march=native",
                                    "-fPIC",
                                    "-shared",
                                    "-nostartfiles", /* what runs by being loaded is the source's: see object.h */
                                    "-w",
                                    "-fvisibility=hidden",
                                    "-fno-semantic-interposition",
                                    "-Wl,-Bsymbolic", /* an application's own symbols are not the kernel's */
                                    "-fstack-clash-protection",
                                    "-fno-strict-aliasing",
                                    "-ffp-contract=fast",
                                    "-fno-math-errno",
                                    "-fno-exceptions",
                                    "-fno-rtti"};
enum { FLAG_COUNT = sizeof flags / sizeof *flags };

/* Of g++, but not of a watched kernel. Its loop vectoriser (12.2) reads a whole vector where a loop takes the first part of it at
   an unknown stride: past the end of a buffer that the source never leaves (docs/performance.md has two such kernels). Peeled loops are left to the vectoriser of
   straight code, which reads no such gap: register-blocked kernels stay as fast. */
static const char *const gcc_flags[] = {"-fno-tree-loop-vectorize", "-fpeel-loops"};
enum { GCC_COUNT = sizeof gcc_flags / sizeof *gcc_flags };

/* Of a watched kernel: calls before accesses, which stay whole (no scalar replacement, which would make four of a
   float4); two barriers stay two; arrays and gaps as the source has them; lines; and none of the libraries that such calls
   are usually for. */
static const char *const watched_flags[] = {
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "-fsanitize=bounds",
    "-fno-tree-sra",
    "-fno-tree-tail-merge",
    "-fno-crossjumping",
    "-fno-toplevel-reorder",
    "-g1",
    "-fno-threadsafe-statics",
    "-nodefaultlibs",
    "-fno-delete-null-pointer-checks", /* a write to it stays one */
    "-fno-isolate-erroneous-paths-dereference",
    "-fno-tree-loop-distribute-patterns" /* no memset that reports nothing */};
enum { WATCHED_COUNT = sizeof watched_flags / sizeof *watched_flags };

/* The same of clang++, which has no way to keep a float4 whole. What two branches have in common is not made one, which would
   belong to neither's line. DWARF 4: binutils (2.40) does not find the caller of what was inlined in several pieces by the
   ranges of 5, and an atomic operation is inlined. */
static const char *const clang_flags[] = {"-fsanitize=thread",
                                          "-fsanitize=array-bounds",
                                          "-mllvm",
                                          "-enable-tail-merge=false",
                                          "-mllvm",
                                          "-sink-common-insts=false",
                                          "-mllvm",
                                          "-hoist-common-insts=false",
                                          "-mllvm",
                                          "-tsan-instrument-read-before-write",
                                          "-mllvm",
                                          "-tsan-distinguish-volatile",
                                          "-mllvm",
                                          "-instcombine-code-sinking=false",
                                          "-g1",
                                          "-gdwarf-4",
                                          "-fno-threadsafe-statics",
                                          "-fno-delete-null-pointer-checks",
                                          "-nodefaultlibs",
                                          "-Wno-unused-command-line-argument"};
enum {
  CLANG_COUNT = sizeof clang_flags / sizeof *clang_flags,
  OWN_MOST = CLANG_COUNT > WATCHED_COUNT ? CLANG_COUNT : WATCHED_COUNT
};

/* The calls in front of accesses know of a multiple of 8 at most, and of parts nothing. Where a source has CUDA's own
   types of several parts their own checks go in: not elsewhere, since they keep the compiler from moving
   accesses into branches. Nor with clang++, where they lose the lines of barriers. */
static const char *const wide_types[] = {"char2",  "char4",  "short2",  "short4",  "int2",  "int4",
                                         "float2", "float4", "double2", "double4", "long2", "long4"};
static const char wide_flag[] = "-fsanitize=alignment";

/* Of a watched kernel whose accesses are to stay at their places: a read that only one branch needs is otherwise read there alone. */
static const char *const at_source_flags[] = {"-fno-tree-sink", wide_flag};
enum { AT_SOURCE_COUNT = sizeof at_source_flags / sizeof *at_source_flags };

/* Headers whose contents the shim has: they resolve, and are empty. */
static const char *const empty_headers[] = {"cuda_fp16.h",
                                            "cuda_bf16.h",
                                            "cuda_fp8.h",
                                            "cuda_runtime.h",
                                            "cuda_runtime_api.h",
                                            "cuda_device_runtime_api.h",
                                            "builtin_types.h",
                                            "driver_types.h",
                                            "vector_types.h",
                                            "vector_functions.h",
                                            "device_functions.h",
                                            "device_atomic_functions.h",
                                            "math_functions.h",
                                            "sm_30_intrinsics.h",
                                            "cuda.h",
                                            "device_launch_parameters.h",
                                            "math_constants.h"};
/* In place of the host's, which its other headers include too. Those of assertions are empty: the shim has them. The host's
   mathematics would be in the way of CUDA's functions: these are NVRTC's, where std has those instead. */
static const struct {
  const char *name;
  bool standard; /* not empty */
} host_headers[] = {{"assert.h", false}, {"cassert", false}, {"cmath", true}, {"math.h", true}};

/* For the linker. What is static in a template's function would be visible with it, and unique in the process
   (STB_GNU_UNIQUE): shared with the kernels loaded later, whose library then is never unloaded, and found instead of theirs. */
static const char symbols[] = "{ local: _ZZ*; };\n";

/* ---- Textual steps ---- */

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_space(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}

/* After `word` when it stands at `at` as a whole word, else NULL. */
static const char *after_word(const char *at, const char *word) {
  size_t length = strlen(word);
  return strncmp(at, word, length) == 0 && !is_word(at[length]) ? at + length : NULL;
}

/* Past what is in parentheses. */
static const char *skip_parentheses(const char *at) {
  int depth = 0;
  for (; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth == 0) return at + (*at == ')');
  }
  return at;
}

/* Past `__align__(16)`, `alignas(16)`, `__attribute__((...))`: mmap'ed memory is aligned to a page. */
static const char *skip_alignment(const char *at) {
  static const char *const words[] = {"__align__", "alignas", "__attribute__"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *end = after_word(at, words[i]);
    if (!end) continue;
    return skip_space(skip_parentheses(skip_space(end)));
  }
  return at;
}

/* Where a word stands. */
struct place {
  int depth;        /* in how many braces */
  bool macro;       /* in a directive */
  unsigned refused; /* things so far that have no form here */
  int launches;     /* open ones, `<<<` */
};

/* The words in front of a type, in any order. */
struct specifiers {
  bool shared, external, constant, changing;
  int others; /* words besides __shared__ */
};

/* Reads them at `at`; gives the type's place. */
static const char *read_specifiers(const char *at, struct specifiers *out) {
  *out = (struct specifiers){.shared = false};
  for (const char *end;; at = skip_space(end)) {
    if ((end = after_word(at, "__shared__"))) {
      out->shared = true;
      continue;
    }
    if ((end = after_word(at, "extern")))
      out->external = true;
    else if ((end = after_word(at, "const")))
      out->constant = true;
    else if ((end = after_word(at, "volatile")))
      out->changing = true;
    else if (!(end = after_word(at, "static")))
      return at;
    out->others++;
  }
}

static void keep_newlines(const char *at, const char *end, struct text *out) {
  for (; at < end; at++)
    if (*at == '\n') text_add_char(out, '\n');
}

/* Whether it stands behind the type: `extern float __shared__ name[];`. */
static bool is_shared_later(const char *type) {
  size_t length = strcspn(type, "[;({=\"");
  for (size_t i = 1; type[length] == '[' && i < length; i++)
    if (!is_word(type[i - 1]) && after_word(type + i, "__shared__")) return true;
  return false;
}

static void add_type(const char *type, const char *end, struct text *out) {
  for (const char *at = type, *past; at < end; at++) {
    bool begins = at > type && !is_word(at[-1]);
    if (begins && (past = after_word(at, "__shared__")) && past <= end) at = past;
    if (begins && (past = skip_alignment(at)) > at && past <= end) at = past;
    if (at < end) text_add_char(out, *at);
  }
}

/* Past `[4] [8]`. */
static const char *skip_bounds(const char *at) {
  for (const char *end; *(end = skip_space(at)) == '[' && (end = strchr(end, ']'));) at = end + 1;
  return at;
}

/* Where the declaration ends: its semicolon, or in a macro perhaps the last line. */
static const char *find_end(const char *at, bool macro) {
  const char *end = at + strcspn(at, ";");
  if (!macro) return end;
  const char *line = at;
  while (*(line += strcspn(line, "\n")) && line > at && line[-1] == '\\') line++;
  return end < line ? end : line;
}

/* `extern __shared__ float name[];` at `at`, whose type is given: writes its replacement and gives the place after it; NULL
   when there is no array. Inside a function a plain pointer; at file scope a reference to the pointer, which is set at each
   launch. Bounds behind the first are the type's: `float name[][8]` is `float (*name)[8]`. */
static const char *translate_dynamic(const char *at, const char *type, const struct specifiers *specifiers,
                                     const struct place *place, struct text *out) {
  type = skip_alignment(type);
  const char *bracket = type + strcspn(type, "[;");
  if (*bracket != '[') return NULL;
  const char *name_end = bracket;
  while (name_end > type && isspace((unsigned char)name_end[-1])) name_end--;
  const char *name = name_end;
  while (name > type && is_word(name[-1])) name--;
  const char *end = find_end(bracket, place->macro), *close = strchr(bracket, ']');
  if (name == type || !close || (!*end && !place->macro)) return NULL;
  const bool inside = place->depth || place->macro;
  const char *bounds = skip_space(close + 1), *past = skip_bounds(bounds);
  const char *reference = inside ? "" : "&", *words = specifiers->changing ? "volatile " : "";
  struct text plain = {0};
  add_type(type, name, &plain);
  const char *open = past > bounds ? "(" : "", *shut = past > bounds ? ")" : "";
  text_addf(out, "%s%s%s%s*%s%.*s%s%.*s = (%s%s%s*%s%s%.*s)cugen_builtins.dynamic_shared", inside ? "" : "static ",
            words, text_get(&plain), open, reference, (int)(name_end - name), name, shut, (int)(past - bounds),
            bounds, words, text_get(&plain), open, reference, shut, (int)(past - bounds), bounds);
  out->failed |= plain.failed;
  text_free(&plain);
  keep_newlines(at, end, out);
  return end;
}

/* `__shared__ alignas(16) float name[32];`: C++ wants the attribute elsewhere. Gives the place behind it. */
static const char *translate_alignment(const char *type, struct text *out) {
  const char *open = after_word(type, "alignas"), *end = open ? skip_parentheses(skip_space(open)) : type;
  if (!open) return type;
  open = skip_space(open);
  const int length = (int)(end - open);
  /* Of what may be a type, the alignment: of an expression it would be another. */
  const bool type_name = length > 3 && !isdigit((unsigned char)open[1]) &&
                         (isdigit((unsigned char)end[-2]) || memchr(open, ':', (size_t)length));
  text_addf(out, type_name ? "__align__(alignof%.*s) " : "__align__%.*s ", length, open);
  return end;
}

/* A declaration of shared memory that begins at `at`: what the macro __shared__ does not take. That means `static` and, in a
   watched kernel, for a variable of its own, so that it is to be the first word. NULL: nothing is to be done. */
static const char *translate_shared(const char *at, const struct place *place, struct text *out) {
  struct specifiers specifiers;
  const char *type = read_specifiers(at, &specifiers);
  if (specifiers.external && is_shared_later(type)) specifiers.shared = true;
  if (!specifiers.shared || (!specifiers.others && !after_word(type, "alignas"))) return NULL;
  if (specifiers.external) return translate_dynamic(at, type, &specifiers, place, out);
  text_addf(out, "__shared__ %s%s", specifiers.constant ? "const " : "", specifiers.changing ? "volatile " : "");
  const char *past = translate_alignment(type, out);
  keep_newlines(at, past, out);
  return past;
}

/* A launch by a kernel: what compiles it is refused, by a call of a function whose attribute says so. `k<<<1, 32>>>(x)` becomes
   `k, ({ refused }), cugen_ignored(1, 32), cugen_ignored(x)`, on its lines. */
static const char *translate_launch(const char *at, struct place *place, struct text *out) {
  if (!strncmp(at, "<<<", 3)) {
    place->launches++;
    text_addf(out,
              ", ({ extern void cugen_refused_%u() __attribute__((__error__(\"a launch by a kernel (dynamic "
              "parallelism) has no "
              "form on the cpu device\"))); cugen_refused_%u(); 0; }), cugen_ignored(",
              place->refused, place->refused);
    place->refused++;
    return at + 3;
  }
  if (!place->launches || strncmp(at, ">>>", 3) != 0) return NULL;
  place->launches--;
  text_add(out, "), cugen_ignored");
  return at + 3;
}

static const char *translate_word(const char *at, struct place *place, struct text *out) {
  const char *past = translate_shared(at, place, out);
  if (!past && (*at == 'a' || *at == '_') && (place->depth || place->macro))
    past = asm_translate(at, &place->refused, out);
  return past;
}

/* Whether the line that `at` begins is a directive's, and not a continued one. */
static bool begins_directive(const char *at) {
  while (*at == ' ' || *at == '\t') at++;
  return *at == '#';
}

/* Braces that are open, the outer ones of them namespaces; and of the declaration that goes on outside of functions, whether it is
   of shared memory, or a constant and its name. */
struct scope {
  int depth, spaces;
  bool space; /* the next brace is a namespace's */
  bool shared, constant;
  const char *name;
  size_t name_length;
};

static bool is_outside(const struct scope *s) {
  return s->depth == s->spaces;
}

static void see_word(struct scope *s, const char *word, const char *end) {
  const size_t length = (size_t)(end - word);
  const char *next = skip_space(end);
  s->space |= after_word(word, "namespace") == end;
  if (after_word(word, "extern") == end && *next == '"') s->space |= *skip_space(text_skip_opaque(next)) == '{';
  if (!is_outside(s)) return;
  s->shared |= after_word(word, "__shared__") == end;
  s->constant |= after_word(word, "__constant__") == end;
  const bool named = s->constant && !s->name && strchr("[=;,{", *next);
  if (named) s->name = word, s->name_length = length;
}

/* What a watched kernel's symbols are to say of the declaration that has ended: shim/language.h. */
static void end_declaration(struct scope *s, struct text *out) {
  if (s->shared) text_add(out, " CUGEN_SHARED_END");
  if (s->constant && s->name) text_addf(out, " CUGEN_CONSTANT(%.*s)", (int)s->name_length, s->name);
  *s = (struct scope){.depth = s->depth, .spaces = s->spaces};
}

static void see_sign(struct scope *s, char sign, struct text *out) {
  if (sign == '{') {
    s->spaces += s->space && is_outside(s);
    s->depth++;
    s->space = false;
  }
  if (sign == '}') s->depth--;
  if (s->spaces > s->depth) s->spaces = s->depth;
  if (sign == ';' && is_outside(s)) end_declaration(s, out);
}

void cpu_translate(const char *source, struct text *out) {
  struct place place = {.macro = begins_directive(source)};
  struct scope scope = {.depth = 0};
  for (const char *at = source; *at;) {
    const char *end = text_skip_opaque(at);
    if (end == at && is_word(*at)) {
      const char *past = translate_word(at, &place, out);
      if (past) {
        scope.shared |= is_outside(&scope) && !place.macro && *skip_space(past) != ';' &&
                        memmem(at, (size_t)(past - at), "__shared__", 10);
        at = past;
        continue;
      }
      while (is_word(*end)) end++;
      if (!place.macro) see_word(&scope, at, end);
    }
    const char *launch = end == at && (*at == '<' || *at == '>') ? translate_launch(at, &place, out) : NULL;
    if (launch) {
      at = launch;
      continue;
    }
    const bool sign = end == at;
    if (sign && *at == '\n' && (at == source || at[-1] != '\\')) place.macro = begins_directive(at + 1);
    if (sign) end++;
    text_add_n(out, at, (size_t)(end - at));
    if (sign && !place.macro) see_sign(&scope, *at, out);
    place.depth = !is_outside(&scope);
    at = end;
  }
}

/* The kernel whose declaration goes on at `at`: its name, behind its type and other attributes. */
static const char *kernel_name(const char *at, size_t *length) {
  static const char *const words[] = {"void", "__global__", "static", "__launch_bounds__", "__maxnreg__"};
  for (at = skip_space(at); *at; at = skip_space(at)) {
    const char *end = at;
    while (is_word(*end)) end++;
    size_t word = 0;
    while (word < sizeof words / sizeof *words && after_word(at, words[word]) != end) word++;
    *length = (size_t)(end - at);
    if (end == at || word == sizeof words / sizeof *words) return at;
    at = *skip_space(end) == '(' ? skip_parentheses(skip_space(end)) : end;
  }
  return at;
}

/* How many blocks a cluster of the entry's kernel has: its __cluster_dims__, whose names are known behind the source too. */
static void write_cluster(const char *source, const char *entry, size_t index, struct text *out) {
  static const char word[] = "__cluster_dims__";
  size_t wanted = strcspn(entry, "<");
  for (const char *at = source; (at = strstr(at, word)) != NULL; at++) {
    const char *open = skip_space(at + sizeof word - 1), *past = skip_parentheses(open);
    size_t length = 0;
    const char *name = kernel_name(past, &length);
    if (*open != '(' || length != wanted || strncmp(name, entry, wanted) != 0) continue;
    text_addf(out, " CUGEN_CLUSTER(%zu, %.*s)", index, (int)(past - open) - 2, open + 1);
    return;
  }
}

/* Parts of the shim that take long to parse, and words without which a source has no use for them. */
static const struct {
  const char *macro;
  const char *words[16];
} parts[] = {
    {"CUGEN_SMALL_FLOATS", {"half", "bf16", "bfloat16", "fp16", "fp8", "##"}}, /* a name may be pasted */
    {"CUGEN_SIMD", {"__v", "##"}},
    {"CUGEN_ROUNDING", {"_rd", "_ru", "_rz", "##"}},
    {"CUGEN_RUNTIME_TYPES",
     {"cudaStream", "cudaEvent", "cudaGraph", "cudaArray", "cudaE", "cudaMemcpy", "cudaRead", "cudaAddress",
      "cudaFilter", "cudaP", "cudaChannel", "cudaMipmapped", "cudaSuccess", "cudaTextureReadMode"}},
    {"CUGEN_VIRTUAL", {"virtual"}},
    {"CUGEN_COMPLEX", {"complex"}},
    {"CUGEN_PTX", {"asm"}},
    {"CUGEN_SURFACES", {"surf"}},
    {"CUGEN_LAUNCHES", {"<<<"}},
    {"CUGEN_NEW", {"new ", "new(", "delete"}},
};

/* Headers of the toolkit that compile here as they are, where there is one. */
static const char *const toolkit_words[] = {"curand_kernel", "curand_", NULL};

static bool mentions(const char *text, const char *const *words) {
  for (; *words; words++)
    if (strstr(text, *words)) return true;
  return false;
}

static void write_parts(const struct compile_request *request, struct text *out) {
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    bool has = mentions(request->source, parts[i].words);
    for (size_t j = 0; j < request->entry_count && !has; j++) has = mentions(request->entries[j], parts[i].words);
    if (has) text_addf(out, "#define %s 1\n", parts[i].macro);
  }
}

static void write_unit(const struct compile_request *request, struct text *out) {
  if (request->watched) text_add(out, "#define CUGEN_WATCH 1\n");
  write_parts(request, out);
  text_add_n(out, cpu_shim_text, cpu_shim_length);
  text_addf(out, "\n#line 1 \"%s\"\n", request->name);
  cpu_translate(request->source, out);
  text_add(out, "\n#line 1 \"" CPU_ENTRIES_NAME "\"\n");
  if (strstr(request->source, "this_grid") || strstr(request->source, "grid_group"))
    text_add(out, "CUGEN_COOPERATIVE\n");
  if (strstr(request->source, "align")) text_add(out, "CUGEN_ALIGNED\n");
  for (size_t i = 0; i < request->entry_count; i++) {
    text_addf(out, "CUGEN_ENTRY(%zu, %s)", i, request->entries[i]);
    write_cluster(request->source, request->entries[i], i, out);
    text_add_char(out, '\n');
  }
  text_add(out, "CUGEN_SHARED_END\n");
}

/* ---- The compiler ---- */

/* What the pass that moves code towards its use writes about it, one file for each time that it runs. */
static const char *const sink_passes[] = {"sink1", "sink2"};
enum { SINK_PASSES = sizeof sink_passes / sizeof *sink_passes };

struct job {
  struct text folder, headers, source, object, symbols, standard, log;
  struct text toolkit;            /* its headers, for what the cpu device has no own of */
  struct text dumps[SINK_PASSES]; /* options */
};

static void job_free(struct job *job) {
  if (job->folder.length) folder_remove(text_get(&job->folder));
  text_free(&job->folder);
  text_free(&job->headers);
  text_free(&job->toolkit);
  text_free(&job->source);
  text_free(&job->object);
  text_free(&job->symbols);
  text_free(&job->standard);
  text_free(&job->log);
  for (size_t i = 0; i < SINK_PASSES; i++) text_free(&job->dumps[i]);
}

static int write_file(const struct job *job, const char *name, const struct text *content, cugen_error *err) {
  struct text path = {0};
  text_addf(&path, "%s/%s", text_get(&job->folder), name);
  int status = path.failed || content->failed ? error_memory(err)
                                              : file_put(text_get(&path), text_get(content), content->length, err);
  text_free(&path);
  return status;
}

static int write_plain_header(const struct job *job, const char *name, const char *content, cugen_error *err) {
  struct text text = {0};
  text_add(&text, content);
  int status = write_file(job, name, &text, err);
  text_free(&text);
  return status;
}

/* One that the source may include: it mentions the folder, or the name in front of ".h". Our own are included by the others. */
static bool wants_header(const char *source, const char *name) {
  struct text family = {0};
  size_t length = strcspn(name, "/.");
  text_add_n(&family, name, length + (name[length] == '/'));
  const bool of_curand = strstr(source, "curand") && (!strncmp(name, "cuda/", 5) || !strncmp(name, "nv/", 3));
  const bool wants = !strncmp(name, "cugen_", 6) || of_curand || strstr(source, text_get(&family));
  text_free(&family);
  return wants;
}

static int write_header(const struct job *job, const struct cpu_header *header, cugen_error *err) {
  struct text text = {0}, path = {0};
  text_addf(&path, "%s/" CPU_HEADERS_NAME, text_get(&job->folder));
  int status = folder_make(text_get(&path), err);
  text_clear(&path);
  for (const char *slash = header->name; !status && (slash = strchr(slash, '/')); slash++) {
    struct text folder = {0};
    text_addf(&folder, "%s/" CPU_HEADERS_NAME "/%.*s", text_get(&job->folder), (int)(slash - header->name),
              header->name);
    status = folder.failed ? error_memory(err) : folder_make(text_get(&folder), err);
    text_free(&folder);
  }
  text_add_n(&text, header->text, header->length);
  text_addf(&path, CPU_HEADERS_NAME "/%s", header->name);
  if (!status) status = path.failed ? error_memory(err) : write_file(job, text_get(&path), &text, err);
  text_free(&text);
  text_free(&path);
  return status;
}

/* Those that the source can include: a name is written out (base/includes.h), and making files takes a good part of a small
   compile. */
static int write_headers(const char *source, const struct job *job, cugen_error *err) {
  int status = CUGEN_OK;
  if (!strstr(source, "include") && !strstr(source, "\\\n")) return CUGEN_OK; /* nor in parts */
  for (size_t i = 0; i < sizeof empty_headers / sizeof *empty_headers && !status; i++)
    if (strstr(source, empty_headers[i])) status = write_plain_header(job, empty_headers[i], "", err);
  for (size_t i = 0; i < sizeof host_headers / sizeof *host_headers && !status; i++)
    status = write_plain_header(job, host_headers[i].name,
                                host_headers[i].standard ? standard_text(host_headers[i].name) : "", err);
  for (const struct cpu_header *header = cpu_headers; header->name && !status; header++)
    if (wants_header(source, header->name)) status = write_header(job, header, err);
  return status;
}

static int write_files(const struct compile_request *request, struct job *job, cugen_error *err) {
  struct text unit = {0}, script = {0};
  int status = folder_temporary(&job->folder, err);
  text_addf(&job->source, "%s/" CPU_UNIT_NAME, text_get(&job->folder));
  text_addf(&job->object, "%s/kernel.so", text_get(&job->folder));
  text_addf(&job->headers, "%s/" CPU_HEADERS_NAME, text_get(&job->folder));
  if (mentions(request->source, toolkit_words)) text_add(&job->toolkit, text_get(&request->toolkit->include));
  write_unit(request, &unit);
  if (!status && !unit.failed)
    status = includes_check(text_get(&unit), err); /* moving words about may have made one */
  if (!status) status = write_file(job, CPU_UNIT_NAME, &unit, err);
  if (!status) status = write_headers(request->source, job, err);
  text_add(&script, symbols);
  if (!status) status = write_file(job, "symbols", &script, err);
  for (size_t i = 0; i < SINK_PASSES; i++)
    text_addf(&job->dumps[i], "-fdump-tree-%s=%s/%s", sink_passes[i], text_get(&job->folder), sink_passes[i]);
  text_addf(&job->symbols, "-Wl,--version-script=%s/symbols", text_get(&job->folder));
  text_free(&script);
  text_free(&unit);
  return status;
}

/* The assembler quotes what it refuses: lines of any file that `.include` in an asm names. Of them stays what the source says
   itself: the instruction's name. */
static size_t without_quote(const char *source, const char *line, size_t length) {
  static const char mark[] = ": Error: ";
  const char *at = memmem(line, length, mark, sizeof mark - 1), *end = line + length;
  if (!at) return length;
  const char *open = memchr(at, '`', (size_t)(end - at)), *word = open ? open + 1 : at;
  size_t word_length = 0;
  while (open && word + word_length < end && (is_word(word[word_length]) || word[word_length] == '.')) word_length++;
  const bool own = word_length && memmem(source, strlen(source), word, word_length);
  return own ? (size_t)(word - line) + word_length : (size_t)(at - line) + sizeof mark - 3;
}

static void add_line(struct text *out, const char *line, size_t length, const char *folder) {
  const char *at = line, *end = line + length, *found;
  size_t skip = strlen(folder);
  while ((found = strstr(at, folder)) && found < end) {
    text_add_n(out, at, (size_t)(found - at));
    at = found + skip + (found[skip] == '/');
  }
  text_add_n(out, at, (size_t)(end - at));
  text_add_char(out, '\n');
}

/* gcc quotes in UTF-8 where the locale has that; a terminal, or a table that counts bytes, perhaps does not. */
static void plain_quotes(struct text *text) {
  size_t to = 0;
  for (size_t at = 0; at < text->length; at++) {
    const char *c = text->data + at;
    const bool quote = !strncmp(c, "\xe2\x80\x98", 3) || !strncmp(c, "\xe2\x80\x99", 3);
    text->data[to++] = quote ? '\'' : *c;
    at += quote ? 2 : 0;
  }
  if (text->data) text->data[text->length = to] = '\0';
}

/* "In file included from a.h:3," and its like say where a diagnostic is: of them *from keeps the last place. */
static bool is_context(const char *line, size_t length, struct text *from) {
  static const char *const words[] = {": In function ", ": In member function ", ": At global scope:"};
  static const char mark[] = " from ";
  const char *at = memmem(line, length, mark, sizeof mark - 1);
  if (at && (!strncmp(line, "In file included", 16) || *line == ' ') && strchr(",:", line[length - 1])) {
    at += sizeof mark - 1;
    text_clear(from);
    text_add_n(from, at, length - 1 - (size_t)(at - line));
    text_add_char(from, ':');
    return true;
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (memmem(line, length, words[i], strlen(words[i]))) return true;
  return false;
}

/* "c++: internal compiler error: File size limit exceeded signal terminated program as", of a part of g++ that a limit ended; what
   follows asks for a report. NULL: nothing did. */
static const char *find_crash(const char *log, size_t *length) {
  const char *mark = strstr(log, " signal terminated program ");
  const char *begin = mark;
  while (begin && begin > log && begin[-1] != ':' && begin[-1] != '\n') begin--;
  if (!begin) return NULL;
  begin = skip_space(begin);
  *length = begin < mark ? (size_t)(mark - begin) : 0;
  return begin;
}

static int crashed(const struct compile_request *request, const char *signal, size_t length, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_COMPILE,
                   "%s: the compiler crashed: %.*s; it may use %d MB of memory, and write files of as many",
                   request->name, (int)(length < 64 ? length : 64), signal, COMPILER_MEMORY_MB);
}

/* "k.cu:3:7: error: call to 'cugen_refused_0' declared with attribute error: the instruction 'x' has no form": of it what is the
   user's. */
static void take_refusal(struct text *line) {
  static const char call[] = "call to ";
  const char *text = text_get(line), *begin = strstr(text, call), *name = strstr(text, "cugen_refused_");
  const char *end =
      begin && name ? strstr(name, ": ") : NULL; /* behind "attribute error" or, of clang++, "'error' attribute" */
  if (!end) return;
  const char *column = strstr(text, ": error: "); /* that of the call, which is none of the source's */
  struct text out = {0};
  while (column && column > text && isdigit((unsigned char)column[-1])) column--;
  text_add_n(&out, text, column && column > text && column < begin ? (size_t)(column - 1 - text) : 0);
  text_addf(&out, ": error: %s", end + 2);
  text_free(line);
  *line = out;
}

/* gcc and clang name the construct, the assembler the instruction. */
static cugen_cause cause_of(const char *diagnostics) {
  const bool assembly = strstr(diagnostics, "asm") || strstr(diagnostics, "no such instruction") ||
                        strstr(diagnostics, "has no form on the cpu device");
  return assembly ? CUGEN_CAUSE_ASSEMBLY : CUGEN_CAUSE_NONE;
}

/* The first diagnostics, without the folder's name. */
static int refuse(const struct job *job, const struct compile_request *request, const char *compiler, int code,
                  cugen_error *err) {
  enum { MOST_LINES = 6 };
  struct advice advice = {.request = request, .cpu = true};
  struct text text = {0}, from = {0}, plain = {0};
  size_t crash_length = 0;
  const char *crash = find_crash(text_get(&job->log), &crash_length);
  if (crash) return crashed(request, crash, crash_length, err);
  int lines = 0;
  for (const char *line = text_get(&job->log); *line && lines < MOST_LINES && !advice.ends;) {
    size_t length = strcspn(line, "\n");
    if (length && !is_context(line, length, &from)) {
      text_clear(&plain);
      add_line(&plain, line, without_quote(request->source, line, length), text_get(&job->folder));
      plain_quotes(&plain);
      take_refusal(&plain);
      advice_add(&advice, text_get(&plain), plain.length - 1, text_get(&from), &text);
      text_add_char(&text, '\n');
      lines++;
    }
    line += length + (line[length] == '\n');
  }
  text_free(&from);
  text_free(&plain);
  while (text.length && text.data[text.length - 1] == '\n') text.data[--text.length] = '\0';
  if (!text.length)
    text_addf(&text, "%s ended with exit code %d and said nothing: is it a C++ compiler?", compiler, code);
  int status = error_set_cause(err, CUGEN_ERROR_COMPILE, cause_of(text_get(&text)),
                               "the C++ compiler refused the source:\n%s", text_get(&text));
  error_place(err, advice.where.file, advice.where.line);
  text_free(&text);
  return status;
}

/* Its first line, as what toolkit_library keeps: a compiler is asked once. */
static int ask_compiler(const struct toolkit *toolkit, void **table, cugen_error *err) {
  const char *const argv[] = {text_get(&toolkit->compiler), "--version", NULL};
  struct text version = {0}, line = {0};
  int code, status = CUGEN_OK;
  if (!toolkit->compiler.length) return toolkit_missing(toolkit, "compiler", err);
  status = process_run(argv, 10, &version, &code, err);
  text_add_n(&line, text_get(&version), strcspn(text_get(&version), "\n"));
  text_free(&version);
  *table = status ? NULL : text_take(&line);
  text_free(&line);
  return status || *table ? status : error_memory(err);
}

static bool is_clang(const struct toolkit *toolkit) {
  const void *line;
  cugen_error ignored;
  return toolkit_library(toolkit, TOOLKIT_COMPILER, ask_compiler, &line, &ignored) == CUGEN_OK &&
         strstr(line, "clang");
}

static bool has_wide_types(const char *source) {
  for (size_t i = 0; i < sizeof wide_types / sizeof *wide_types; i++)
    if (strstr(source, wide_types[i])) return true;
  return false;
}

/* Of the options the language's version alone means something here: the others are about a GPU's speed, and -ffast-math would
   let the compiler take NaN for impossible, which poisoned outputs are. */
static int take_standard(const struct compile_request *request, struct job *job, cugen_error *err) {
  const char *standard = request->options ? strstr(request->options, "--std=") : NULL;
  if (standard) text_add_n(&job->standard, standard + 1, strcspn(standard, " ") - 1);
  return job->standard.failed ? error_memory(err) : CUGEN_OK;
}

/* A place may be no multiple of what its type needs only where a pointer becomes one of another type. */
static bool has_casts(const char *source) {
  return strstr(source, "*)") || strstr(source, "reinterpret_cast");
}

/* Whether it has moved a read of memory: "Sinking # VUSE <.MEM_30>". */
static bool has_moved(const struct job *job) {
  static const char mark[] = "Sinking # VUSE ";
  bool moved = false;
  for (size_t i = 0; i < SINK_PASSES && !moved; i++) {
    struct text path = {0}, dump = {0};
    cugen_error ignored;
    text_addf(&path, "%s/%s", text_get(&job->folder), sink_passes[i]);
    moved = file_read(text_get(&path), &dump, &ignored) == CUGEN_OK && strstr(text_get(&dump), mark);
    text_free(&path);
    text_free(&dump);
  }
  return moved;
}

/* What the compiler is called with, but for what it makes of the source. */
static size_t add_flags(const struct compile_request *request, const struct job *job, bool clang, const char **argv) {
  size_t n = 0;
  for (size_t i = 0; i < FLAG_COUNT; i++) argv[n++] = flags[i];
  const char *const *const own = clang ? clang_flags : watched_flags;
  const size_t count = !request->watched ? 0 : clang ? CLANG_COUNT : WATCHED_COUNT;
  for (size_t i = 0; i < count; i++) argv[n++] = own[i];
  for (size_t i = 0; i < GCC_COUNT && !clang && !request->watched; i++) argv[n++] = gcc_flags[i];
  for (size_t i = 0; i < AT_SOURCE_COUNT && request->at_source && !clang; i++) argv[n++] = at_source_flags[i];
  if (request->watched && !clang && !request->at_source) {
    if (has_wide_types(request->source)) argv[n++] = wide_flag;
    for (size_t i = 0; i < SINK_PASSES; i++) argv[n++] = text_get(&job->dumps[i]);
  }
  /* With a quoted line comes the file that a #line of the source names, whatever that is. */
  argv[n++] = clang ? "-fno-caret-diagnostics" : "-fno-diagnostics-show-caret";
  if (job->standard.length) argv[n++] = text_get(&job->standard); /* of two the later one counts */
  argv[n++] = "-I";
  argv[n++] = text_get(&job->folder);
  argv[n++] = "-I";
  argv[n++] = text_get(&job->headers);
  if (job->toolkit.length) argv[n++] = "-idirafter", argv[n++] = text_get(&job->toolkit);
  return n;
}

static int run(const struct compile_request *request, struct job *job, const char *const *argv, int jail, int *code,
               cugen_error *err) {
  struct text temporary = {0};
  text_addf(&temporary, "TMPDIR=%s", text_get(&job->folder));
  /* A cache of compiles wants folders of its own; cugen keeps what was compiled itself. */
  const char *const also[] = {text_get(&temporary), "CCACHE_DISABLE=1", "LC_ALL=C", NULL}; /* plain quotes */
  const struct process_limits limits = {.seconds = request->timeout,
                                        .memory_mb = COMPILER_MEMORY_MB,
                                        .stop = request->stop,
                                        .jail = jail,
                                        .also = also};
  int status = temporary.failed ? error_memory(err) : process_run_within(argv, &limits, &job->log, code, err);
  text_free(&temporary);
  if (status != CUGEN_ERROR_DEVICE) return status;
  return error_set_cause(err, CUGEN_ERROR_COMPILE, CUGEN_CAUSE_COMPILE_TIME, "%s: " COMPILE_LATE "%g s",
                         request->name, request->timeout);
}

/* From the source, or from an assembly. */
static int run_whole(const struct compile_request *request, struct job *job, bool clang, const char *input, int jail,
                     int *code, cugen_error *err) {
  const char *argv[FLAG_COUNT + GCC_COUNT + OWN_MOST + SINK_PASSES + AT_SOURCE_COUNT + 16] = {
      text_get(&request->toolkit->compiler)};
  size_t n = 1;
  n += add_flags(request, job, clang, argv + n);
  argv[n++] = text_get(&job->symbols);
  argv[n++] = "-o";
  argv[n++] = text_get(&job->object);
  argv[n++] = input;
  if (request->watched) argv[n++] = "-lm", argv[n++] = "-lc";
  argv[n] = NULL;
  return run(request, job, argv, jail, code, err);
}

/* What it includes is looked at before a word of it is passed on, the assembly before it is assembled. */
static int run_unjailed(const struct compile_request *request, struct job *job, bool clang,
                        const struct tool_places *places, int *code, cugen_error *err) {
  const char *argv[FLAG_COUNT + GCC_COUNT + OWN_MOST + SINK_PASSES + AT_SOURCE_COUNT + 16] = {
      text_get(&request->toolkit->compiler)};
  struct text assembly = {0};
  size_t n = 1;
  text_addf(&assembly, "%s/kernel.s", text_get(&job->folder));
  n += add_flags(request, job, clang, argv + n);
  argv[n++] = "-S";
  argv[n++] = "-H";
  argv[n++] = "-o";
  argv[n++] = text_get(&assembly);
  argv[n++] = text_get(&job->source);
  argv[n] = NULL;
  int status = assembly.failed ? error_memory(err) : run(request, job, argv, -1, code, err);
  if (!status) status = unjailed_check_log(&job->log, places->list, TOOL_PLACES, err);
  if (!status && !*code) status = unjailed_check_assembly(text_get(&assembly), err);
  if (!status && !*code) status = run_whole(request, job, clang, text_get(&assembly), -1, code, err);
  text_free(&assembly);
  return status;
}

/* What runs a destructor when a library is unloaded needs this symbol, which the start files have. */
static bool needs_destructors(const char *log) {
  return strstr(log, "undefined") && strstr(log, "__dso_handle");
}

static int run_compiler(const struct compile_request *request, struct job *job, cugen_error *err) {
  struct tool_places places;
  const bool clang = is_clang(request->toolkit);
  int code = 0;
  tool_places_find(text_get(&request->toolkit->compiler), text_get(&job->folder), JAIL_WRITE, &places);
  const int jail = jail_make(places.list, TOOL_PLACES);
  int status = jail > 0 ? run_whole(request, job, clang, text_get(&job->source), jail, &code, err)
                        : run_unjailed(request, job, clang, &places, &code, err);
  if (jail > 0) close(jail);
  tool_places_free(&places);
  if (status) return status;
  if (code && needs_destructors(text_get(&job->log))) return object_refuse(err);
  return code || !file_exists(text_get(&job->object))
             ? refuse(job, request, text_get(&request->toolkit->compiler), code, err)
             : CUGEN_OK;
}

static int fill_entries(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  for (size_t i = 0; i < request->entry_count; i++) {
    struct text name = {0};
    text_addf(&name, "cugen_entry_%zu", i);
    out->entries[i] = text_take(&name);
    if (!out->entries[i]) return error_memory(err);
    out->resources[i].max_threads = 1024;
    out->entry_count = i + 1;
  }
  out->log = strdup("");
  return out->log ? CUGEN_OK : error_memory(err);
}

static int take_image(const struct job *job, bool watched, struct compiled *out, cugen_error *err) {
  struct text image = {0};
  struct stat info;
  if (stat(text_get(&job->object), &info) == 0 && info.st_size > (off_t)COMPILER_IMAGE_MB << 20)
    return error_set(err, CUGEN_ERROR_COMPILE, "the compiled code has more than the %d MB that are taken",
                     COMPILER_IMAGE_MB);
  int status = file_read(text_get(&job->object), &image, err);
  if (!status) status = object_check(text_get(&image), image.length, watched, err);
  if (status) {
    text_free(&image);
    return status;
  }
  out->image_length = image.length;
  out->image_hash = hash_bytes(text_get(&image), image.length);
  out->image = text_take(&image);
  return out->image ? CUGEN_OK : error_memory(err);
}

int cpu_compile(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  *out = (struct compiled){0};
  if (!request->toolkit->compiler.length) return toolkit_missing(request->toolkit, "compiler", err);
  struct job job = {0};
  int status = includes_check(request->source, err);
  if (!status) status = write_files(request, &job, err);
  if (!status) status = take_standard(request, &job, err);
  if (!status) status = run_compiler(request, &job, err);
  if (!status) status = take_image(&job, request->watched, out, err);
  if (!status && request->watched && !request->at_source && !is_clang(request->toolkit))
    out->moved = has_moved(&job) || (has_casts(request->source) && !has_wide_types(request->source));
  if (!status) status = fill_entries(request, out, err);
  if (status) compiled_free(out);
  job_free(&job);
  return status;
}

void cpu_add_code(const char *at, struct text *out) {
  while (*at) {
    const char *end = at + strcspn(at, "/\"'\n");
    if (end == at) end = text_skip_opaque(at);
    const bool is_comment = end > at && at[0] == '/';
    if (end == at && *at == '\n') {
      while (out->length && isblank((unsigned char)out->data[out->length - 1])) out->data[--out->length] = '\0';
      if (out->length && out->data[out->length - 1] != '\n') text_add_char(out, '\n');
      at = skip_space(at);
      continue;
    }
    if (end == at) end++;
    if (is_comment)
      text_add_char(out, ' ');
    else
      text_add_n(out, at, (size_t)(end - at));
    at = end;
  }
}

void cpu_compiler_identity(const struct toolkit *toolkit, struct text *out) {
  const void *line;
  cugen_error ignored;
  bool known = toolkit_library(toolkit, TOOLKIT_COMPILER, ask_compiler, &line, &ignored) == CUGEN_OK;
  text_add(out, known ? line : "no C++ compiler");
  for (size_t i = 0; i < FLAG_COUNT; i++) text_addf(out, " %s", flags[i]);
  for (size_t i = 0; i < GCC_COUNT && known && !strstr(line, "clang"); i++) text_addf(out, " %s", gcc_flags[i]);
  struct text shim = {0};
  cpu_add_code(cpu_shim_text, &shim);
  for (const struct cpu_header *header = cpu_headers; header->name; header++) cpu_add_code(header->text, &shim);
  text_addf(out, " -include %.8s", hash_bytes(text_get(&shim), shim.length).hex); /* what is in front of a source */
  out->failed |= shim.failed;
  text_free(&shim);
}

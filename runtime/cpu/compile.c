/* Compiling for the cpu device: the compiler, its options, and what it makes; see compile.h. What it is given is unit.c's, what it
   says diagnostics.c's. */
#include "compile.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/includes.h"
#include "base/jail.h"
#include "base/system.h"
#include "diagnostics.h"
#include "headers.h"
#include "object.h"
#include "runtime/compile/advice.h"
#include "runtime/compile/kept.h"
#include "runtime/compile/toolkit.h"
#include "tools.h"
#include "unit.h"
#include "unjailed.h"

extern const char cpu_shim_text[]; /* abi.h and the parts of cuda_shim.h, embedded by the build */

/* -O2: at -O1 a register-blocked matmul compiles in 0.26 s instead of 0.33 s but runs four times longer. Hidden symbols
   keep a template's __shared__ arrays the object's own. Warnings are NVRTC's business, but -w would keep an array of variable
   length from being an error; see unit.c and diagnostics.c. */
static const char *const flags[] = {"-std=c++17",
                                    "-O2",
                                    "-march=native",
                                    "-fPIC",
                                    "-shared",
                                    "-nostartfiles", /* what runs by being loaded is the source's: see object.h */
                                    "-fvisibility=hidden",
                                    "-fno-semantic-interposition",
                                    "-Wl,-Bsymbolic", /* an application's own symbols are not the kernel's */
                                    "-fstack-clash-protection",
                                    "-fno-strict-aliasing",
                                    "-ffp-contract=fast",
                                    "-fno-math-errno",
                                    "-fno-finite-loops", /* a loop that waits for another thread, whose atomics are plain accesses here, stays */
                                    "-fno-exceptions",
                                    "-fno-rtti"};
enum { FLAG_COUNT = sizeof flags / sizeof *flags };

/* Options of g++ for kernels that are not watched. The loop vectoriser of g++ 12.2 reads a whole vector
   where a loop takes the first part of it at an unknown stride, and so reads past the end of a buffer
   that the source never leaves, as in two published matrix products. Peeled loops are left to the
   vectoriser of straight code, which reads no such gap, so register-blocked kernels stay as fast.
   Without libstdc++, which hardly a kernel calls, a small object is linked in half the time. */
static const char *const gcc_flags[] = {"-fno-tree-loop-vectorize", "-fpeel-loops", "-nodefaultlibs",
                                        "-fno-threadsafe-statics", /* one thread runs a launch */
                                        /* a division by what is known to be 0 stays one */
                                        "-fno-isolate-erroneous-paths-dereference"};
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
    "-Wl,--as-needed", /* Debian's g++ leaves it out where sanitizers are, and the linker then reads what nothing needs */
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

/* Page faults of a growing heap are most of a compile's system time: large pages, and more of them at a time (glibc 2.35). */
#define COMPILER_HEAP "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432"

/* For the linker. What is static in a template's function would be visible with it, and unique in the process
   (STB_GNU_UNIQUE): shared with the kernels loaded later, whose library then is never unloaded, and found instead of theirs. */
static const char symbols[] = "{ local: _ZZ*; };\n";

/* ---- A compile ---- */

/* What the pass that moves code towards its use writes about it, one file for each time that it runs. */
static const char *const sink_passes[] = {"sink1", "sink2"};
enum { SINK_PASSES = sizeof sink_passes / sizeof *sink_passes };

struct job {
  struct text folder, headers, source, object, symbols, standard, log;
  struct text toolkit;            /* its headers, for what the cpu device has no own of */
  struct text dumps[SINK_PASSES]; /* options */
  int hold;                       /* of the folder; -1: none */
};

static void job_free(struct job *job) {
  if (job->folder.length) folder_remove(text_get(&job->folder));
  if (job->hold >= 0) close(job->hold);
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

static int write_files(const struct compile_request *request, struct job *job, cugen_error *err) {
  struct text script = {0};
  int status = folder_temporary(&job->folder, err);
  if (status) return status;
  const char *folder = text_get(&job->folder);
  job->hold = folder_hold(folder);
  text_addf(&job->source, "%s/" CPU_UNIT_NAME, folder);
  text_addf(&job->object, "%s/kernel.so", folder);
  text_addf(&job->headers, "%s/" CPU_HEADERS_NAME, folder);
  text_addf(&script, "%s/symbols", folder);
  text_addf(&job->symbols, "--version-script=%s", text_get(&script));
  if (unit_wants_toolkit(request->source)) text_add(&job->toolkit, text_get(&request->toolkit->include));
  for (size_t i = 0; i < SINK_PASSES; i++)
    text_addf(&job->dumps[i], "-fdump-tree-%s=%s/%s", sink_passes[i], folder, sink_passes[i]);
  status = script.failed ? error_memory(err) : file_put(text_get(&script), symbols, sizeof symbols - 1, err);
  if (!status) status = unit_write(request, folder, err);
  text_free(&script);
  return status;
}

/* ---- The compiler ---- */

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
  if (clang) argv[n++] = "-Wno-everything";
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
  const char *const also[] = {text_get(&temporary), "CCACHE_DISABLE=1", "LC_ALL=C", /* plain quotes */
                              COMPILER_HEAP, NULL};
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

/* Behind the source, where default ones are left out. */
static size_t add_libraries(const struct compile_request *request, bool clang, const char **argv) {
  size_t n = 0;
  if (clang && !request->watched) return 0;
  if (!request->watched && strstr(request->source, "std::")) argv[n++] = "-lstdc++";
  argv[n++] = "-lm";
  if (!request->watched) argv[n++] = "-lgcc";
  argv[n++] = "-lc";
  return n;
}

/* From the source, or from an assembly. */
static int run_whole(const struct compile_request *request, struct job *job, bool clang, const char *input, int jail,
                     int *code, cugen_error *err) {
  const char *argv[FLAG_COUNT + GCC_COUNT + OWN_MOST + SINK_PASSES + AT_SOURCE_COUNT + 16] = {
      text_get(&request->toolkit->compiler)};
  size_t n = 1;
  n += add_flags(request, job, clang, argv + n);
  argv[n++] = "-Xlinker"; /* -Wl, would cut a folder's name at a comma */
  argv[n++] = text_get(&job->symbols);
  argv[n++] = "-o";
  argv[n++] = text_get(&job->object);
  argv[n++] = input;
  n += add_libraries(request, clang, argv + n);
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

/* ---- Whose failure it is ---- */

/* Has no kernel, and as many bytes as the largest objects of kernels. */
static const char control[] = "char cugen_control[4 << 20] = {1};\n";

/* How often the kernel has ended a process for want of memory; -1: it does not say. */
static long long memory_kills(void) {
  static const char name[] = "\noom_kill ";
  struct text counters = {0};
  cugen_error ignored;
  const char *found = file_read("/proc/vmstat", &counters, &ignored) ? NULL : strstr(text_get(&counters), name);
  const long long count = found ? strtoll(found + sizeof name - 1, NULL, 10) : -1;
  text_free(&counters);
  return count;
}

static int fail_without_memory(const struct compile_request *request, cugen_error *err) {
  return error_set(
      err, CUGEN_ERROR_MEMORY,
      "%s: the C++ compiler was killed, as the system does where memory runs out; leave more of it, or use "
      "fewer compile threads",
      request->name);
}

/* The same compiler, options and folder. *works: it has made an object, so that a failure before
   was the source's. */
static int run_control(const struct compile_request *request, struct job *job, bool clang, int jail, bool *works,
                       cugen_error *err) {
  const struct compile_request bare = {.toolkit = request->toolkit,
                                       .name = request->name,
                                       .source = control,
                                       .timeout = request->timeout,
                                       .stop = request->stop};
  struct text source = {0};
  int code = 0;
  text_restart(&job->standard);
  text_addf(&source, "%s/control.cpp", text_get(&job->folder));
  int status = source.failed ? error_memory(err) : file_put(text_get(&source), control, sizeof control - 1, err);
  remove(text_get(&job->object));
  if (!status) status = run_whole(&bare, job, clang, text_get(&source), jail, &code, err);
  text_free(&source);
  *works = status == CUGEN_ERROR_COMPILE || (!status && !code && file_exists(text_get(&job->object)));
  return status == CUGEN_ERROR_COMPILE ? CUGEN_OK : status;
}

/* A compile has failed. A compiler or a linker that is broken, a full disk, a folder that they
   cannot use: then a source without a kernel fails, too, and what is said is not the kernel's. */
static int check_surroundings(const struct compile_request *request, struct job *job, bool clang, int jail, int code,
                              long long kills, cugen_error *err) {
  struct text log = job->log;
  bool works = true;
  if (code == 128 + SIGKILL || (kills >= 0 && memory_kills() > kills)) return fail_without_memory(request, err);
  job->log = (struct text){0};
  const int status = run_control(request, job, clang, jail, &works, err);
  struct text said = job->log, parent = {0};
  job->log = log;
  path_folder(text_get(&job->folder), &parent);
  while (said.length && isspace((unsigned char)said.data[said.length - 1])) text_cut(&said, said.length - 1);
  if (!status && !works)
    error_set(
        err, CUGEN_ERROR_IO,
        "%s cannot compile here, not even a source without a kernel: %.600s\nIs it a C++ compiler, with its linker? "
        "Has %s ($TMPDIR) room, and may it be written?",
        text_get(&request->toolkit->compiler), said.length ? text_get(&said) : "it said nothing", text_get(&parent));
  text_free(&said);
  text_free(&parent);
  return status ? status : works ? CUGEN_OK : CUGEN_ERROR_IO;
}

/* What runs a destructor when a library is unloaded needs this symbol, which the start files have. */
static bool needs_destructors(const char *log) {
  return strstr(log, "undefined") && strstr(log, "__dso_handle");
}

static int run_compiler(const struct compile_request *request, struct job *job, cugen_error *err) {
  struct tool_places places;
  const bool clang = is_clang(request->toolkit);
  const long long kills = memory_kills();
  int code = 0;
  tool_places_find(text_get(&request->toolkit->compiler), text_get(&job->folder), JAIL_WRITE, &places);
  const int jail = jail_make(places.list, TOOL_PLACES);
  int status = jail > 0 ? run_whole(request, job, clang, text_get(&job->source), jail, &code, err)
                        : run_unjailed(request, job, clang, &places, &code, err);
  const bool failed = !status && (code || !file_exists(text_get(&job->object)));
  if (failed) status = check_surroundings(request, job, clang, jail, code, kills, err);
  if (jail > 0) close(jail);
  tool_places_free(&places);
  if (status || !failed) return status;
  if (needs_destructors(text_get(&job->log))) return object_refuse(err);
  return cpu_refuse(request, text_get(&job->log), text_get(&job->folder), code, err);
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

/* Behind the comments it begins with, which name the problem: the same code at other sizes. One that goes on in the next line stays. */
static const char *behind_head(const char *source) {
  for (;;) {
    const size_t length = strcspn(source, "\n");
    if (strncmp(source, "//", 2) != 0 || source[length] != '\n' || source[length - 1] == '\\') return source;
    source += length + 1;
  }
}

static size_t lines_between(const char *at, const char *end) {
  size_t lines = 0;
  for (; at < end; at++) lines += *at == '\n';
  return lines;
}

/* All that an image depends on, beside the toolkit. */
static int image_key(const struct compile_request *request, struct hash *out, cugen_error *err) {
  struct text key = {0};
  const char *code = behind_head(request->source);
  text_addf(&key, "%d %d %s\n%s\n", request->watched, request->at_source, request->name,
            request->options ? request->options : "");
  for (size_t i = 0; i < request->entry_count; i++) text_addf(&key, "%s\n", request->entries[i]);
  text_addf(&key, "\n%zu\n%s", lines_between(request->source, code), code);
  *out = hash_bytes(text_get(&key), key.length);
  const int status = key.failed ? error_memory(err) : CUGEN_OK;
  text_free(&key);
  return status;
}

static int compile(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  struct job job = {.hold = -1};
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

int cpu_compile(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  struct hash key;
  *out = (struct compiled){0};
  if (!request->toolkit->compiler.length) return toolkit_missing(request->toolkit, "compiler", err);
  int status = image_key(request, &key, err);
  if (status || kept_images_get(request->toolkit->kept, &key, &request->stop, out)) return status;
  status = compile(request, out, err);
  kept_images_put(request->toolkit->kept, &key, status ? NULL : out);
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
      while (isspace((unsigned char)*at)) at++;
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

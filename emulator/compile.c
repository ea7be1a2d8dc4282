/* Compiling for the cpu device: running the compiler, its options, and its output; see
   compile.h. */
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
#include "object.h"
#include "runtime/compile/advice.h"
#include "runtime/compile/kept.h"
#include "runtime/compile/toolkit.h"
#include "tools.h"

/* -O2: at -O1 a register-blocked matmul compiles in 0.26 s instead of 0.33 s but runs four times
   longer. Hidden symbols keep a template's __shared__ arrays private to the object. Warnings are
   not turned off by -w, because -w would accept an array of variable length (unit.c); diagnostics.c
   drops them. */
static const char *const flags[] = {"-std=c++17", "-O2", "-march=native", "-fPIC", "-shared",
                                    /* so that only the source adds code that runs at loading: see
                                       object.c */
                                    "-nostartfiles", "-fvisibility=hidden",
                                    "-fno-semantic-interposition",
                                    /* the kernel does not use an application's symbols */
                                    "-Wl,-Bsymbolic", "-fstack-clash-protection",
                                    "-fno-strict-aliasing", "-ffp-contract=fast", "-fno-math-errno",
                                    /* keeps a loop that waits for another thread, because
                                       atomics are plain accesses here */
                                    "-fno-finite-loops", "-fno-exceptions", "-fno-rtti",
                                    /* Ubuntu's compilers define this macro; the C library's headers
                                       would then define memcpy, which shim/watch.h defines */
                                    "-U_FORTIFY_SOURCE", NULL};

/* Options of g++ for kernels that are not watched. The loop vectoriser of g++ 12.2 reads a whole
   vector where a loop uses only its first part at an unknown stride, and so reads past the end of a
   buffer that the source never leaves. The vectoriser of straight code, which stays on, reads no
   such gap. -nodefaultlibs: few kernels call libstdc++, which doubles the time of linking. */
static const char *const gcc_flags[] = {"-fno-tree-loop-vectorize", "-fpeel-loops",
                                        "-nodefaultlibs",
                                        "-fno-threadsafe-statics", /* one thread runs a launch */
                                        /* keeps a division by a value that is known to be 0 */
                                        "-fno-isolate-erroneous-paths-dereference", NULL};

/* Options of g++ for watched kernels: calls before accesses; no scalar replacement, which would
   split a float4 into four accesses; barriers are not merged; arrays and gaps stay as the source
   has them; line tables; and without the sanitizers' libraries, which usually define these
   calls. */
static const char *const watched_flags[] = {
    "-fsanitize=thread", "--param=tsan-distinguish-volatile=1", "-fsanitize=bounds",
    "-fno-tree-sra", "-fno-tree-tail-merge", "-fno-crossjumping", "-fno-toplevel-reorder", "-g1",
    "-fno-threadsafe-statics", "-nodefaultlibs",
    /* Debian's g++ omits this with sanitizers, and then the linker reads libraries that are not
       needed */
    "-Wl,--as-needed", "-fno-delete-null-pointer-checks", /* keeps a write to a null pointer */
    "-fno-isolate-erroneous-paths-dereference",
    "-fno-tree-loop-distribute-patterns", /* no memset, which would report nothing */
    NULL};

/* Options of clang++, which cannot keep a float4 whole, for watched kernels. Common code of two
   branches is not merged, because merged code would have neither branch's line. DWARF 4, because
   binutils (2.40) does not find the caller of code that was inlined in several pieces by the ranges
   of DWARF 5, and atomic operations are inlined. */
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
                                          "-Wno-unused-command-line-argument",
                                          NULL};

/* The calls before accesses require an alignment of at most 8 bytes, and do not know a vector's
   parts. So sources with CUDA's vector types get the compiler's own checks of alignment. Other
   sources get these checks only with at_source, because the checks keep the compiler from moving
   accesses into branches. clang++ gets none, because there the checks lose the lines of
   barriers. */
static const char *const wide_types[] = {"char2", "char4",  "short2", "short4",  "int2",
                                         "int4",  "float2", "float4", "double2", "double4",
                                         "long2", "long4",  NULL};
static const char wide_flag[] = "-fsanitize=alignment";

/* For a watched kernel whose accesses must stay in place: otherwise a read that only one branch
   needs is moved into that branch. */
static const char *const at_source_flags[] = {"-fno-tree-sink", wide_flag, NULL};

/* A growing heap costs page faults: use large pages, and more of them at a time (glibc 2.35). */
#define COMPILER_HEAP "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=33554432"

/* For the linker. Static variables in a template's function would be visible with the template, and
   unique in the process (STB_GNU_UNIQUE), so that kernels loaded later would use the wrong
   variable. */
static const char symbols[] = "{ local: _ZZ*; };\n";

/* ---- A compile ------------------------------------------------------------------------------ */

/* The dump files of the passes that move code towards its use, a file for each run of a pass. */
static const char *const sink_passes[] = {"sink1", "sink2"};
enum {
  SINK_PASSES = sizeof sink_passes / sizeof *sink_passes,
  /* the most words of a command: all options, and those that depend on the request */
  WORDS_MOST = (sizeof flags + sizeof gcc_flags + sizeof watched_flags + sizeof clang_flags +
                sizeof at_source_flags) /
                   sizeof *flags +
               SINK_PASSES + 16
};

struct job {
  struct text folder, headers, source, object, symbols, standard, log;
  /* folder of the toolkit's headers if the source uses cuRAND, else empty */
  struct text toolkit;
  struct text dumps[SINK_PASSES]; /* options for the dump files */
  int hold;                       /* lock on the folder; -1: none */
};

static void compile_job_free(struct job *job) {
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

#define TEMPORARY_WAY_OUT "make room there, or set TMPDIR to another folder"

static int compile_write_files(const struct compile_request *request, struct job *job,
                               cugen_error *err) {
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
  /* the toolkit's cuRAND headers for kernels compile unchanged */
  if (strstr(request->source, "curand_"))
    text_add(&job->toolkit, text_get(&request->toolkit->include));
  for (size_t i = 0; i < SINK_PASSES; i++)
    text_addf(&job->dumps[i], "-fdump-tree-%s=%s/%s", sink_passes[i], folder, sink_passes[i]);
  status = script.failed ? error_memory(err)
                         : file_put(text_get(&script), symbols, sizeof symbols - 1, err);
  if (!status) status = unit_write(request, folder, err);
  if (status == CUGEN_ERROR_IO) error_append(err, "; " TEMPORARY_WAY_OUT);
  text_free(&script);
  return status;
}

/* ---- The compiler --------------------------------------------------------------------------- */

/* Gets the first line of the compiler's --version, which toolkit_library keeps. */
static int ask_compiler(const struct toolkit *toolkit, void **table, cugen_error *err) {
  const char *const argv[] = {text_get(&toolkit->compiler), "--version", NULL};
  struct text version = {0}, line = {0};
  int code, status = CUGEN_OK;
  if (!toolkit->compiler.length) return toolkit_missing(toolkit, TOOLKIT_PART_COMPILER, err);
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

/* Takes only the language version from the options: -ffast-math, for example, would let the
   compiler assume that there are no NaNs, with which outputs are poisoned. */
static int take_standard(const struct compile_request *request, struct job *job, cugen_error *err) {
  const char *standard = request->options ? strstr(request->options, "--std=") : NULL;
  if (standard) text_add_n(&job->standard, standard + 1, strcspn(standard, " ") - 1);
  return job->standard.failed ? error_memory(err) : CUGEN_OK;
}

/* Returns true if the source seems to cast pointers, so that an address may be misaligned for its
   type. */
static bool has_casts(const char *source) {
  return strstr(source, "*)") || strstr(source, "reinterpret_cast");
}

/* Returns true if the compiler has moved a read of memory: "Sinking # VUSE <.MEM_30>". */
static bool has_moved(const struct job *job) {
  static const char mark[] = "Sinking # VUSE ";
  bool moved = false;
  for (size_t i = 0; i < SINK_PASSES && !moved; i++) {
    struct text path = {0}, dump = {0};
    cugen_error ignored;
    text_addf(&path, "%s/%s", text_get(&job->folder), sink_passes[i]);
    moved =
        file_read(text_get(&path), &dump, &ignored) == CUGEN_OK && strstr(text_get(&dump), mark);
    text_free(&path);
    text_free(&dump);
  }
  return moved;
}

/* Adds a list that ends with NULL behind the first n words. Returns the new number of words. */
static size_t add_list(const char **argv, size_t n, const char *const *list) {
  while (*list) argv[n++] = *list++;
  return n;
}

/* Adds options of the compiler. Returns their number. */
static size_t add_flags(const struct compile_request *request, const struct job *job, bool clang,
                        const char **argv) {
  size_t n = add_list(argv, 0, flags);
  if (request->watched) n = add_list(argv, n, clang ? clang_flags : watched_flags);
  if (!request->watched && !clang) n = add_list(argv, n, gcc_flags);
  if (request->at_source && !clang) n = add_list(argv, n, at_source_flags);
  if (request->watched && !clang && !request->at_source) {
    if (unit_mentions(request->source, wide_types)) argv[n++] = wide_flag;
    for (size_t i = 0; i < SINK_PASSES; i++) argv[n++] = text_get(&job->dumps[i]);
  }
  /* Messages quote no lines, which could come from any file that a #line of the source names. */
  argv[n++] = clang ? "-fno-caret-diagnostics" : "-fno-diagnostics-show-caret";
  if (clang) argv[n++] = "-Wno-everything";
  /* of two -std the later one counts */
  if (job->standard.length) argv[n++] = text_get(&job->standard);
  argv[n++] = "-I";
  argv[n++] = text_get(&job->folder);
  argv[n++] = "-I";
  argv[n++] = text_get(&job->headers);
  if (job->toolkit.length) argv[n++] = "-idirafter", argv[n++] = text_get(&job->toolkit);
  return n;
}

static int compile_run(const struct compile_request *request, struct job *job,
                       const char *const *argv, int jail, int *code, cugen_error *err) {
  struct text temporary = {0};
  text_addf(&temporary, "TMPDIR=%s", text_get(&job->folder));
  /* A compile cache needs folders of its own, and cugen caches compiled images itself. In the
     locale C messages have ASCII quotes. */
  const char *const also[] = {text_get(&temporary), "CCACHE_DISABLE=1", "LC_ALL=C", COMPILER_HEAP,
                              NULL};
  const struct process_limits limits = {.seconds = request->timeout,
                                        .memory_mb = COMPILER_MEMORY_MB,
                                        .stop = request->stop,
                                        .jail = jail,
                                        .also = also};
  int status = temporary.failed ? error_memory(err)
                                : process_run_within(argv, &limits, &job->log, code, err);
  text_free(&temporary);
  if (status != CUGEN_ERROR_DEVICE) return status;
  return error_set_cause(err, CUGEN_ERROR_COMPILE, CUGEN_CAUSE_COMPILE_TIME,
                         "%s: " COMPILE_LATE "%g s", request->name, request->timeout);
}

/* Compiles a source, or an assembly, to the object. */
static int run_whole(const struct compile_request *request, struct job *job, bool clang,
                     const char *input, int jail, int *code, cugen_error *err) {
  const char *argv[WORDS_MOST] = {text_get(&request->toolkit->compiler)};
  size_t n = 1;
  n += add_flags(request, job, clang, argv + n);
  argv[n++] = "-Xlinker"; /* -Wl, would cut a folder's name at a comma */
  argv[n++] = text_get(&job->symbols);
  argv[n++] = "-o";
  argv[n++] = text_get(&job->object);
  argv[n++] = input;
  /* The libraries that -nodefaultlibs leaves out follow the source. */
  if (request->watched || !clang) {
    if (!request->watched && strstr(request->source, "std::")) argv[n++] = "-lstdc++";
    argv[n++] = "-lm";
    if (!request->watched) argv[n++] = "-lgcc";
    argv[n++] = "-lc";
  }
  argv[n] = NULL;
  return compile_run(request, job, argv, jail, code, err);
}

/* Compiles where no jail can be made. Checks the included files before passing on the log, and the
   assembly before assembling it. */
static int run_unjailed(const struct compile_request *request, struct job *job, bool clang,
                        const struct tool_places *places, int *code, cugen_error *err) {
  const char *argv[WORDS_MOST] = {text_get(&request->toolkit->compiler)};
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
  int status = assembly.failed ? error_memory(err) : compile_run(request, job, argv, -1, code, err);
  if (!status) status = unjailed_check_log(&job->log, places->list, TOOL_PLACES, err);
  if (!status && !*code) status = unjailed_check_assembly(text_get(&assembly), err);
  if (!status && !*code)
    status = run_whole(request, job, clang, text_get(&assembly), -1, code, err);
  text_free(&assembly);
  return status;
}

/* ---- Failures of the surroundings ----------------------------------------------------------- */

/* The control source has no kernel, but an object of 4 MiB, so that a nearly full disk is
   noticed. */
static const char control[] = "char cugen_control[4 << 20] = {1};\n";

/* Returns how many processes Linux has killed for lack of memory since boot; -1: not known. */
static long long memory_kills(void) {
  static const char name[] = "\noom_kill ";
  struct text counters = {0};
  cugen_error ignored;
  const char *found =
      file_read("/proc/vmstat", &counters, &ignored) ? NULL : strstr(text_get(&counters), name);
  const long long count = found ? strtoll(found + sizeof name - 1, NULL, 10) : -1;
  text_free(&counters);
  return count;
}

/* Compiles the control source in the job's folder. *works: an object was made, or the time ran
   out. */
static int run_control(const struct compile_request *request, struct job *job, bool clang, int jail,
                       bool *works, cugen_error *err) {
  const struct compile_request bare = {.toolkit = request->toolkit,
                                       .name = request->name,
                                       .source = control,
                                       .timeout = request->timeout,
                                       .stop = request->stop};
  struct text source = {0};
  int code = 0;
  text_restart(&job->standard);
  text_addf(&source, "%s/control.cpp", text_get(&job->folder));
  int status = source.failed ? error_memory(err)
                             : file_put(text_get(&source), control, sizeof control - 1, err);
  remove(text_get(&job->object));
  if (!status) status = run_whole(&bare, job, clang, text_get(&source), jail, &code, err);
  text_free(&source);
  *works =
      status == CUGEN_ERROR_COMPILE || (!status && !code && file_exists(text_get(&job->object)));
  return status == CUGEN_ERROR_COMPILE ? CUGEN_OK : status;
}

/* Returns true if a message such as "k.cu:3:7: error: ..." names a place in the source. A failure
   of the surroundings is a "fatal error:", or a message of the linker or of the compiler as a
   program, without a line. */
static bool has_source_error(const char *log) {
  static const char mark[] = ": error: ";
  for (const char *at = log; (at = strstr(at, mark)); at += sizeof mark - 1) {
    const char *number = at;
    while (number > log && isdigit((unsigned char)number[-1])) number--;
    if (number < at && number > log && number[-1] == ':')
      return true; /* unlike "collect2: error: " */
  }
  return false;
}

/* Looks into a failed compile. Returns an error if the failure is not the kernel's: memory ran out,
   or the compiler finds no error in the source and the control source does not compile either. */
static int check_surroundings(const struct compile_request *request, struct job *job, bool clang,
                              int jail, int code, long long kills, cugen_error *err) {
  struct text log = job->log;
  bool works = true;
  if (code == 128 + SIGKILL || (kills >= 0 && memory_kills() > kills))
    return error_set(err, CUGEN_ERROR_MEMORY,
                     "%s: the C++ compiler was killed, as the system does where memory runs out; "
                     "leave more of it, or use fewer compile threads",
                     request->name);
  if (has_source_error(text_get(&log))) return CUGEN_OK;
  job->log = (struct text){0};
  int status = run_control(request, job, clang, jail, &works, err);
  struct text said = job->log, parent = {0};
  job->log = log;
  path_folder(text_get(&job->folder), &parent);
  while (said.length && isspace((unsigned char)said.data[said.length - 1]))
    text_cut(&said, said.length - 1);
  if (!status && !works)
    status = error_set(
        err, CUGEN_ERROR_IO,
        "%s cannot compile here, not even a source without a kernel: %.600s\nIs it a C++ "
        "compiler, with its linker? If %s is full or may not be written, " TEMPORARY_WAY_OUT,
        text_get(&request->toolkit->compiler), said.length ? text_get(&said) : "it said nothing",
        text_get(&parent));
  text_free(&said);
  text_free(&parent);
  return status;
}

static int run_compiler(const struct compile_request *request, struct job *job, cugen_error *err) {
  struct tool_places places;
  const bool clang = is_clang(request->toolkit);
  const long long kills = memory_kills();
  int code = 0;
  tool_places_find(text_get(&request->toolkit->compiler), text_get(&job->folder), JAIL_WRITE,
                   &places);
  const int jail = jail_make(places.list, TOOL_PLACES);
  int status = jail > 0 ? run_whole(request, job, clang, text_get(&job->source), jail, &code, err)
                        : run_unjailed(request, job, clang, &places, &code, err);
  const bool failed = !status && (code || !file_exists(text_get(&job->object)));
  if (failed) status = check_surroundings(request, job, clang, jail, code, kills, err);
  if (jail > 0) close(jail);
  tool_places_free(&places);
  if (status || !failed) return status;
  /* Running destructors at unload needs __dso_handle of the start files. */
  const char *log = text_get(&job->log);
  if (strstr(log, "undefined") && strstr(log, "__dso_handle")) return object_refuse(err);
  return cpu_refuse(request, log, text_get(&job->folder), code, err);
}

static int fill_entries(const struct compile_request *request, struct compiled *out,
                        cugen_error *err) {
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

static int compile_take_image(const struct job *job, bool watched, struct compiled *out,
                              cugen_error *err) {
  struct text image = {0};
  struct stat info;
  if (stat(text_get(&job->object), &info) == 0 && info.st_size > (off_t)COMPILER_IMAGE_MB << 20)
    return error_set(err, CUGEN_ERROR_COMPILE,
                     "the compiled code has more than the %d MB that are taken", COMPILER_IMAGE_MB);
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

/* Returns the text after the first comments, which name the problem, so that the same code at other
   sizes has the same key. A comment that a line continuation extends stays. */
static const char *behind_head(const char *source) {
  for (;;) {
    const size_t length = strcspn(source, "\n");
    if (strncmp(source, "//", 2) != 0 || source[length] != '\n' || source[length - 1] == '\\')
      return source;
    source += length + 1;
  }
}

/* The hash of everything that an image depends on, besides the toolkit. */
static int compile_image_key(const struct compile_request *request, struct hash *out,
                             cugen_error *err) {
  struct text key = {0};
  const char *code = behind_head(request->source);
  size_t head_lines = 0;
  for (const char *at = request->source; at < code; at++) head_lines += *at == '\n';
  text_addf(&key, "%d %d %s\n%s\n", request->watched, request->at_source, request->name,
            request->options ? request->options : "");
  for (size_t i = 0; i < request->entry_count; i++) text_addf(&key, "%s\n", request->entries[i]);
  text_addf(&key, "\n%zu\n%s", head_lines, code);
  *out = hash_bytes(text_get(&key), key.length);
  const int status = key.failed ? error_memory(err) : CUGEN_OK;
  text_free(&key);
  return status;
}

static int compile_compile(const struct compile_request *request, struct compiled *out,
                           cugen_error *err) {
  struct job job = {.hold = -1};
  int status = includes_check(request->source, err);
  if (!status) status = compile_write_files(request, &job, err);
  if (!status) status = take_standard(request, &job, err);
  if (!status) status = run_compiler(request, &job, err);
  if (!status) status = compile_take_image(&job, request->watched, out, err);
  if (!status && request->watched && !request->at_source && !is_clang(request->toolkit))
    out->moved = has_moved(&job) ||
                 (has_casts(request->source) && !unit_mentions(request->source, wide_types));
  if (!status) status = fill_entries(request, out, err);
  if (status) compiled_free(out);
  compile_job_free(&job);
  return status;
}

int cpu_compile(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  struct hash key;
  *out = (struct compiled){0};
  if (!request->toolkit->compiler.length)
    return toolkit_missing(request->toolkit, TOOLKIT_PART_COMPILER, err);
  int status = compile_image_key(request, &key, err);
  if (status || kept_images_get(request->toolkit->kept, &key, &request->stop, out)) return status;
  status = compile_compile(request, out, err);
  kept_images_put(request->toolkit->kept, &key, status ? NULL : out);
  return status;
}

void cpu_compiler_identity(const struct toolkit *toolkit, struct text *out) {
  const void *line;
  cugen_error ignored;
  bool known =
      toolkit_library(toolkit, TOOLKIT_COMPILER, ask_compiler, &line, &ignored) == CUGEN_OK;
  text_add(out, known ? line : "no C++ compiler");
  for (const char *const *flag = flags; *flag; flag++) text_addf(out, " %s", *flag);
  for (const char *const *flag = gcc_flags; *flag && known && !strstr(line, "clang"); flag++)
    text_addf(out, " %s", *flag);
  struct text shim = {0};
  unit_add_shim(&shim);
  /* the text in front of each source */
  text_addf(out, " -include %.8s", hash_bytes(text_get(&shim), shim.length).hex);
  out->failed |= shim.failed;
  text_free(&shim);
}

/* A stand-in for libnvrtc.so.13 that compiles nothing. Any of its calls can be made to fail, and
   its images are what the test says. Lowered names are equal to the names. */
#include "fake_nvrtc.h"

#include <elf.h>
#include <nvrtc.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of functions of the interface */

struct fake_nvrtc fake_nvrtc = {.log = ""};

enum { MOST_NAMES = 8, STRINGS = 512 };

struct _nvrtcProgram {
  char *names[MOST_NAMES];
  size_t count;
  int (*flow)(void *context, void *reserved);
  void *context;
  char *source;
};

static bool fails(const char *call) {
  if (++fake_nvrtc.calls != fake_nvrtc.fail_at) return false;
  fake_nvrtc.failed_call = call;
  return true;
}

#define MAY_FAIL                                                                                   \
  if (fails(__func__)) return (nvrtcResult)fake_nvrtc.fail_with

const char *nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_ERROR_OUT_OF_MEMORY ? "NVRTC_ERROR_OUT_OF_MEMORY"
         : result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION"
                                             : "NVRTC_ERROR_PRETENDED";
}

nvrtcResult nvrtcVersion(int *major, int *minor) {
  MAY_FAIL;
  *major = 13, *minor = 0;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
  MAY_FAIL;
  *count = 2;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *archs) {
  MAY_FAIL;
  archs[0] = 80, archs[1] = 90;
  return NVRTC_SUCCESS;
}

/* ---- Programs ------------------------------------------------------------------------------- */

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                               int count, const char *const *headers, const char *const *includes) {
  MAY_FAIL;
  *program = calloc(1, sizeof **program);
  if (!*program) return NVRTC_ERROR_OUT_OF_MEMORY;
  (*program)->source = strdup(source);
  if (!(*program)->source) {
    free(*program);
    *program = NULL;
    return NVRTC_ERROR_OUT_OF_MEMORY;
  }
  fake_nvrtc.programs++;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  for (size_t i = 0; i < (*program)->count; i++) free((*program)->names[i]);
  free((*program)->source);
  free(*program);
  *program = NULL;
  fake_nvrtc.programs--;
  MAY_FAIL; /* fails only after its work, because nobody can try again */
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *name) {
  MAY_FAIL;
  char *copy = program->count < MOST_NAMES ? strdup(name) : NULL;
  if (!copy) return NVRTC_ERROR_OUT_OF_MEMORY;
  program->names[program->count++] = copy;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcSetFlowCallback(nvrtcProgram program, int (*flow)(void *, void *), void *context) {
  MAY_FAIL;
  program->flow = flow, program->context = context;
  return NVRTC_SUCCESS;
}

/* Does what the source asks for and a bad source does to a real compiler. */
static void misbehave(const char *source) {
  /* the default action, also where a sanitizer would handle the signal */
  if (strstr(source, "CRASH")) signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
  if (strstr(source, "EXIT")) _exit(0);
  while (strstr(source, "HANG")) pause();
  while (strstr(source, "FILL")) {
    volatile char *more = malloc(64 << 20);
    if (!more) abort();
    *more = 1;
  }
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options) {
  MAY_FAIL;
  misbehave(program->source);
  const struct timespec tick = {.tv_nsec = 1000000};
  for (double left = fake_nvrtc.compile_seconds; left > 0; left -= 1e-3) {
    nanosleep(&tick, NULL);
    if (program->flow && program->flow(program->context, NULL)) return NVRTC_ERROR_CANCELLED;
  }
  return fake_nvrtc.fail_compile ? (nvrtcResult)fake_nvrtc.fail_with : NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *name, const char **lowered) {
  MAY_FAIL;
  for (size_t i = 0; i < program->count; i++)
    if (strcmp(program->names[i], name) == 0) *lowered = program->names[i];
  return *lowered ? NVRTC_SUCCESS : NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
  MAY_FAIL;
  *size = fake_nvrtc.log ? strlen(fake_nvrtc.log) + 1 : 0;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
  MAY_FAIL;
  if (fake_nvrtc.log) memcpy(log, fake_nvrtc.log, strlen(fake_nvrtc.log) + 1);
  return NVRTC_SUCCESS;
}

/* ---- Images --------------------------------------------------------------------------------- */

/* The least ELF in which runtime/model/cubin.c finds kernels. */
struct image {
  Elf64_Ehdr header;
  Elf64_Shdr sections[3]; /* no section, .symtab, and the strings of both */
  Elf64_Sym symbols[MOST_NAMES + 1];
  char strings[STRINGS];
};

static Elf64_Word add_string(struct image *image, size_t *at, const char *string) {
  size_t place = *at, length = strlen(string) + 1;
  if (place + length > STRINGS) return 0;
  memcpy(image->strings + place, string, length);
  *at += length;
  return (Elf64_Word)place;
}

static void make_image(const struct _nvrtcProgram *program, struct image *out) {
  size_t at = 1;
  *out = (struct image){.header = {.e_machine = 190, /* EM_CUDA */
                                   .e_shoff = offsetof(struct image, sections),
                                   .e_shnum = 3,
                                   .e_shstrndx = 2}};
  memcpy(out->header.e_ident, ELFMAG, SELFMAG);
  out->header.e_ident[EI_CLASS] = ELFCLASS64;
  out->sections[1] = (Elf64_Shdr){.sh_name = add_string(out, &at, ".symtab"),
                                  .sh_type = SHT_SYMTAB,
                                  .sh_offset = offsetof(struct image, symbols),
                                  .sh_size = sizeof out->symbols,
                                  .sh_link = 2};
  out->sections[2] = (Elf64_Shdr){
      .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, strings), .sh_size = STRINGS};
  for (size_t i = 0; i < program->count && fake_nvrtc.image == FAKE_IMAGE_CUBIN; i++)
    out->symbols[i + 1] = (Elf64_Sym){.st_name = add_string(out, &at, program->names[i]),
                                      .st_info = ELF64_ST_INFO(1, STT_FUNC)};
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
  MAY_FAIL;
  *size = fake_nvrtc.image == FAKE_IMAGE_EMPTY ? 0 : sizeof(struct image);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin) {
  MAY_FAIL;
  struct image image;
  make_image(program, &image);
  if (fake_nvrtc.image == FAKE_IMAGE_NOISE) memset(&image, 0x5a, sizeof image);
  if (fake_nvrtc.image != FAKE_IMAGE_EMPTY) memcpy(cubin, &image, sizeof image);
  return NVRTC_SUCCESS;
}

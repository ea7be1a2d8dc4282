/* Reading facts about kernels from a cubin's ELF file, and spills from the log of ptxas. The
   sections and attributes are those that `cuobjdump -elf` prints. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "cubin.h"

/* Attributes of .nv.info (of the module; with a symbol) and of .nv.info.KERNEL. */
enum eiattr {
  EIATTR_MAX_THREADS = 0x05, /* x, y, z from __launch_bounds__ */
  EIATTR_REQNTID = 0x10,     /* x, y, z from __block_size__ */
  EIATTR_FRAME_SIZE = 0x11,
  EIATTR_MIN_STACK_SIZE = 0x12, /* of the kernel with the functions it calls */
  EIATTR_KPARAM_INFO = 0x17,    /* one for each parameter */
  EIATTR_REGCOUNT = 0x2f,
  EIATTR_CTA_PER_CLUSTER = 0x3d /* x, y, z from __cluster_dims__ */
};

/* format byte: a 16-bit size and that many bytes follow; otherwise the value is 16 bits in place */
enum { EIFMT_SIZED = 0x04 };

/* From sm_90 on, .nv.shared.KERNEL begins with shared memory that the driver reserves in every
   block. */
enum { RESERVED_SHARED = 1024, FIRST_SM_WITH_RESERVED = 90 };

enum { FIRST_SM_WITH_LONG_CODE = 70 }; /* 16 bytes an instruction */

/* the largest block on every architecture that a cubin can be made for */
enum { UNBOUNDED_THREADS = 1024 };

struct cubin {
  const unsigned char *image;
  size_t length;
  Elf64_Ehdr header;
  Elf64_Shdr names; /* section names */
};

struct span {
  const unsigned char *data;
  size_t length;
};

/* ---- ELF ------------------------------------------------------------------------------------ */

static bool inside(const struct cubin *cubin, uint64_t offset, uint64_t length) {
  return offset <= cubin->length && length <= cubin->length - offset;
}

static bool cubin_section_at(const struct cubin *cubin, size_t index, Elf64_Shdr *out) {
  uint64_t offset = cubin->header.e_shoff + index * sizeof *out;
  if (index >= cubin->header.e_shnum || !inside(cubin, offset, sizeof *out)) return false;
  memcpy(out, cubin->image + offset, sizeof *out);
  return out->sh_type == SHT_NOBITS || inside(cubin, out->sh_offset, out->sh_size);
}

static bool cubin_open(const void *image, size_t length, struct cubin *out) {
  *out = (struct cubin){.image = image, .length = length};
  if (length < sizeof out->header) return false;
  memcpy(&out->header, image, sizeof out->header);
  return !memcmp(out->header.e_ident, ELFMAG, SELFMAG) &&
         out->header.e_ident[EI_CLASS] == ELFCLASS64 && out->header.e_shoff < length &&
         cubin_section_at(out, out->header.e_shstrndx, &out->names);
}

/* Returns whether the NUL-terminated text at offset of the string table is `first` followed by
   `second`. */
static bool text_is(const struct cubin *cubin, const Elf64_Shdr *strings, uint64_t offset,
                    const char *first, const char *second) {
  size_t head = strlen(first), tail = strlen(second) + 1;
  if (!inside(cubin, strings->sh_offset, strings->sh_size)) return false;
  if (offset > strings->sh_size || head + tail > strings->sh_size - offset) return false;
  const unsigned char *text = cubin->image + strings->sh_offset + offset;
  return !memcmp(text, first, head) && !memcmp(text + head, second, tail);
}

static bool section_find(const struct cubin *cubin, const char *prefix, const char *kernel,
                         Elf64_Shdr *out) {
  for (size_t i = 0; i < cubin->header.e_shnum; i++)
    if (cubin_section_at(cubin, i, out) &&
        text_is(cubin, &cubin->names, out->sh_name, prefix, kernel))
      return true;
  return false;
}

static struct span section_span(const struct cubin *cubin, const Elf64_Shdr *section) {
  if (!inside(cubin, section->sh_offset, section->sh_size)) return (struct span){cubin->image, 0};
  return (struct span){cubin->image + section->sh_offset, section->sh_size};
}

/* Returns the index of a symbol in .symtab; type STT_FUNC: a kernel, STT_OBJECT: a variable. 0: not
   found. Local symbols are found, too, because NVRTC makes all variables local. */
static uint32_t symbol_find(const struct cubin *cubin, const char *name, int type, Elf64_Sym *out) {
  Elf64_Shdr table, strings;
  if (!section_find(cubin, ".symtab", "", &table) ||
      !cubin_section_at(cubin, table.sh_link, &strings))
    return 0;
  struct span span = section_span(cubin, &table);
  for (uint32_t i = 1; (i + 1) * sizeof(Elf64_Sym) <= span.length; i++) {
    memcpy(out, span.data + i * sizeof *out, sizeof *out);
    if (ELF64_ST_TYPE(out->st_info) == type && text_is(cubin, &strings, out->st_name, name, ""))
      return i;
  }
  return 0;
}

/* Up to CUDA 12 the ELF flags have the SM number in the first byte; ABI version 8 (CUDA 13) has
   it in the second. */
static int cubin_sm(const struct cubin *cubin) {
  int shift = cubin->header.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  return (int)(cubin->header.e_flags >> shift & 0xff);
}

/* ---- .nv.info ------------------------------------------------------------------------------- */

struct attribute {
  int kind;
  uint32_t words[4];
  size_t count;
};

/* Takes the next attribute off the span; false: the span has no further attribute. */
static bool attribute_next(struct span *span, struct attribute *out) {
  if (span->length < 4) return false;
  uint16_t size;
  memcpy(&size, span->data + 2, sizeof size);
  size_t total = span->data[0] == EIFMT_SIZED ? 4 + (size_t)size : 4;
  if (total > span->length) return false;
  *out = (struct attribute){.kind = span->data[1]};
  out->count = (total - 4) / 4 < 4 ? (total - 4) / 4 : 4;
  memcpy(out->words, span->data + 4, out->count * 4);
  span->data += total;
  span->length -= total;
  return true;
}

/* Returns the attributes of .nv.info or .nv.info.KERNEL; none if there is no such section. */
static struct span attributes_in(const struct cubin *cubin, const char *prefix,
                                 const char *kernel) {
  Elf64_Shdr section;
  return section_find(cubin, prefix, kernel, &section) ? section_span(cubin, &section)
                                                       : (struct span){cubin->image, 0};
}

/* ---- Resources ------------------------------------------------------------------------------ */

int cubin_resources(const void *image, size_t length, const char *entry,
                    struct kernel_resources *out, cugen_error *err) {
  *out = (struct kernel_resources){.max_threads = UNBOUNDED_THREADS};
  struct cubin cubin;
  if (!cubin_open(image, length, &cubin))
    return error_set(err, CUGEN_ERROR_COMPILE, "the compiled image is not a cubin (no 64-bit ELF)");
  Elf64_Sym ignored;
  uint32_t symbol = symbol_find(&cubin, entry, STT_FUNC, &ignored);
  if (!symbol) return error_set(err, CUGEN_ERROR_COMPILE, "the cubin holds no kernel '%s'", entry);

  struct span of_module = attributes_in(&cubin, ".nv.info", "");
  for (struct attribute a; attribute_next(&of_module, &a);) {
    if (a.count < 2 || a.words[0] != symbol) continue;
    const bool stack = a.kind == EIATTR_FRAME_SIZE || a.kind == EIATTR_MIN_STACK_SIZE;
    if (a.kind == EIATTR_REGCOUNT) out->registers = (int)a.words[1];
    if (stack && a.words[1] > out->local_bytes) out->local_bytes = a.words[1];
  }
  struct span of_kernel = attributes_in(&cubin, ".nv.info.", entry);
  for (struct attribute a; attribute_next(&of_kernel, &a);)
    if ((a.kind == EIATTR_MAX_THREADS || a.kind == EIATTR_REQNTID) && a.count >= 3)
      out->max_threads = (int)(a.words[0] * a.words[1] * a.words[2]);

  Elf64_Shdr section;
  if (section_find(&cubin, ".nv.shared.", entry, &section))
    out->static_shared = (int64_t)section.sh_size;
  if (cubin_sm(&cubin) >= FIRST_SM_WITH_RESERVED && out->static_shared >= RESERVED_SHARED)
    out->static_shared -= RESERVED_SHARED;
  if (section_find(&cubin, ".nv.constant3", "", &section))
    out->constant_bytes = (int64_t)section.sh_size;
  return CUGEN_OK;
}

int64_t cubin_variable(const void *image, size_t length, const char *name) {
  struct cubin cubin;
  Elf64_Sym symbol;
  if (!cubin_open(image, length, &cubin)) return -1;
  return symbol_find(&cubin, name, STT_OBJECT, &symbol) ? (int64_t)symbol.st_size : 0;
}

struct sass_facts cubin_code(const void *image, size_t length, const char *entry) {
  struct cubin cubin;
  Elf64_Shdr section;
  bool found = cubin_open(image, length, &cubin) && cubin_sm(&cubin) >= FIRST_SM_WITH_LONG_CODE &&
               section_find(&cubin, ".text.", entry, &section) && section.sh_type == SHT_PROGBITS;
  struct span span = found ? section_span(&cubin, &section) : (struct span){image, 0};
  return sass_read(span.data, span.length);
}

/* Finds .nv.info.KERNEL; returns false if the image has none. */
static bool kernel_attributes(const void *image, size_t length, const char *entry,
                              struct span *out) {
  struct cubin cubin;
  Elf64_Shdr section;
  if (!cubin_open(image, length, &cubin) || !section_find(&cubin, ".nv.info.", entry, &section))
    return false;
  *out = section_span(&cubin, &section);
  return true;
}

/* Gets the blocks of a cluster by dimension; 1s: no clusters. Returns false if the image does not
   say. */
static bool read_cluster(const void *image, size_t length, const char *entry, int out[3]) {
  struct span span;
  struct attribute attribute;
  if (!kernel_attributes(image, length, entry, &span)) return false;
  for (int i = 0; i < 3; i++) out[i] = 1;
  while (attribute_next(&span, &attribute))
    for (int i = 0; attribute.kind == EIATTR_CTA_PER_CLUSTER && attribute.count >= 3 && i < 3; i++)
      out[i] = attribute.words[i] < UINT16_MAX ? (int)attribute.words[i] : UINT16_MAX;
  return true;
}

int cubin_cluster(const void *image, size_t length, const char *entry) {
  int sides[3];
  return read_cluster(image, length, entry, sides) ? sides[0] * sides[1] * sides[2] : 0;
}

void cubin_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out) {
  const struct kernel_resources *resources = &compiled->resources[index];
  *out = (struct kernel_needs){.registers = resources->registers,
                               .max_threads = resources->max_threads,
                               .grid_sync = resources->grid_sync,
                               .static_shared = resources->static_shared,
                               .constant_bytes = resources->constant_bytes};
  if (!read_cluster(compiled->image, compiled->image_length, compiled->entries[index],
                    out->cluster))
    memset(out->cluster, 0, sizeof out->cluster);
}

/* Words of EIATTR_KPARAM_INFO: [0] unused; [1] the ordinal in the low half, the offset in the high
   half; [2] the size in the upper 14 bits. */
int cubin_parameters(const void *image, size_t length, const char *entry, int *sizes,
                     int capacity) {
  struct span span;
  struct attribute attribute;
  int count = 0;
  if (!kernel_attributes(image, length, entry, &span)) return -1;
  while (attribute_next(&span, &attribute)) {
    if (attribute.kind != EIATTR_KPARAM_INFO || attribute.count < 3) continue;
    int ordinal = (int)(attribute.words[1] & 0xffff);
    if (ordinal < capacity) sizes[ordinal] = (int)(attribute.words[2] >> 18);
    count++;
  }
  return count;
}

/* ---- The log of --ptxas-options=-v ---------------------------------------------------------- */

/* Returns the number in front of `label` in the line, as in "16 bytes spill stores"; 0: no label. A
   number above INT32_MAX gives INT32_MAX. */
static int64_t number_before(const char *line, size_t length, const char *label) {
  const char *found = strstr(line, label);
  if (!found || found >= line + length) return 0;
  while (found > line && found[-1] >= '0' && found[-1] <= '9') found--;
  long long number = strtoll(found, NULL, 10);
  return number < INT32_MAX ? number : INT32_MAX;
}

const char *ptxas_log_loss(const char *log, size_t *length) {
  const char *line = strstr(log, "Potential Performance Loss");
  *length = 0;
  if (!line) return NULL;
  while (line > log && line[-1] != '\n') line--;
  *length = strcspn(line, "\n");
  return line;
}

int64_t ptxas_log_spills(const char *log, const char *entry) {
  static const char title[] = "Function properties for ";
  const size_t name = strlen(entry);
  for (const char *at = log; (at = strstr(at, title)) != NULL;) {
    at += sizeof title - 1;
    if (strncmp(at, entry, name) != 0 || at[name] != '\n') continue;
    const char *line = at + name + 1;
    const size_t length = strcspn(line, "\n");
    return number_before(line, length, " bytes spill stores") +
           number_before(line, length, " bytes spill loads");
  }
  return 0;
}

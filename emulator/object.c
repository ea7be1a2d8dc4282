/* Reading the dynamic section (System V ABI, "Dynamic Linking"); see object.h. Objects are linked
   without the compiler's start files, so that code that the section names is the source's. */
#include "object.h"

#include <string.h>
#include <unistd.h>

#include "elf_file.h"

struct object {
  struct elf_file elf;
  size_t at, count; /* offset of the dynamic section, and number of its entries */
};

static struct object open_object(const void *image, size_t length) {
  struct object o = {.elf = elf_open(image, length)};
  Elf64_Phdr segment;
  for (size_t i = 0; elf_segment(&o.elf, i, &segment); i++) {
    if (segment.p_type != PT_DYNAMIC || !elf_part(&o.elf, segment.p_offset, segment.p_filesz))
      continue;
    o.at = segment.p_offset;
    o.count = segment.p_filesz / sizeof(Elf64_Dyn);
  }
  return o;
}

static Elf64_Dyn entry_at(const struct object *o, size_t i) {
  Elf64_Dyn entry;
  memcpy(&entry, o->elf.bytes + o->at + i * sizeof entry, sizeof entry);
  return entry;
}

/* Finds the loaded segment that contains all of these bytes in memory. */
static bool find_segment(const struct elf_file *elf, uint64_t address, uint64_t bytes,
                         Elf64_Phdr *out) {
  for (size_t i = 0; elf_segment(elf, i, out); i++)
    if (out->p_type == PT_LOAD && address >= out->p_vaddr && bytes <= out->p_memsz &&
        address - out->p_vaddr <= out->p_memsz - bytes)
      return true;
  return false;
}

/* Returns the file's content at an address; NULL: the file does not have all these bytes. */
static const void *content_at(const struct elf_file *elf, uint64_t address, uint64_t bytes,
                              Elf64_Phdr *segment) {
  if (!find_segment(elf, address, bytes, segment)) return NULL;
  const uint64_t offset = address - segment->p_vaddr;
  return bytes <= segment->p_filesz && offset <= segment->p_filesz - bytes
             ? elf_part(elf, segment->p_offset + offset, bytes)
             : NULL;
}

/* ---- Checking what the loader reads ----

   Sections that an asm of the source defines may be merged into the linker's: entries of .dynamic,
   relocations, symbols. Therefore each entry must be of a kind that the linker makes for such an
   object, most kinds only once; the tables that entries point to must be in memory that nothing
   writes to; and a relocation must be of a kind that runs no code, and changes neither the entries
   nor anything outside of the object. */

static const uint64_t single_tags[] = {
    DT_STRTAB,     DT_STRSZ,       DT_SYMTAB,       DT_SYMENT,       DT_HASH,       DT_GNU_HASH,
    DT_RELA,       DT_RELASZ,      DT_RELAENT,      DT_RELACOUNT,    DT_JMPREL,     DT_PLTRELSZ,
    DT_PLTREL,     DT_PLTGOT,      DT_VERSYM,       DT_VERNEED,      DT_VERNEEDNUM, DT_SYMBOLIC,
    DT_FLAGS,      DT_FLAGS_1,     DT_TLSDESC_PLT,  DT_INIT,         DT_FINI,       DT_INIT_ARRAY,
    DT_FINI_ARRAY, DT_TLSDESC_GOT, DT_INIT_ARRAYSZ, DT_FINI_ARRAYSZ,
};
enum { SINGLE_TAGS = sizeof single_tags / sizeof *single_tags };
static const uint64_t read_only_tags[] = {DT_STRTAB, DT_SYMTAB, DT_HASH,   DT_GNU_HASH,
                                          DT_RELA,   DT_JMPREL, DT_VERSYM, DT_VERNEED};

struct loader {
  const struct object *o;
  Elf64_Addr dynamic; /* address of the dynamic section */
  uint64_t value[SINGLE_TAGS];
  bool has[SINGLE_TAGS];
};

static size_t tag_at(uint64_t tag) {
  size_t i = 0;
  while (i < SINGLE_TAGS && single_tags[i] != tag) i++;
  return i;
}

static uint64_t object_value_of(const struct loader *l, uint64_t tag) {
  return l->value[tag_at(tag)];
}

/* Returns the file's content at an address that nothing writes to; NULL: there is none. */
static const void *constant_at(const struct loader *l, uint64_t address, uint64_t bytes) {
  Elf64_Phdr segment;
  const void *at = content_at(&l->o->elf, address, bytes, &segment);
  return at && !(segment.p_flags & PF_W) ? at : NULL;
}

/* Returns true if the relocation only stores an address or an offset of thread-local storage.
   R_*_COPY copies memory, and R_*_IRELATIVE runs code. */
static bool is_plain_relocation(unsigned machine, uint64_t type) {
  static const uint16_t x86[] = {R_X86_64_NONE,      R_X86_64_64,       R_X86_64_GLOB_DAT,
                                 R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE, R_X86_64_DTPMOD64,
                                 R_X86_64_DTPOFF64,  R_X86_64_TPOFF64};
  static const uint16_t arm[] = {R_AARCH64_NONE,       R_AARCH64_ABS64,     R_AARCH64_GLOB_DAT,
                                 R_AARCH64_JUMP_SLOT,  R_AARCH64_RELATIVE,  R_AARCH64_TLS_DTPMOD,
                                 R_AARCH64_TLS_DTPREL, R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC};
  const uint16_t *types = machine == EM_X86_64 ? x86 : arm;
  const size_t count = machine == EM_X86_64 ? sizeof x86 / sizeof *x86 : sizeof arm / sizeof *arm;
  for (size_t i = 0; i < count; i++)
    if (types[i] == type) return true;
  return false;
}

static bool is_plain_symbol(const struct loader *l, uint64_t number) {
  Elf64_Sym symbol;
  const void *at =
      constant_at(l, object_value_of(l, DT_SYMTAB) + number * sizeof symbol, sizeof symbol);
  if (!at) return false;
  memcpy(&symbol, at, sizeof symbol);
  return symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC;
}

static const char *check_relocation(const struct loader *l, const Elf64_Rela *r) {
  Elf64_Phdr segment;
  const uint64_t dynamic_end = l->dynamic + l->o->count * sizeof(Elf64_Dyn);
  if (!is_plain_relocation(l->o->elf.header.e_machine, ELF64_R_TYPE(r->r_info)) ||
      !is_plain_symbol(l, ELF64_R_SYM(r->r_info)))
    return "a relocation that runs code";
  const bool pair =
      l->o->elf.header.e_machine == EM_AARCH64 && ELF64_R_TYPE(r->r_info) == R_AARCH64_TLSDESC;
  const uint64_t written = (pair ? 2 : 1) * sizeof(Elf64_Addr);
  const bool inside =
      find_segment(&l->o->elf, r->r_offset, written, &segment) && segment.p_flags & PF_W;
  if (!inside || (r->r_offset < dynamic_end && r->r_offset + written > l->dynamic))
    return "a relocation of what is not the kernel's";
  return NULL;
}

static const char *check_relocations(const struct loader *l, uint64_t table, uint64_t bytes) {
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes; at += sizeof(Elf64_Rela)) {
    Elf64_Rela relocation;
    const void *entry = constant_at(l, table + at, sizeof relocation);
    if (!entry) return "relocations that can be written";
    memcpy(&relocation, entry, sizeof relocation);
    const char *wrong = check_relocation(l, &relocation);
    if (wrong) return wrong;
  }
  return NULL;
}

/* Checks that a needed library has a name without a path, so that the loader takes the system's. */
static const char *check_needed(const struct loader *l, uint64_t name) {
  const uint64_t bytes = object_value_of(l, DT_STRSZ);
  const char *strings = constant_at(l, object_value_of(l, DT_STRTAB), bytes);
  const char *end = strings && name < bytes ? memchr(strings + name, '\0', bytes - name) : NULL;
  return end && !memchr(strings + name, '/', (size_t)(end - strings - (ptrdiff_t)name))
             ? NULL
             : "a library's path";
}

static const char *object_read_entries(struct loader *l) {
  for (size_t i = 0; i < l->o->count; i++) {
    const Elf64_Dyn entry = entry_at(l->o, i);
    const size_t at = tag_at((uint64_t)entry.d_tag);
    if (entry.d_tag == DT_NULL) return NULL;
    if (entry.d_tag == DT_NEEDED || (entry.d_tag >= DT_LOPROC && entry.d_tag <= DT_HIPROC))
      continue;
    if (at == SINGLE_TAGS || l->has[at])
      return "an entry for the loader that the linker does not make";
    l->has[at] = true;
    l->value[at] = entry.d_un.d_val;
  }
  return "no end of its entries for the loader";
}

/* Returns the first thing in the object that the loader would read and no linker makes for a
   kernel; NULL: none. */
static const char *find_foreign(const struct object *o) {
  struct loader l = {.o = o};
  Elf64_Phdr segment;
  size_t sections = 0;
  if (o->elf.length < sizeof o->elf.header) return "no header";
  for (size_t i = 0; elf_segment(&o->elf, i, &segment); i++) {
    if (segment.p_type != PT_DYNAMIC) continue;
    sections++;
    l.dynamic = segment.p_vaddr;
  }
  if (sections != 1 || !o->count) return "no section for the loader, or several";
  const char *wrong = object_read_entries(&l);
  if (wrong) return wrong;

  for (size_t i = 0; i < sizeof read_only_tags / sizeof *read_only_tags; i++) {
    const size_t at = tag_at(read_only_tags[i]);
    if (l.has[at] && !constant_at(&l, l.value[at], 1))
      return "a table for the loader that can be written";
  }
  if (object_value_of(&l, DT_FLAGS) & DF_TEXTREL) return "relocations of its code";
  wrong = check_relocations(&l, object_value_of(&l, DT_RELA), object_value_of(&l, DT_RELASZ));
  if (!wrong)
    wrong = check_relocations(&l, object_value_of(&l, DT_JMPREL), object_value_of(&l, DT_PLTRELSZ));
  for (size_t i = 0; !wrong && i < o->count && entry_at(o, i).d_tag != DT_NULL; i++)
    if (entry_at(o, i).d_tag == DT_NEEDED) wrong = check_needed(&l, entry_at(o, i).d_un.d_val);
  return wrong;
}

/* Returns true if there are STT_GNU_IFUNC symbols, whose address is found by running code, even by
   dlsym: an asm can make a kernel's entry such a symbol. */
static bool has_choosers(const struct object *o) {
  Elf64_Shdr section;
  for (size_t i = 0; elf_section(&o->elf, i, &section); i++) {
    const char *symbols = elf_part(&o->elf, section.sh_offset, section.sh_size);
    if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) || !symbols) continue;
    for (uint64_t k = 0; k < section.sh_size / sizeof(Elf64_Sym); k++) {
      Elf64_Sym symbol;
      memcpy(&symbol, symbols + k * sizeof symbol, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
        return true;
    }
  }
  return false;
}

int object_refuse(cugen_error *err) {
  return error_set(err, CUGEN_ERROR_COMPILE,
                   "the source has code that runs when it is loaded, which no GPU does: a "
                   "constructor or destructor (<iostream> "
                   "has both), or a "
                   "__device__, __constant__ or __shared__ variable whose initial value is "
                   "computed at run time. Give the "
                   "variable a constant value, or write it in the kernel");
}

int object_check(const void *image, size_t length, bool watched, cugen_error *err) {
  const struct object o = open_object(image, length);
  const uint64_t own = watched ? sizeof(Elf64_Addr) : 0;
  bool runs = o.count && has_choosers(&o);
  for (size_t i = 0; i < o.count; i++) {
    const Elf64_Dyn entry = entry_at(&o, i);
    const bool array = entry.d_tag == DT_INIT_ARRAYSZ || entry.d_tag == DT_FINI_ARRAYSZ;
    runs |= entry.d_tag == DT_INIT || entry.d_tag == DT_FINI || (array && entry.d_un.d_val > own);
  }
  const char *foreign = runs ? NULL : find_foreign(&o);
  if (foreign)
    return error_set(err, CUGEN_ERROR_COMPILE,
                     "what the compiler made of the source has %s: a kernel writes nothing into "
                     "the linker's sections",
                     foreign);
  if (!runs) return CUGEN_OK;
  return object_refuse(err);
}

void object_disarm(const void *image, size_t length, int file) {
  const struct object o = open_object(image, length);
  /* the loader ignores this tag in a library */
  static const Elf64_Dyn nothing = {.d_tag = DT_DEBUG};
  static const Elf64_Sxword tags[] = {DT_INIT, DT_FINI, DT_INIT_ARRAY, DT_FINI_ARRAY,
                                      DT_PREINIT_ARRAY};
  for (size_t i = 0; i < o.count; i++) {
    const Elf64_Dyn entry = entry_at(&o, i);
    bool runs = false;
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++) runs |= entry.d_tag == tags[k];
    if (!runs) continue;
    if (pwrite(file, &nothing, sizeof nothing, (off_t)(o.at + i * sizeof nothing)) < 0) return;
  }
}

/* A RELRO segment has constants that contain addresses, which only the loader writes. */
bool object_is_const(const void *image, size_t length, uint64_t address) {
  const struct elf_file elf = elf_open(image, length);
  Elf64_Phdr segment;
  bool written = false;
  for (size_t i = 0; elf_segment(&elf, i, &segment); i++) {
    if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_memsz) continue;
    if (segment.p_type == PT_GNU_RELRO) return true;
    if (segment.p_type == PT_LOAD) written = segment.p_flags & PF_W;
  }
  return !written;
}

/* ---- Facts about kernels -------------------------------------------------------------------- */

struct needs_reading {
  const struct elf_file *elf;
  const char *entry;
  struct kernel_needs *out;
};

static bool take_need(void *context, const char *name, const Elf64_Sym *symbol) {
  const struct needs_reading *r = context;
  Elf64_Phdr segment;
  const void *value = content_at(r->elf, symbol->st_value, symbol->st_size, &segment);
  const size_t length = strlen(r->entry);
  const char *constant = strstr(name, "cugen_constant_");
  uint64_t size = 0;
  uint32_t numbers[3];
  if (value && constant && symbol->st_size == sizeof size) {
    memcpy(&size, value, sizeof size);
    r->out->constant_bytes += size < INT32_MAX ? (int64_t)size : INT32_MAX;
  }
  if (!value || strncmp(name, r->entry, length) != 0 || symbol->st_size != sizeof numbers)
    return true;
  memcpy(numbers, value, sizeof numbers);
  for (int i = 0; i < 3; i++) numbers[i] = numbers[i] < UINT16_MAX ? numbers[i] : UINT16_MAX;
  if (strcmp(name + length, "_bounds") == 0) r->out->max_threads = (int)numbers[0];
  for (int i = 0; i < 3 && strcmp(name + length, "_cluster") == 0; i++)
    r->out->cluster[i] = (int)(numbers[i] + !numbers[i]);
  return true;
}

void object_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out) {
  const struct elf_file elf = elf_open(compiled->image, compiled->image_length);
  struct needs_reading reading = {&elf, compiled->entries[index], out};
  *out = (struct kernel_needs){0};
  elf_symbols(&elf, STT_OBJECT, take_need, &reading);
}

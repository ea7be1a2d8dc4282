/* Guard pages and the fault handler; see guard.h. */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/seccomp.h"
#include "canaries.h"
#include "fault_text.h"
#include "fibers.h"

enum { ALIGNMENT = 16, MOST_BUFFERS = 1024, FAULT_EXIT = 99 };

/* State that a signal handler uses must be static; like the handlers, it exists once in a
   process. */
static struct {
  struct span {
    char *start, *end; /* of the buffer without its guards */
  } buffers[MOST_BUFFERS];
  const struct shared_zone *shared; /* NULL: none */
  struct fault *fault;
  void *stack;
  bool installed;
} guard;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGVTALRM, SIGSYS};
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals, STACK_BYTES = 65536 };

/* ---- Memory --------------------------------------------------------------------------------- */

static size_t page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* A large inaccessible zone on both sides also catches an index that is off by a row, not just by
   one. With `soft` (guard.h) the zone is smaller, accessible and filled with canaries. */
static size_t zone(bool soft) {
  return (size_t)1 << (soft ? 16 : 20);
}

static void guard_remember(char *start, char *end) {
  for (size_t i = 0; i < MOST_BUFFERS; i++) {
    if (guard.buffers[i].start) continue;
    guard.buffers[i] = (struct span){start, end};
    return;
  }
}

static struct canaries canaries_of(const struct memory *memory, bool soft) {
  unsigned char *start = memory->device, *base = memory->base;
  const size_t unreachable = soft ? 0 : zone(soft);
  return (struct canaries){base + unreachable, start, start + memory->bytes,
                           base + memory->base_bytes - unreachable};
}

/* Unless `soft`, the mapping is shared, because a launch may be spread over several processes. */
int guard_alloc(size_t bytes, bool soft, struct memory *out, cugen_error *err) {
  size_t page = page_size(), inside = (bytes + page) / page * page, whole = inside + 2 * zone(soft);
  char *base = bytes > SIZE_MAX / 2
                   ? MAP_FAILED
                   : mmap(NULL, whole, PROT_NONE,
                          (soft ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return error_set(err, CUGEN_ERROR_MEMORY, "%zu bytes: %s", bytes, strerror(errno));
  char *low = soft ? base : base + zone(soft);
  if (mprotect(low, soft ? whole : inside, PROT_READ | PROT_WRITE) != 0) {
    int status = error_set(err, CUGEN_ERROR_MEMORY, "%zu bytes: %s", bytes, strerror(errno));
    munmap(base, whole);
    return status;
  }
  size_t slack = (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
  char *start = base + zone(soft) + inside - slack - bytes;
  *out = (struct memory){.kind = MEMORY_DEVICE,
                         .device = start,
                         .host = start,
                         .bytes = bytes,
                         .base = base,
                         .base_bytes = whole};
  const struct canaries canaries = canaries_of(out, soft);
  canaries_write(&canaries);
  if (!soft) guard_remember(start, start + bytes);
  return CUGEN_OK;
}

void guard_free(struct memory *memory, bool soft) {
  for (size_t i = 0; i < MOST_BUFFERS && !soft; i++)
    if (guard.buffers[i].start == memory->device) guard.buffers[i] = (struct span){0};
  munmap(memory->base, memory->base_bytes);
  *memory = (struct memory){0};
}

int guard_check(const struct memory *memory, bool soft, cugen_error *err) {
  const struct canaries canaries = canaries_of(memory, soft);
  size_t distance;
  bool before;
  if (!canaries_changed(&canaries, &before, &distance)) return CUGEN_OK;
  return error_set_cause(err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS,
                         "out of bounds: write at byte %zu %s of a buffer of %zu bytes", distance,
                         before ? "before the start" : "past the end", memory->bytes);
}

/* ---- Faults: from here on only async-signal-safe functions ---------------------------------- */

/* A description that is being written; the text points into the fault. */
struct line {
  struct fault fault;
  struct fault_text text;
};

static void begin_line(struct line *line, cugen_cause cause) {
  *line = (struct line){.fault.cause = cause};
  line->text =
      (struct fault_text){line->fault.text, line->fault.text + sizeof line->fault.text - 1};
}

static void die(const struct line *line) {
  if (guard.fault)
    memcpy(guard.fault, &line->fault, (size_t)(line->text.at + 1 - (const char *)&line->fault));
  _exit(FAULT_EXIT);
}

/* The handler for fibers_on_fault; `text` names the place already. */
static void on_fault(cugen_cause cause, const char *text) {
  struct line line;
  begin_line(&line, cause);
  fault_text_add(&line.text, text);
  die(&line);
}

/* Returns the nearest buffer; NULL: the address is in no zone around a buffer. */
static const struct span *nearest(const char *address, size_t *distance) {
  const struct span *found = NULL;
  *distance = zone(false) + page_size();
  for (size_t i = 0; i < MOST_BUFFERS; i++) {
    const struct span *b = &guard.buffers[i];
    if (!b->start) continue;
    size_t away = address < b->start  ? (size_t)(b->start - address)
                  : address >= b->end ? (size_t)(address - b->end)
                                      : 0;
    if (away < *distance) *distance = away, found = b;
  }
  return found;
}

/* Returns true if the fault was a write; false: a read, or it cannot be told. */
static bool is_write(const void *context) {
#if defined(__x86_64__)
  enum { WRITE_BIT = 2 }; /* page-fault error code, Intel SDM vol. 3, 4.7 */
  const ucontext_t *u = context;
  return u->uc_mcontext.gregs[REG_ERR] & WRITE_BIT;
#else
  (void)context;
  return false;
#endif
}

static const char *guard_access_kind(const void *context) {
#if defined(__x86_64__)
  return is_write(context) ? "write" : "read";
#else
  (void)context;
  return "access";
#endif
}

static const void *program_counter(const void *context) {
  const ucontext_t *u = context;
#if defined(__x86_64__)
  return (const void *)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (const void *)u->uc_mcontext.pc;
#else
  (void)u;
  return NULL;
#endif
}

/* Returns the instruction's address in the form of a return address. */
static const void *site(const void *context) {
  return (const char *)program_counter(context) + 1;
}

#if defined(__x86_64__)
/* Returns whether the instruction is a move that needs an aligned address: movaps, movntps, movdqa
   or movntdq. prefix: numbered as in VEX; 0: none; 1: 66. */
static bool is_aligned_move(uint8_t opcode, int prefix) {
  return ((opcode == 0x28 || opcode == 0x29 || opcode == 0x2b) && prefix < 2) ||
         ((opcode == 0x6f || opcode == 0x7f || opcode == 0xe7) && prefix == 1);
}

/* Whether the instruction needs an aligned address for its 16 bytes or more: an SSE instruction
   on whole vectors, or an aligned move (Intel's manual, volume 2, appendix A). */
static bool wants_place(const uint8_t *at) {
  bool wide = false, scalar = false;
  for (; *at == 0x66 || *at == 0xf2 || *at == 0xf3 || (*at & 0xf0) == 0x40; at++) {
    wide |= *at == 0x66;
    scalar |= *at == 0xf2 || *at == 0xf3;
  }
  if (*at == 0xc5) return is_aligned_move(at[2], at[1] & 3);
  if (*at == 0xc4) return (at[1] & 0x1f) == 1 && is_aligned_move(at[3], at[2] & 3);
  if (*at == 0x62) return (at[1] & 7) == 1 && is_aligned_move(at[4], at[2] & 3);
  if (*at != 0x0f || scalar) return false;
  const uint8_t opcode = at[1];
  return is_aligned_move(opcode, wide) || (opcode >= 0x51 && opcode <= 0x6d) ||
         (opcode >= 0x70 && opcode <= 0x76) || opcode == 0xc2 || opcode == 0xc6 || opcode == 0xc7 ||
         (opcode >= 0xd0 && opcode != 0xd6);
}
#endif

/* Returns true if the processor refused the address for its alignment, not for its protection. x86
   reports a non-canonical address in the same way, so the instruction is examined. */
static bool is_misaligned(const siginfo_t *info, const void *context) {
  if (info->si_signo == SIGBUS) return info->si_code == BUS_ADRALN;
#if defined(__x86_64__)
  return info->si_code == SI_KERNEL && !info->si_addr && wants_place(program_counter(context));
#else
  (void)context;
  return false;
#endif
}

/* Writes "write at byte 4 past the end of a buffer of 64 bytes". */
static void describe_beside(struct line *line, const void *context, size_t distance, bool before,
                            const char *what, size_t bytes) {
  line->fault.cause = CUGEN_CAUSE_BOUNDS;
  fault_text_add(&line->text, guard_access_kind(context));
  fault_text_add(&line->text, " at byte ");
  fault_text_number(&line->text, distance, 10, 1);
  fault_text_add(&line->text, before ? " before the start of " : " past the end of ");
  fault_text_add(&line->text, what);
  fault_text_number(&line->text, bytes, 10, 1);
  fault_text_add(&line->text, " bytes");
}

static void describe_address(struct line *line, const siginfo_t *info, const void *context) {
  const char *address = info->si_addr;
  size_t distance;
  bool before;
  const struct span *buffer;
  if (is_misaligned(info, context)) {
    line->fault.cause = CUGEN_CAUSE_TRAP;
    fault_text_add(&line->text, "misaligned access");
    fibers_misaligned(site(context));
  } else if (fibers_owns_guard(address)) {
    fault_text_add(&line->text, "stack overflow");
    fibers_ended(site(context), "stack overflow");
  } else if (guard.shared && shared_zone_find(guard.shared, address, &before, &distance)) {
    describe_beside(line, context, distance, before, "", guard.shared->bytes);
    fault_text_add(&line->text, " of dynamic shared memory" SHARED_ZONE_HINT ",");
  } else if ((buffer = nearest(address, &distance))) {
    line->fault.beside = true;
    describe_beside(line, context, distance, address < buffer->start, "a buffer of ",
                    (size_t)(buffer->end - buffer->start));
  } else {
    line->fault.cause = CUGEN_CAUSE_BOUNDS;
    fault_text_add(&line->text, guard_access_kind(context));
    fibers_stray(site(context), address, is_write(context));
    fault_text_add(&line->text, " at address 0x");
    fault_text_number(&line->text, (uintptr_t)address, 16, 1);
  }
}

static void guard_trap(struct line *line, const void *context, const char *what) {
  line->fault.cause = CUGEN_CAUSE_TRAP;
  fault_text_add(&line->text, what);
  fibers_ended(site(context), what);
}

/* Describes a system call, which no kernel can make on a GPU: see base/seccomp.h. */
static void refuse_call(struct line *line, const siginfo_t *info, const void *context) {
  const char *name = seccomp_name(info->si_syscall);
  char what[FAULT_TEXT];
  struct fault_text text = {what, what + sizeof what - 1};
  fault_text_add(&text, "a GPU has no system calls, and ");
  fault_text_add(&text, name ? "'" : "number ");
  if (name)
    fault_text_add(&text, name);
  else
    fault_text_number(&text, (unsigned)info->si_syscall, 10, 1);
  fault_text_add(&text, name ? "' was called" : " was called");
  guard_trap(line, context, what);
}

static void handle(int number, siginfo_t *info, void *context) {
  struct line line;
  begin_line(&line, CUGEN_CAUSE_NONE);
  switch (number) {
  case SIGSEGV:
  case SIGBUS: describe_address(&line, info, context); break;
  case SIGFPE: guard_trap(&line, context, "integer division by zero"); break;
  case SIGALRM:
    if (fibers_time_is_up()) {
      alarm(1); /* ends a loop that makes no access */
      return;
    }
    fault_text_add(&line.text, fibers_hang(site(context)));
    break;
  case SIGVTALRM: fibers_leave_reversed(program_counter(context)); return;
  case SIGSYS: refuse_call(&line, info, context); break;
  case SIGILL: guard_trap(&line, context, "illegal instruction"); break;
  default: guard_trap(&line, context, "abort"); break;
  }
  char where[128];
  fibers_where(where, sizeof where);
  if (where[0]) fault_text_add(&line.text, " in ");
  fault_text_add(&line.text, where);
  die(&line);
}

/* ---- Installing ----------------------------------------------------------------------------- */

int guard_install(struct fault *fault, cugen_error *err) {
  if (guard.installed)
    return error_set(err, CUGEN_ERROR_USAGE, "this process has a cpu device open already");
  guard.stack = malloc(STACK_BYTES);
  if (!guard.stack) return error_memory(err);
  guard.fault = fault;
  const stack_t stack = {.ss_sp = guard.stack, .ss_size = STACK_BYTES};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_sigaction = handle,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < SIGNAL_COUNT; i++) sigaction(signals[i], &action, NULL);
  action.sa_flags |= SA_NODEFER; /* the handler may be left by a jump out of the launch */
  sigaction(SIGVTALRM, &action, NULL);
  fibers_on_fault(on_fault);
  guard.installed = true;
  return CUGEN_OK;
}

void guard_uninstall(void) {
  if (!guard.installed) return;
  const stack_t none = {.ss_flags = SS_DISABLE};
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (size_t i = 0; i < SIGNAL_COUNT; i++) sigaction(signals[i], &action, NULL);
  sigaltstack(&none, NULL);
  fibers_on_fault(NULL);
  free(guard.stack);
  guard.stack = NULL;
  guard.shared = NULL;
  guard.fault = NULL;
  guard.installed = false;
}

void guard_shared(const struct shared_zone *zone) {
  guard.shared = zone;
}

void guard_silence(void) {
  guard.fault = NULL;
}

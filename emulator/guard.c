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
#include "fibers.h"

enum { ALIGNMENT = 16, CANARY = 0xca, MOST_BUFFERS = 1024, FAULT_EXIT = 99 };

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

/* A large inaccessible zone on both sides also catches an index that is off by a row, not just
   by one. A soft zone is smaller, because it is written and read for every variant. */
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

/* The writable bytes around a buffer: from low to its start, from its end to high. */
struct canaries {
  unsigned char *low, *start, *end, *high;
};

static struct canaries canaries_of(const struct memory *memory, bool soft) {
  unsigned char *start = memory->device, *base = memory->base;
  const size_t unreachable = soft ? 0 : zone(soft);
  return (struct canaries){base + unreachable, start, start + memory->bytes,
                           base + memory->base_bytes - unreachable};
}

static void guard_write_canaries(const struct memory *memory, bool soft) {
  const struct canaries c = canaries_of(memory, soft);
  memset(c.low, CANARY, (size_t)(c.start - c.low));
  memset(c.end, CANARY, (size_t)(c.high - c.end));
}

/* Shared memory, because a launch may be spread over several processes. */
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
  guard_write_canaries(out, soft);
  if (!soft) guard_remember(start, start + bytes);
  return CUGEN_OK;
}

void guard_free(struct memory *memory, bool soft) {
  for (size_t i = 0; i < MOST_BUFFERS && !soft; i++)
    if (guard.buffers[i].start == memory->device) guard.buffers[i] = (struct span){0};
  munmap(memory->base, memory->base_bytes);
  *memory = (struct memory){0};
}

static int check_canaries(const struct memory *memory, bool soft, cugen_error *err) {
  const struct canaries c = canaries_of(memory, soft);
  for (const unsigned char *at = c.end; at < c.high; at++)
    if (*at != CANARY)
      return error_set_cause(
          err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS,
          "out of bounds: write at byte %zu past the end of a buffer of %zu bytes",
          (size_t)(at - c.end), memory->bytes);
  for (const unsigned char *at = c.start; at > c.low; at--)
    if (at[-1] != CANARY)
      return error_set_cause(
          err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS,
          "out of bounds: write at byte %zu before the start of a buffer of %zu bytes",
          (size_t)(c.start - at) + 1, memory->bytes);
  return CUGEN_OK;
}

int guard_check(const struct memory *memory, bool soft, cugen_error *err) {
  int status = check_canaries(memory, soft, err);
  if (status) guard_write_canaries(memory, soft);
  return status;
}

/* ---- Faults: from here on only async-signal-safe functions ---------------------------------- */

struct line {
  struct fault fault;
  size_t length; /* length of the text */
};

static void guard_add(struct line *line, const char *string) {
  while (*string && line->length < sizeof line->fault.text - 1)
    line->fault.text[line->length++] = *string++;
  line->fault.text[line->length] = '\0';
}

static void guard_add_number(struct line *line, unsigned long long value, unsigned base) {
  char digits[24];
  int at = sizeof digits - 1;
  digits[at] = '\0';
  do digits[--at] = "0123456789abcdef"[value % base];
  while ((value /= base) != 0);
  guard_add(line, &digits[at]);
}

static void die(const struct line *line) {
  if (guard.fault)
    memcpy(guard.fault, &line->fault, offsetof(struct fault, text) + line->length + 1);
  _exit(FAULT_EXIT);
}

static void guard_add_where(struct line *line) {
  char where[128];
  fibers_where(where, sizeof where);
  if (!where[0]) return;
  guard_add(line, " in ");
  guard_add(line, where);
}

/* For trap, assert and deadlock, whose text has the place already. */
static void on_fault(cugen_cause cause, const char *text) {
  struct line line = {.fault.cause = cause};
  guard_add(&line, text);
  die(&line);
}

/* The buffer nearest to the address, if the address is within the zones around it. */
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

/* Returns false if it cannot be told. */
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

/* The instruction's address in the form of a return address. */
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

/* Whether the processor refused the address for its alignment, not for its protection. x86
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

/* Returns false if the address is not near dynamic shared memory. */
static bool describe_shared(struct line *line, const char *address, const void *context) {
  bool before;
  size_t distance;
  if (!guard.shared || !shared_zone_find(guard.shared, address, &before, &distance)) return false;
  line->fault.cause = CUGEN_CAUSE_BOUNDS;
  guard_add(line, guard_access_kind(context));
  guard_add(line, " at byte ");
  guard_add_number(line, distance, 10);
  guard_add(line, before ? " before the start of " : " past the end of ");
  guard_add_number(line, guard.shared->bytes, 10);
  guard_add(line, " bytes of dynamic shared memory" SHARED_ZONE_HINT ",");
  return true;
}

static void describe_address(struct line *line, const siginfo_t *info, const void *context) {
  const char *address = info->si_addr;
  size_t distance;
  const struct span *buffer = nearest(address, &distance);
  if (is_misaligned(info, context)) {
    line->fault.cause = CUGEN_CAUSE_TRAP;
    guard_add(line, "misaligned access");
    fibers_misaligned(site(context));
  } else if (fibers_owns_guard(address)) {
    guard_add(line, "stack overflow");
    fibers_ended(site(context), "stack overflow");
  } else if (describe_shared(line, address, context)) {
    return;
  } else if (!buffer) {
    line->fault.cause = CUGEN_CAUSE_BOUNDS;
    guard_add(line, guard_access_kind(context));
    fibers_stray(site(context), address, is_write(context));
    guard_add(line, " at address 0x");
    guard_add_number(line, (unsigned long long)(uintptr_t)address, 16);
  } else {
    bool before = address < buffer->start;
    line->fault.cause = CUGEN_CAUSE_BOUNDS;
    line->fault.beside = true;
    guard_add(line, guard_access_kind(context));
    guard_add(line, " at byte ");
    guard_add_number(line, distance, 10);
    guard_add(line, before ? " before the start of a buffer of " : " past the end of a buffer of ");
    guard_add_number(line, (unsigned long long)(buffer->end - buffer->start), 10);
    guard_add(line, " bytes");
  }
}

static void guard_trap(struct line *line, const void *context, const char *what) {
  line->fault.cause = CUGEN_CAUSE_TRAP;
  guard_add(line, what);
  fibers_ended(site(context), what);
}

/* Describes a system call, which no kernel can make on a GPU: see base/seccomp.h. */
static void refuse_call(struct line *line, const siginfo_t *info, const void *context) {
  const char *name = seccomp_name(info->si_syscall);
  struct line what = {.length = 0};
  guard_add(&what, "a GPU has no system calls, and ");
  guard_add(&what, name ? "'" : "number ");
  if (name)
    guard_add(&what, name);
  else
    guard_add_number(&what, (unsigned)info->si_syscall, 10);
  guard_add(&what, name ? "' was called" : " was called");
  guard_trap(line, context, what.fault.text);
}

static void handle(int number, siginfo_t *info, void *context) {
  struct line line = {.length = 0};
  switch (number) {
  case SIGSEGV:
  case SIGBUS: describe_address(&line, info, context); break;
  case SIGFPE: guard_trap(&line, context, "integer division by zero"); break;
  case SIGALRM:
    if (fibers_time_is_up()) {
      alarm(1); /* ends a loop that makes no access */
      return;
    }
    guard_add(&line, fibers_hang(site(context)));
    break;
  case SIGVTALRM: fibers_leave_reversed(program_counter(context)); return;
  case SIGSYS: refuse_call(&line, info, context); break;
  case SIGILL: guard_trap(&line, context, "illegal instruction"); break;
  default: guard_trap(&line, context, "abort"); break;
  }
  guard_add_where(&line);
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

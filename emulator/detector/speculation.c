/* The processes of a speculative launch, and their claims to memory; see speculation.h. */
#include "speculation.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/seccomp.h"
#include "emulator/guard.h"

enum {
  MOST_PROCESSES = 64,
  MOST_BYTES = 1 << 28, /* most bytes of memory that are copied */
  /* A claim: the number of the process, from 1, with a bit for writing; or a value for several
     readers. */
  WRITTEN = 128,
  BY_SEVERAL = 127
};

struct slot {
  bool done;
  struct watch_report report;
};

/* Memory that the processes share. */
struct common {
  atomic_uint_fast64_t next;
  atomic_bool dropped;
  struct slot slots[];
};

struct area {
  struct speculation_memory memory;
  void *before;         /* a copy of the memory before the launch was split */
  atomic_uchar *claims; /* a claim for each byte */
};

struct speculation {
  struct common *common;
  struct area areas[WATCH_MOST_BUFFERS];
  size_t area_count;
  uint64_t end, step;
  int processes;
  uint8_t self; /* 0: the parent */
};

/* ---- Opening -------------------------------------------------------------------------------- */

static size_t common_bytes(int processes) {
  return sizeof(struct common) + (size_t)processes * sizeof(struct slot);
}

static void *speculation_map_shared(size_t bytes) {
  void *at =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

void speculation_close(struct speculation *s) {
  if (!s) return;
  for (size_t i = 0; i < s->area_count; i++) {
    free(s->areas[i].before);
    if (s->areas[i].claims) munmap(s->areas[i].claims, s->areas[i].memory.bytes);
  }
  if (s->common) munmap(s->common, common_bytes(s->processes));
  free(s);
}

static bool keep_area(struct speculation *s, const struct speculation_memory *memory) {
  struct area *area = &s->areas[s->area_count++];
  *area = (struct area){.memory = *memory};
  if (!memory->bytes) return true;
  area->before = malloc(memory->bytes);
  area->claims = speculation_map_shared(memory->bytes);
  if (!area->before || !area->claims) return false;
  memcpy(area->before, memory->start, memory->bytes);
  return true;
}

/* Returns NULL if memory is out, or the buffers are too many or have more than MOST_BYTES. */
static struct speculation *open_speculation(const struct speculation_memory *memory, size_t count,
                                            int processes) {
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++) bytes += memory[i].bytes;
  if (count > WATCH_MOST_BUFFERS || bytes > MOST_BYTES) return NULL;
  struct speculation *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->processes = processes < MOST_PROCESSES ? processes : MOST_PROCESSES;
  s->common = speculation_map_shared(common_bytes(s->processes));
  bool kept = s->common != NULL;
  for (size_t i = 0; i < count && kept; i++) kept = keep_area(s, &memory[i]);
  if (kept) return s;
  speculation_close(s);
  return NULL;
}

/* ---- Processes ------------------------------------------------------------------------------ */

/* A child process dies with its parent, has what is left of its parent's time, and reports no
   faults, which occur again in the parent. */
static void speculation_become_process(struct speculation *s, int number, pid_t parent,
                                       const struct itimerval *left) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  s->self = (uint8_t)(number + 1);
  guard_silence();
  setitimer(ITIMER_REAL, left, NULL);
}

static bool is_child(struct speculation *s, pid_t *pids, const struct itimerval *left,
                     uint64_t key) {
  const pid_t parent = getpid();
  for (int i = 0; i < s->processes; i++) {
    pids[i] = seccomp_fork(key);
    if (pids[i] == 0) {
      speculation_become_process(s, i, parent, left);
      return true;
    }
    if (pids[i] < 0) atomic_store(&s->common->dropped, true);
  }
  return false;
}

static bool has_hung(const struct watch_report *report) {
  for (uint32_t i = 0; i < report->finding_count; i++)
    if (report->findings[i].kind == CUGEN_FINDING_HANG) return true;
  return false;
}

static enum speculation_outcome speculation_wait_for_all(struct speculation *s, const pid_t *pids) {
  bool all_done = true, hung = false;
  for (int i = 0; i < s->processes; i++) {
    int status;
    while (pids[i] > 0 && waitpid(pids[i], &status, 0) < 0 && errno == EINTR) {
    }
    all_done &= s->common->slots[i].done;
    hung |= has_hung(&s->common->slots[i].report);
  }
  if (atomic_load(&s->common->dropped)) return SPECULATION_NONE;
  return all_done ? SPECULATION_DONE : hung ? SPECULATION_HANG : SPECULATION_NONE;
}

static void speculation_restore(const struct speculation *s) {
  for (size_t i = 0; i < s->area_count; i++)
    if (s->areas[i].before)
      memcpy(s->areas[i].memory.start, s->areas[i].before, s->areas[i].memory.bytes);
}

enum speculation_outcome speculation_run(const struct speculation_memory *memory, size_t count,
                                         int processes, const struct speculation_range *range,
                                         struct speculation **speculation) {
  static const struct itimerval never;
  struct itimerval left;
  pid_t pids[MOST_PROCESSES];
  struct speculation *s = *speculation = open_speculation(memory, count, processes);
  if (!s) return SPECULATION_NONE;
  s->end = range->end;
  s->step = range->step;
  atomic_store(&s->common->next, range->first);
  setitimer(ITIMER_REAL, &never, &left);
  if (is_child(s, pids, &left, range->fork)) return SPECULATION_CHILD;
  const enum speculation_outcome outcome = speculation_wait_for_all(s, pids);
  setitimer(ITIMER_REAL, &left, NULL);
  if (outcome != SPECULATION_NONE) return outcome;
  speculation_restore(s);
  speculation_close(s);
  *speculation = NULL;
  return SPECULATION_NONE;
}

/* ---- In one of the processes ---------------------------------------------------------------- */

struct watch_report *speculation_report(struct speculation *s) {
  return &s->common->slots[s->self - 1].report;
}

void speculation_drop(struct speculation *s) {
  atomic_store(&s->common->dropped, true);
  _exit(1);
}

void speculation_end(struct speculation *s) {
  s->common->slots[s->self - 1].done = true;
  _exit(0);
}

uint64_t speculation_next(struct speculation *s) {
  if (atomic_load(&s->common->dropped)) speculation_drop(s);
  const uint64_t next = atomic_fetch_add(&s->common->next, s->step);
  return next < s->end ? next : s->end;
}

/* The new claim of a byte; 0: claims conflict. */
static uint8_t claimed(uint8_t now, uint8_t self, bool write) {
  if (now == 0 || now == self) return write ? self | WRITTEN : self;
  if (now == (self | WRITTEN)) return now;
  return write || now & WRITTEN ? 0 : BY_SEVERAL;
}

static bool detector_speculation_claim(atomic_uchar *at, uint8_t self, bool write) {
  unsigned char now = atomic_load_explicit(at, memory_order_relaxed);
  for (;;) {
    const uint8_t wanted = claimed(now, self, write);
    if (wanted == now || !wanted) return wanted;
    if (atomic_compare_exchange_weak(at, &now, wanted)) return true;
  }
}

/* Claims four bytes at once that are free, or already claimed by this process; false: the bytes
   must be claimed one by one. */
static bool claim_word(atomic_uchar *claims, uint8_t self, bool write) {
  const uint32_t each = 0x01010101;
  uint32_t now = 0, *at = (uint32_t *)(void *)claims;
  if (__atomic_compare_exchange_n(at, &now, each * (write ? self | WRITTEN : self), false,
                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return true;
  return now == each * (self | WRITTEN) || (!write && now == each * self);
}

void speculation_claim(struct speculation *s, size_t i, size_t offset, size_t bytes, bool write) {
  atomic_uchar *claims = s->areas[i].claims;
  for (size_t b = offset; b < offset + bytes; b++) {
    if (b % sizeof(uint32_t) == 0 && b + sizeof(uint32_t) <= offset + bytes &&
        claim_word(&claims[b], s->self, write))
      b += sizeof(uint32_t) - 1;
    else if (!detector_speculation_claim(&claims[b], s->self, write))
      speculation_drop(s);
  }
}

/* ---- In the parent -------------------------------------------------------------------------- */

const struct watch_report *speculation_result(const struct speculation *s, size_t i) {
  return i < (size_t)s->processes ? &s->common->slots[i].report : NULL;
}

bool speculation_written(const struct speculation *s, size_t i, size_t offset) {
  return s->areas[i].claims &&
         atomic_load_explicit(&s->areas[i].claims[offset], memory_order_relaxed) & WRITTEN;
}

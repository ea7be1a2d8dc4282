/* wgmma of inline PTX: matrix products of a warpgroup of four warps, which are asynchronous. This
   file holds the accumulators, and the registers are invalid until the thread has waited for the
   products. Operands in shared memory are read at the wait; an operand in registers is copied when
   the product begins. The sums' registers, which the text names one by one, must be the elements of
   an array, one after the other in memory. PTX ISA, "wgmma.mma_async"; see inline_ptx.h. */
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "base/array.h"
#include "inline_ptx.h"

enum {
  THREADS = ASYNC_WARPGROUP,
  ROWS = 64,
  MOST_N = 256,
  K_BYTES = 32, /* bytes along k that an instruction covers */
  MOST_ACCUMULATORS = 16,
  WIDTH = 4,
  X_WORDS = 4 /* words of a thread's part of an X in registers */
};

/* The flags of a product: it adds to the sums; k is not the contiguous dimension of X, of Y. X and
   Y are A and B of the PTX ISA. */
enum { ADDS = 1, X_ACROSS = 2, Y_ACROSS = 4 };

struct product {
  unsigned long long x, y; /* descriptors of operands in shared memory */
  enum iptx_type type;     /* of the operands' elements */
  int n, flags;
  unsigned accumulator, group; /* index of the accumulators; number of the product's group */
  /* each thread's words of X, if X is in registers; NULL: X is in shared memory */
  uint32_t (*x_words)[X_WORDS];
  const void *site;
};

/* A thread's accumulators while they are not in its registers. */
struct held {
  char *registers; /* NULL: none */
  int n;
  unsigned product; /* number of the last product that adds to the accumulators */
};

struct member {
  unsigned issued, committed; /* number of products, and of groups */
  struct held held[MOST_ACCUMULATORS];
};

union accumulators {
  float real[ROWS][MOST_N];
  int32_t whole[ROWS][MOST_N];
};

typedef float vector __attribute__((vector_size(WIDTH * sizeof(float))));

/* The operands of one product as numbers. */
struct operands {
  vector y[K_BYTES][MOST_N / WIDTH]; /* k, column */
  float x[ROWS][K_BYTES];
};

struct warpgroup {
  struct operands operands;
  struct member members[THREADS];
  struct product *products; /* products from `done` on; the first one has the number `done` */
  unsigned done, count;
  size_t room;
  unsigned rank;
  union accumulators *accumulators[MOST_ACCUMULATORS];
  /* slot of the first thread, which stands for the whole warpgroup in reports to the observer */
  unsigned leader;
  uint32_t epoch;          /* of the last report in touch_operands */
  struct wait_queue queue; /* threads that wait for products that not all threads have committed */
};

static void warpgroup_forget_products(struct warpgroup *w, unsigned count) {
  for (unsigned i = 0; i < count; i++) free(w->products[i].x_words);
  w->count -= count;
  if (count) memmove(w->products, w->products + count, w->count * sizeof *w->products);
}

void warpgroup_close(struct warpgroup *w) {
  if (!w) return;
  warpgroup_forget_products(w, w->count);
  for (int i = 0; i < MOST_ACCUMULATORS; i++) free(w->accumulators[i]);
  free(w->products);
  free(w);
}

void warpgroup_begin(struct warpgroup *w) {
  memset(w->members, 0, sizeof w->members);
  warpgroup_forget_products(w, w->count);
  w->done = 0;
  w->queue = (struct wait_queue){0};
}

static struct warpgroup *own_warpgroup(void) {
  struct async *async = fibers_async();
  const struct current *current = fibers_current();
  const unsigned within = current->slot % current->padded / THREADS;
  if ((within + 1) * THREADS > current->threads)
    fibers_trap("wgmma in a warpgroup that is not whole");
  struct warpgroup **w = &async->warpgroups[current->rank * (FIBERS_THREADS / THREADS) + within];
  if (!*w) *w = calloc(1, sizeof **w);
  if (!*w) fibers_trap("no memory for a warpgroup's products");
  async->used = true;
  (*w)->rank = current->rank;
  (*w)->leader = current->rank * current->padded + within * THREADS;
  return *w;
}

static struct member *own_member(struct warpgroup *w) {
  return &w->members[fibers_current()->slot % fibers_current()->padded % THREADS];
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static float real_at(const unsigned char *at, enum iptx_type type) {
  uint32_t word;
  uint16_t half;
  switch (type) {
  case IPTX_TF32: /* the tensor core uses 10 bits of a float's fraction */
    memcpy(&word, at, sizeof word);
    return (float)iptx_real(word & 0xffffe000u, IPTX_F32);
  case IPTX_F16:
  case IPTX_BF16: memcpy(&half, at, sizeof half); return (float)iptx_real(half, type);
  default: return (float)iptx_real(*at, type);
  }
}

/* ---- Operands: finding an element by its descriptor ----------------------------------------- */

struct operand {
  unsigned start, leading, stride, swizzle;
  int element;
  bool across; /* k is not the contiguous dimension */
  unsigned rank;
};

static struct operand operand_of(unsigned long long descriptor, enum iptx_type type, bool across,
                                 unsigned rank) {
  enum { PLACE = 0x3fff };
  static const unsigned swizzles[] = {0, 128, 64, 32};
  struct operand o = {.start = (unsigned)(descriptor & PLACE) << 4,
                      .leading = (unsigned)(descriptor >> 16 & PLACE) << 4,
                      .stride = (unsigned)(descriptor >> 32 & PLACE) << 4,
                      .swizzle = swizzles[descriptor >> 62],
                      .element = (int)iptx_bits(type) / 8,
                      .across = across,
                      .rank = rank};
  if (descriptor >> 49 & 7)
    fibers_trap("wgmma with a base offset, which the cpu device does not follow");
  if (across && (o.element != 2 || !o.swizzle))
    fibers_trap("wgmma across the lines of an operand is for 2-byte elements, swizzled");
  return o;
}

/* PTX ISA, "Shared Memory Matrix Layout", "Strides": line counts rows of X or columns of Y. */
static unsigned warpgroup_place_of(const struct operand *o, unsigned line, unsigned k) {
  unsigned at = o->start;
  if (o->across) {
    const unsigned wide = o->swizzle / (unsigned)o->element;
    at += line / wide * o->leading + line % wide * (unsigned)o->element + k / 8 * o->stride +
          k % 8 * o->swizzle;
  } else {
    const unsigned byte = k * (unsigned)o->element;
    at += line / 8 * o->stride;
    at += o->swizzle ? line % 8 * o->swizzle + byte
                     : line % 8 * 16 + byte / 16 * o->leading + byte % 16;
  }
  return o->swizzle ? at ^ (at >> 7 & (o->swizzle / 16 - 1)) << 4 : at;
}

static const unsigned char *element_at(const struct operand *o, unsigned line, unsigned k) {
  return (const unsigned char *)async_shared(warpgroup_place_of(o, line, k), o->rank,
                                             (size_t)o->element);
}

/* ---- Accesses of a watched kernel's products, in pieces of 16 bytes ------------------------- */

static struct observed_access touch_of(const struct operand *o, unsigned line, unsigned k,
                                       unsigned slot, const void *site) {
  return (struct observed_access){.at = async_raw(warpgroup_place_of(o, line, k), o->rank),
                                  .bytes = 16,
                                  .kind = OBSERVED_PROXY,
                                  .thread = slot,
                                  .rank = o->rank,
                                  .site = site};
}

/* Reports that a product reads the operand; begins: that the product begins to read it. Returns
   the epoch of the last report. */
static uint32_t touch_operand(const struct operand *o, int lines, unsigned slot, const void *site,
                              bool begins) {
  const int piece = 16 / o->element, line_step = o->across ? piece : 1,
            k_step = o->across ? 1 : piece;
  uint32_t epoch = 0;
  for (int k = 0; k < K_BYTES / o->element; k += k_step) {
    for (int line = 0; line < lines; line += line_step) {
      struct observed_access touch = touch_of(o, (unsigned)line, (unsigned)k, slot, site);
      if (begins) touch.kind |= CPU_ASYNC;
      epoch = observe_access(fibers_observer(), &touch);
    }
  }
  return epoch;
}

struct pair {
  struct operand x, y;
};

static struct pair operands_of(const struct warpgroup *w, const struct product *p) {
  return (struct pair){operand_of(p->x, p->type, p->flags & X_ACROSS, w->rank),
                       operand_of(p->y, p->type, p->flags & Y_ACROSS, w->rank)};
}

static void touch_operands(struct warpgroup *w, const struct product *p, bool begins) {
  const struct pair pair = operands_of(w, p);
  if (!fibers_observer()) return;
  if (!p->x_words) touch_operand(&pair.x, ROWS, w->leader, p->site, begins);
  w->epoch = touch_operand(&pair.y, p->n, w->leader, p->site, begins);
}

/* ---- Multiplying ---------------------------------------------------------------------------- */

/* Adds the products of one row with all columns. The sums of a block of columns stay in registers
   over all of k. k rises in order, because each sum is rounded. */
static void multiply_row(float *accumulators, const float *x, const struct operands *all, int n,
                         int depth) {
  enum { BLOCK = 8 };
  vector *to = (vector *)(void *)accumulators;
  int column = 0;
  for (; column + BLOCK <= n / WIDTH; column += BLOCK) {
    vector sums[BLOCK];
    memcpy(sums, to + column, sizeof sums);
    for (int k = 0; k < depth; k++) {
      const vector factor = {x[k], x[k], x[k], x[k]};
      for (int i = 0; i < BLOCK; i++) sums[i] += factor * all->y[k][column + i];
    }
    memcpy(to + column, sums, sizeof sums);
  }
  for (int k = 0; k < depth; k++) {
    const vector factor = {x[k], x[k], x[k], x[k]};
    for (int i = column; i < n / WIDTH; i++) to[i] += factor * all->y[k][i];
  }
}

/* In registers, word 2 q + h of thread t is word t % 4 of the q-th 16 bytes along k, in row
   t / 32 * 16 + t % 32 / 4 + 8 h. */
static const unsigned char *x_at(const struct product *p, const struct operand *x, unsigned line,
                                 unsigned k) {
  if (!p->x_words) return element_at(x, line, k);
  const unsigned byte = k * (unsigned)x->element,
                 thread = line / 16 * 32 + line % 8 * 4 + byte / 4 % 4;
  return (unsigned char *)&p->x_words[thread][byte / 16 * 2 + line % 16 / 8] + byte % 4;
}

static void multiply_reals(const struct product *p, const struct operand *x,
                           const struct operand *y, struct operands *all,
                           union accumulators *accumulators) {
  const int depth = K_BYTES / x->element;
  for (int k = 0; k < depth; k++) {
    float *row = (float *)(void *)all->y[k];
    for (int line = 0; line < ROWS; line++)
      all->x[line][k] = real_at(x_at(p, x, (unsigned)line, (unsigned)k), p->type);
    for (int column = 0; column < p->n; column++)
      row[column] = real_at(element_at(y, (unsigned)column, (unsigned)k), p->type);
  }
  for (int line = 0; line < ROWS; line++)
    multiply_row(accumulators->real[line], all->x[line], all, p->n, depth);
}

static int whole_of(enum iptx_type type, const unsigned char *at) {
  return type == IPTX_S8 ? (signed char)*at : *at;
}

static void multiply_wholes(const struct product *p, const struct operand *x,
                            const struct operand *y, union accumulators *accumulators) {
  for (int k = 0; k < K_BYTES; k++) {
    int row[MOST_N];
    for (int column = 0; column < p->n; column++)
      row[column] = whole_of(p->type, element_at(y, (unsigned)column, (unsigned)k));
    for (int line = 0; line < ROWS; line++) {
      const int factor = whole_of(p->type, x_at(p, x, (unsigned)line, (unsigned)k));
      for (int column = 0; column < p->n; column++)
        accumulators->whole[line][column] += factor * row[column];
    }
  }
}

static void warpgroup_run(struct warpgroup *w, const struct product *p) {
  const struct pair pair = operands_of(w, p);
  union accumulators *accumulators = w->accumulators[p->accumulator];
  touch_operands(w, p, false);
  if (!(p->flags & ADDS)) memset(accumulators, 0, sizeof *accumulators);
  if (p->type == IPTX_S8 || p->type == IPTX_U8)
    multiply_wholes(p, &pair.x, &pair.y, accumulators);
  else
    multiply_reals(p, &pair.x, &pair.y, &w->operands, accumulators);
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* Accumulator 4 q + 2 h + e of thread t is the element in row t / 32 * 16 + t % 32 / 4 + 8 h and
   column 8 q + t % 4 * 2 + e. */

static void warpgroup_exchange(union accumulators *accumulators, unsigned thread,
                               const struct held *held, bool to_registers) {
  const unsigned row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  for (int q = 0; q < held->n / 8; q++) {
    for (unsigned h = 0; h < 2; h++) {
      int32_t *here = &accumulators->whole[row + 8 * h][8 * q + (int)column];
      char *there = held->registers + (4 * q + 2 * (int)h) * (int)sizeof *here;
      memcpy(to_registers ? there : (char *)here, to_registers ? (char *)here : there,
             2 * sizeof *here);
    }
  }
}

/* Returns the index of the accumulators that these registers stand for; begin_product compares the
   threads' indices. New registers get a free index: their values move to w->accumulators, and the
   registers are poisoned until warpgroup_give_back. */
static unsigned warpgroup_hold(struct warpgroup *w, struct member *self, char *registers, int n) {
  const unsigned thread = (unsigned)(self - w->members);
  unsigned free_one = MOST_ACCUMULATORS;
  for (unsigned i = MOST_ACCUMULATORS; i-- > 0;) {
    if (self->held[i].registers == registers) return i;
    if (!self->held[i].registers) free_one = i;
  }
  if (free_one == MOST_ACCUMULATORS)
    fibers_trap("more sums of wgmma are under way than the cpu device can follow");
  if (!w->accumulators[free_one] && posix_memalign((void **)&w->accumulators[free_one],
                                                   sizeof(vector), sizeof(union accumulators)))
    fibers_trap("no memory for a warpgroup's sums");
  self->held[free_one] = (struct held){.registers = registers, .n = n};
  warpgroup_exchange(w->accumulators[free_one], thread, &self->held[free_one], false);
  memset(registers, 0xff, (size_t)n / 2 * sizeof(float)); /* NaN, or -1 */
  return free_one;
}

static void warpgroup_give_back(struct warpgroup *w, struct member *self) {
  for (unsigned i = 0; i < MOST_ACCUMULATORS; i++) {
    struct held *held = &self->held[i];
    if (!held->registers || held->product >= w->done) continue;
    warpgroup_exchange(w->accumulators[i], (unsigned)(self - w->members), held, true);
    OBSERVE(fibers_observer(), accumulators_release, fibers_current()->slot, held->registers);
    held->registers = NULL;
  }
}

/* ---- Beginning a product -------------------------------------------------------------------- */

enum { DESCRIPTOR_X = 1, DESCRIPTOR_Y, SCALE, NEGATE_X, NEGATE_Y, ACROSS_X, ACROSS_Y };

static bool is_supported(const struct iptx_instruction *i) {
  if (i->type_count != 3 || i->types[1] != i->types[2] || iptx_has(i, IPTX_W_SATFINITE))
    return false;
  switch (i->types[1]) {
  case IPTX_F16:
  case IPTX_BF16:
  case IPTX_TF32:
  case IPTX_E4M3:
  case IPTX_E5M2: return i->types[0] == IPTX_F32;
  case IPTX_S8:
  case IPTX_U8: return i->types[0] == IPTX_S32;
  default: return false;
  }
}

/* Returns the array of the sums. Traps unless consecutive operands are consecutive in memory.
   Checks this at each execution. */
static void *sums_of(const struct iptx_run *run, const struct iptx_instruction *i) {
  const struct iptx_argument *sums = &i->arguments[0];
  const unsigned first = sums->terms[0].index,
                 stored = sums->count < IPTX_TERMS ? sums->count : IPTX_TERMS;
  bool follow = sums->terms[0].kind == IPTX_OPERAND && first + sums->count <= run->operand_count;
  for (unsigned n = 1; n < stored && follow; n++)
    follow = sums->terms[n].kind == IPTX_OPERAND && sums->terms[n].index == first + n;
  for (unsigned n = 0; n < sums->count && follow; n++) {
    const struct cpu_ptx_operand *operand = &run->operands[first + n];
    follow = operand->output && operand->bytes == 4 &&
             operand->bits == run->operands[first].bits + (uint64_t)4 * n;
  }
  if (!follow)
    iptx_trap(run, "a wgmma whose sums do not lie one behind the other, as an array's elements do");
  return iptx_variable(&run->operands[first]);
}

/* Reads the scale, a predicate or a number, then the signs, 1 or -1, and for elements of 16 bits
   the transpositions: 1 if k is not contiguous. */
static int flags_of(const struct iptx_run *run, const struct iptx_instruction *i) {
  int flags = iptx_get(run, i, SCALE,
                       i->arguments[SCALE].terms[0].kind == IPTX_REGISTER ? IPTX_PRED : IPTX_U32)
                  ? ADDS
                  : 0;
  for (unsigned sign = NEGATE_X; sign <= NEGATE_Y && sign < i->count; sign++)
    if ((int32_t)iptx_get(run, i, sign, IPTX_S32) != 1)
      iptx_trap(run, "a wgmma with a negated operand");
  /* an X in registers has no transposition */
  const bool registers = i->arguments[DESCRIPTOR_X].count > 1;
  const unsigned across_y = registers ? ACROSS_X : ACROSS_Y;
  if (!registers && i->count > ACROSS_X && iptx_get(run, i, ACROSS_X, IPTX_U32)) flags |= X_ACROSS;
  if (i->count > across_y && iptx_get(run, i, across_y, IPTX_U32)) flags |= Y_ACROSS;
  return flags;
}

/* An address of static shared memory is too large for a descriptor (shared_address.c). */
static uint64_t descriptor_of(const struct iptx_run *run, const struct iptx_instruction *i,
                              unsigned argument) {
  const uint64_t descriptor = iptx_get(run, i, argument, IPTX_U64);
  if ((descriptor & 0x3fff) << 4 >= fibers_launch()->dynamic_bytes)
    iptx_trap(run, "a wgmma with an operand outside of dynamic shared memory, which alone the cpu "
                   "device has for it");
  return descriptor;
}

static struct product *warpgroup_add_product(struct warpgroup *w) {
  struct product *grown = array_reserve(w->products, &w->room, w->count, sizeof *grown);
  if (!grown) fibers_trap("no memory for a warpgroup's products");
  w->products = grown;
  return &w->products[w->count++];
}

/* Copies the thread's words of an X that is in registers. */
static void keep_words(struct product *p, unsigned thread, const uint32_t *words) {
  if (!p->x_words) p->x_words = calloc(THREADS, sizeof *p->x_words);
  if (!p->x_words) fibers_trap("no memory for a warpgroup's operand");
  memcpy(p->x_words[thread], words, sizeof *p->x_words);
}

static void observe_product(struct warpgroup *w, const struct member *self, const struct product *p,
                            const void *accumulators) {
  const unsigned slot = fibers_current()->slot;
  OBSERVE(fibers_observer(), accumulators_hold, slot, accumulators,
          (size_t)p->n / 2 * sizeof(float), p->site);
  if (self == w->members) {
    touch_operands(w, p, true);
    return;
  }
  /* The thread uses the operands, which it must itself have waited for. Only the first piece of
     each operand is reported. */
  const struct pair pair = operands_of(w, p);
  const struct observed_access x = touch_of(&pair.x, 0, 0, slot, p->site);
  const struct observed_access y = touch_of(&pair.y, 0, 0, slot, p->site);
  if (!p->x_words) OBSERVE(fibers_observer(), use, &x);
  OBSERVE(fibers_observer(), use, &y);
}

static void begin_product(struct product *wanted, void *accumulators, const uint32_t *x_words) {
  struct warpgroup *w = own_warpgroup();
  struct member *self = own_member(w);
  const int n = wanted->n;
  if (n < 8 || n > MOST_N || n % 8) fibers_trap("wgmma of other than 8, 16 ... 256 columns");
  const unsigned index = self->issued++, accumulator = warpgroup_hold(w, self, accumulators, n);
  self->held[accumulator].product = index;
  wanted->accumulator = accumulator;
  wanted->group = self->committed;
  if (index == w->done + w->count) *warpgroup_add_product(w) = *wanted;
  struct product *p = &w->products[index - w->done];
  if (p->x != wanted->x || p->y != wanted->y || p->n != n || p->flags != wanted->flags ||
      p->accumulator != accumulator || p->group != wanted->group)
    async_trap(wanted->site,
               "threads of a warpgroup come to different products, or with different operands");
  if (x_words) keep_words(p, (unsigned)(self - w->members), x_words);
  if (fibers_observer()) observe_product(w, self, p, accumulators);
}

/* ---- Operations ----------------------------------------------------------------------------- */

static void multiply(struct iptx_run *run, const struct iptx_instruction *i) {
  const int n = 2 * i->arguments[0].count;
  if (!is_supported(i)) iptx_trap(run, "a wgmma of types that the cpu device does not have");
  if (n != i->columns) iptx_trap(run, "a wgmma with other registers than its shape has");
  struct product wanted = {.type = i->types[1], .n = n, .site = run->site};
  void *sums = sums_of(run, i);
  uint32_t words[X_WORDS];
  const struct iptx_argument *x = &i->arguments[DESCRIPTOR_X];
  const bool registers = x->count != 1;
  if (registers && x->count != X_WORDS)
    iptx_trap(run, "a wgmma with other than four registers for an operand");
  for (int r = 0; r < X_WORDS && registers; r++)
    words[r] = (uint32_t)iptx_bits_of(run, &x->terms[r]);
  wanted.x = registers ? 0 : descriptor_of(run, i, DESCRIPTOR_X);
  wanted.y = descriptor_of(run, i, DESCRIPTOR_Y);
  wanted.flags = flags_of(run, i);
  begin_product(&wanted, sums, registers ? words : NULL);
}

/* The number of products in groups that all threads have committed. */
static unsigned committed(const struct warpgroup *w) {
  unsigned least = w->members[0].committed, index = 0;
  for (int i = 1; i < THREADS; i++)
    if (w->members[i].committed < least) least = w->members[i].committed;
  while (index < w->count && w->products[index].group < least) index++;
  return w->done + index;
}

static void commit(struct iptx_run *run, const struct iptx_instruction *i) {
  (void)run, (void)i;
  struct warpgroup *w = own_warpgroup();
  const unsigned own = ++own_member(w)->committed;
  for (int t = 0; t < THREADS; t++)
    if (w->members[t].committed < own) return;
  fibers_wake_all(&w->queue);
}

static void warpgroup_describe(const void *object, char *out, size_t size) {
  static const char text[] = "for products that not all threads of its warpgroup have come to";
  (void)object;
  if (size) memcpy(out, text, size < sizeof text ? size - 1 : sizeof text);
}

/* Carries out the products whose numbers are below `end`. */
static void warpgroup_finish(struct warpgroup *w, unsigned end) {
  const unsigned wanted = end > w->done ? end - w->done : 0;
  for (unsigned i = 0; i < wanted; i++) warpgroup_run(w, &w->products[i]);
  w->done += wanted;
  warpgroup_forget_products(w, wanted);
}

static void wait(struct iptx_run *run, const struct iptx_instruction *i) {
  const unsigned newest = (unsigned)iptx_get(run, i, 0, IPTX_U32);
  struct warpgroup *w = own_warpgroup();
  struct member *self = own_member(w);
  unsigned end = w->done;
  while (end - w->done < w->count && w->products[end - w->done].group + newest < self->committed)
    end++;
  while (end > w->done && committed(w) < end)
    fibers_wait(&w->queue, run->site, warpgroup_describe, w);
  warpgroup_finish(w, end);
  OBSERVE(fibers_observer(), follow, fibers_current()->slot, w->leader, w->epoch);
  warpgroup_give_back(w, self);
}

static void fence(struct iptx_run *run, const struct iptx_instruction *i) {
  (void)run, (void)i;
  OBSERVE(fibers_observer(), accumulators_fence, fibers_current()->slot);
}

const struct iptx_operation iptx_warpgroup[] = {{"wgmma", IPTX_W_MMA_ASYNC, 4, 8, multiply},
                                                {"wgmma", IPTX_W_FENCE, 0, 0, fence},
                                                {"wgmma", IPTX_W_COMMIT_GROUP, 0, 0, commit},
                                                {"wgmma", IPTX_W_WAIT_GROUP, 1, 1, wait},
                                                {NULL, IPTX_W_COUNT, 0, 0, NULL}};

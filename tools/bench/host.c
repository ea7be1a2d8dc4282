/* Benchmark: what the host's processor does with the first kernels of docs/memory.md, on one
   core and on all: the sum of 1e8 floats, a transpose of 8192 x 8192, a product of 1000 x 1000
   matrices. Compiled C, vectorised by the compiler for the processor at hand; each result is
   looked at. Best and median of seven runs. bench_host [THREADS] */
#include <pthread.h>
#include <stdint.h>

#include "common.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_PROCESSOR                                                                         \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

enum { RUNS = 7, LANES = 64, BLOCK = 32, SIDE = 8192, WIDTH = 1000, MOST_THREADS = 1024 };
static const size_t elements = 100000000;

struct data {
  float *x, *y, *z;
};

/* A thread's part of the work: number `number` of `of` parts. */
struct part {
  const struct data *data;
  void (*work)(struct part *part);
  int number, of;
  double sum;
};

static size_t begin_of(const struct part *p, size_t count, int number) {
  return count * (size_t)number / (size_t)p->of;
}

/* ---- The work ------------------------------------------------------------------------------- */

static void fill(struct part *p) {
  const size_t end = begin_of(p, elements, p->number + 1);
  for (size_t i = begin_of(p, elements, p->number); i < end; i++) {
    p->data->x[i] = (float)(i % 128) / 128;
    p->data->y[i] = 0;
  }
}

/* Keeps LANES sums, several for each lane of a vector, so that additions need not wait for each
   other. The sums of a block of numbers are added up in double. */
FOR_EACH_PROCESSOR static double sum_of(const float *x, size_t count) {
  double total = 0;
  for (size_t at = 0; at < count; at += 1 << 16) {
    const size_t end = at + (1 << 16) < count ? at + (1 << 16) : count;
    float sums[LANES] = {0};
    size_t i = at;
    for (; i + LANES <= end; i += LANES)
      for (int lane = 0; lane < LANES; lane++) sums[lane] += x[i + (size_t)lane];
    for (int lane = 0; lane < LANES; lane++) total += (double)sums[lane];
    for (; i < end; i++) total += (double)x[i];
  }
  return total;
}

static void reduce(struct part *p) {
  const size_t begin = begin_of(p, elements, p->number);
  p->sum = sum_of(p->data->x + begin, begin_of(p, elements, p->number + 1) - begin);
}

/* Transposes by rows of y, element by element. */
static void transpose_plain(struct part *p) {
  const size_t end = begin_of(p, SIDE, p->number + 1);
  for (size_t row = begin_of(p, SIDE, p->number); row < end; row++)
    for (size_t col = 0; col < SIDE; col++)
      p->data->y[row * SIDE + col] = p->data->x[col * SIDE + row];
}

/* Transposes in blocks that fit into a core's first-level cache. */
static void transpose_blocks(struct part *p) {
  const size_t end = begin_of(p, SIDE / BLOCK, p->number + 1);
  for (size_t down = begin_of(p, SIDE / BLOCK, p->number); down < end; down++)
    for (size_t across = 0; across < SIDE / BLOCK; across++)
      for (size_t row = down * BLOCK; row < (down + 1) * BLOCK; row++)
        for (size_t col = across * BLOCK; col < (across + 1) * BLOCK; col++)
          p->data->y[row * SIDE + col] = p->data->x[col * SIDE + row];
}

/* The three loops of a textbook: each element is the sum over a row and a column. */
static void product_plain(struct part *p) {
  const size_t end = begin_of(p, WIDTH, p->number + 1);
  for (size_t row = begin_of(p, WIDTH, p->number); row < end; row++)
    for (size_t col = 0; col < WIDTH; col++) {
      float sum = 0;
      for (size_t k = 0; k < WIDTH; k++)
        sum += p->data->x[row * WIDTH + k] * p->data->y[k * WIDTH + col];
      p->data->z[row * WIDTH + col] = sum;
    }
}

/* Adds factor * from[] to to[], four rows at a time. */
FOR_EACH_PROCESSOR static void add_rows(float *restrict to, const float *factors,
                                        const float *restrict from) {
  for (size_t col = 0; col < WIDTH; col++)
    to[col] += factors[0] * from[col] + factors[1] * from[WIDTH + col] +
               factors[2] * from[2 * WIDTH + col] + factors[3] * from[3 * WIDTH + col];
}

/* The three loops in another order, so that all accesses run along rows. */
static void product_rows(struct part *p) {
  const size_t end = begin_of(p, WIDTH, p->number + 1);
  for (size_t row = begin_of(p, WIDTH, p->number); row < end; row++) {
    float *to = p->data->z + row * WIDTH;
    memset(to, 0, WIDTH * sizeof *to);
    for (size_t k = 0; k < WIDTH; k += 4)
      add_rows(to, p->data->x + row * WIDTH + k, p->data->y + k * WIDTH);
  }
}

/* ---- Running it ----------------------------------------------------------------------------- */

static void *start(void *part) {
  struct part *p = part;
  p->work(p);
  return NULL;
}

/* Does the work in parts, one for each thread, and adds up their sums. */
static double run(const struct data *data, void (*work)(struct part *), int threads) {
  struct part parts[MOST_THREADS] = {0};
  pthread_t ids[MOST_THREADS];
  double sum = 0;
  for (int i = 0; i < threads; i++) {
    parts[i] = (struct part){.data = data, .work = work, .number = i, .of = threads};
    if (i > 0 && pthread_create(&ids[i], NULL, start, &parts[i])) exit(1);
  }
  start(&parts[0]);
  for (int i = 0; i < threads; i++) {
    if (i > 0) pthread_join(ids[i], NULL);
    sum += parts[i].sum;
  }
  return sum;
}

static double wanted_product(const struct data *d, size_t row, size_t col) {
  double sum = 0;
  for (size_t k = 0; k < WIDTH; k++)
    sum += (double)d->x[row * WIDTH + k] * (double)d->y[k * WIDTH + col];
  return sum;
}

static void check(bool right, const char *what) {
  if (right) return;
  fprintf(stderr, "%s: wrong result\n", what);
  exit(1);
}

static void check_result(const struct data *d, void (*work)(struct part *), double sum,
                         const char *what) {
  const double wanted = (double)(elements / 128) * 63.5; /* 1e8 is a multiple of 128 */
  if (work == reduce) check(fabs(sum - wanted) <= 1e-6 * wanted, what);
  if (work == transpose_plain || work == transpose_blocks)
    for (size_t i = 0; i < SIDE; i += 37)
      check(d->y[i * SIDE + (i * 7) % SIDE] == d->x[(i * 7) % SIDE * SIDE + i], what);
  if (work == product_plain || work == product_rows)
    for (size_t i = 0; i < WIDTH; i += 37) {
      const double want = wanted_product(d, i, (i * 7) % WIDTH);
      check(fabs((double)d->z[i * WIDTH + (i * 7) % WIDTH] - want) <= 1e-4 * fabs(want), what);
    }
}

static void measure(const struct data *d, const char *what, void (*work)(struct part *),
                    int threads, double bytes, double flops) {
  double seconds[RUNS], sum = run(d, work, threads); /* the first run brings up pages and clock */
  check_result(d, work, sum, what);
  for (int i = 0; i < RUNS; i++) {
    const double begin = clock_seconds();
    run(d, work, threads);
    seconds[i] = clock_seconds() - begin;
  }
  const double middle = median(seconds, RUNS);
  char rate[32];
  snprintf(rate, sizeof rate, flops > 0 ? "%.1f GFLOP/s" : "%.1f GB/s",
           (flops > 0 ? flops : bytes) / middle / 1e9);
  printf("%-44s %4d %12.2f %12.2f %16s\n", what, threads, 1e3 * seconds[0], 1e3 * middle, rate);
}

int main(int argc, char **argv) {
  static const struct {
    const char *what;
    void (*work)(struct part *);
    double bytes, flops;
  } rows[] = {
      {"sum of 1e8 floats", reduce, 4e8, 0},
      {"transpose 8192 x 8192, by rows", transpose_plain, 8.0 * SIDE * SIDE, 0},
      {"transpose 8192 x 8192, in blocks of 32 x 32", transpose_blocks, 8.0 * SIDE * SIDE, 0},
      {"product 1000 x 1000 x 1000, three loops", product_plain, 0, 2.0 * WIDTH * WIDTH * WIDTH},
      {"product 1000 x 1000 x 1000, along rows", product_rows, 0, 2.0 * WIDTH * WIDTH * WIDTH}};
  int all = argc > 1 ? atoi(argv[1]) : cpu_count();
  if (all < 1 || all > MOST_THREADS)
    return fprintf(stderr, "bench_host [THREADS], 1 to %d\n", MOST_THREADS), 2;
  struct data d = {require_memory(malloc(elements * sizeof(float))),
                   require_memory(malloc(elements * sizeof(float))),
                   require_memory(malloc(WIDTH * WIDTH * sizeof(float)))};
  print_machine("host");
  printf("%-44s %4s %12s %12s %16s\n", "", "cores", "best ms", "median ms", "");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    run(&d, fill, all);
    if (rows[i].flops > 0) memcpy(d.y, d.x + 7, WIDTH * WIDTH * sizeof(float));
    measure(&d, rows[i].what, rows[i].work, 1, rows[i].bytes, rows[i].flops);
    if (all > 1) measure(&d, rows[i].what, rows[i].work, all, rows[i].bytes, rows[i].flops);
  }
  free(d.x);
  free(d.y);
  free(d.z);
  return 0;
}

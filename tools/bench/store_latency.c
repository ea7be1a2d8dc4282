/* store_latency ADDRESS PROCESSES SECONDS: what a tuner's calls to a shared store take, with so
   many processes that call all the time: a claim, a record, the news. Prints each call's mean
   and 99th percentile, and how many variants a second the server serves. Its records are of a
   device of their own, and are removed. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "runtime/store/cache.h"

enum { CLAIM, STORE, NEWS, CALLS, MOST = 1 << 15 };
static const char *const names[CALLS] = {"claim", "store", "news"};

struct times {
  double seconds[CALLS][MOST];
  size_t count;
  double batch; /* seconds of a claim for 64 variants that have records */
  double whole; /* seconds of news that contain all records, and how many these are */
  size_t rows;
};

static const struct cache_key key = {
    .device = "store_latency", .config = "c", .problem = "n=1", .options = "arch none"};

static int fail(const cugen_error *err) {
  fprintf(stderr, "%s\n", err->message);
  return 1;
}

/* Handles one variant as a tuner does. */
static int one(struct cache *cache, const struct cache_lease *lease, struct cache_news *news,
               const char *variant, double *out, cugen_error *err) {
  struct cache_claim claim = {.variant = variant, .hash = "0123456789abcdef0123456789abcdef"};
  struct cache_record record = {.variant = (char *)(uintptr_t)variant,
                                .reason = (char *)(uintptr_t) "",
                                .seconds = 1e-5,
                                .measured_at = clock_unix()};
  memcpy(record.hash.hex, claim.hash, strlen(claim.hash));
  double now = clock_seconds();
  int status = cache_claim(cache, &key, lease, &claim, 1, err);
  out[CLAIM] = clock_seconds() - now;
  now = clock_seconds();
  if (!status) status = cache_store(cache, &key, &record, err);
  out[STORE] = clock_seconds() - now;
  now = clock_seconds();
  if (!status) status = cache_news(cache, &key, news, err);
  out[NEWS] = clock_seconds() - now;
  cache_records_free(&news->records);
  news->records = (struct cache_records){0};
  return status;
}

static double news_of_all(struct cache *cache, size_t *rows) {
  struct cache_news news = {0};
  cugen_error err;
  const double begin = clock_seconds();
  cache_news(cache, &key, &news, &err);
  *rows = news.records.count;
  cache_records_free(&news.records);
  return clock_seconds() - begin;
}

static double claim_of_many(struct cache *cache, const struct cache_lease *lease) {
  enum { MANY = 64, TIMES = 50 };
  static char variants[MANY][64];
  struct cache_claim claims[MANY];
  cugen_error err;
  for (int i = 0; i < MANY; i++) {
    snprintf(variants[i], sizeof variants[i], "v rank=0 number=%d", i);
    claims[i] =
        (struct cache_claim){variants[i], "0123456789abcdef0123456789abcdef", CACHE_CLAIM_TAKEN};
  }
  const double begin = clock_seconds();
  for (int i = 0; i < TIMES; i++) cache_claim(cache, &key, lease, claims, MANY, &err);
  return (clock_seconds() - begin) / TIMES;
}

static int work(const char *address, int rank, double seconds, struct times *times) {
  struct cache *cache;
  cugen_error err = {0};
  char owner[32], variant[64];
  struct cache_news news = {.since = -1};
  snprintf(owner, sizeof owner, "latency-%d", rank);
  const struct cache_lease lease = {owner, 30, 0, 0};
  if (cache_open(address, &cache, NULL, &err)) return fail(&err);
  const double end = clock_seconds() + seconds;
  while (clock_seconds() < end && times->count < MOST) {
    double got[CALLS];
    snprintf(variant, sizeof variant, "v rank=%d number=%zu", rank, times->count);
    if (one(cache, &lease, &news, variant, got, &err)) return fail(&err);
    for (int i = 0; i < CALLS; i++) times->seconds[i][times->count] = got[i];
    times->count++;
  }
  cache_unclaim(cache, owner, &err);
  if (rank == 0) times->batch = claim_of_many(cache, &lease);
  if (rank == 0) times->whole = news_of_all(cache, &times->rows);
  cache_close(cache);
  return 0;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void report(const struct times *times, int processes, double seconds) {
  size_t total = 0;
  for (int p = 0; p < processes; p++) total += times[p].count;
  printf("%4d processes: %7.0f variants a second", processes, (double)total / seconds);
  double *all = calloc(total + 1, sizeof *all);
  for (int i = 0; i < CALLS && all; i++) {
    double sum = 0;
    size_t at = 0;
    for (int p = 0; p < processes; p++)
      for (size_t n = 0; n < times[p].count; n++) sum += all[at++] = times[p].seconds[i][n];
    qsort(all, total, sizeof *all, by_size);
    printf("; %s %.2f ms, p99 %.2f", names[i], total ? 1e3 * sum / (double)total : 0.0,
           total ? 1e3 * all[total * 99 / 100] : 0.0);
  }
  printf("; claim of 64 %.2f ms", 1e3 * times[0].batch);
  printf("; news of %zu records %.1f ms\n", times[0].rows, 1e3 * times[0].whole);
  free(all);
}

static int clean(const char *address) {
  struct cache *cache;
  cugen_cache_counts removed;
  const struct cache_filter filter = {.device = "store_latency"};
  cugen_error err = {0};
  if (cache_open(address, &cache, NULL, &err)) return fail(&err);
  int status = cache_remove(cache, &filter, true, &removed, &err);
  cache_close(cache);
  return status ? fail(&err) : 0;
}

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "usage: store_latency ADDRESS PROCESSES SECONDS\n"), 2;
  const int processes = atoi(argv[2]);
  const double seconds = atof(argv[3]);
  struct times *times = mmap(NULL, (size_t)processes * sizeof *times, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (times == MAP_FAILED || clean(argv[1])) return 1;
  for (int p = 0; p < processes; p++)
    if (fork() == 0) _exit(work(argv[1], p, seconds, &times[p]));
  int code = 0, how;
  while (wait(&how) > 0) code |= how;
  report(times, processes, seconds);
  return clean(argv[1]) || code;
}

/* Benchmark: what a plan takes for sizes of which nothing is remembered, by what ships, on a
   described H200: each time other sizes. Steps that any plan needs, whatever serves it, are
   timed by themselves: opening the config's space for these sizes, opening its templates, and
   expanding the source of the variant that was taken. Finding the portfolio, asking its rule and
   finding the variant is the choice. Medians over sizes. bench_shipped [SIZES] (default: 301) */
#include "api/portfolio.h"
#include "base/hash.h"
#include "common.h"

enum { SPACE, CHOICE, TEMPLATES, EXPAND, STEPS, MOST_SIZES = 10000 };
static const char *const step_names[STEPS] = {"the space", "the choice", "the templates",
                                              "expanding"};
static const double bar_seconds = 0.0002;

struct times {
  double steps[STEPS][MOST_SIZES];
  size_t count, served;
};

static void expand(struct lookup *l, uint64_t index) {
  struct kernel_spec spec = {0};
  cugen_error err;
  require(lookup_expand(l, index, &spec, &err), &err);
  kernel_spec_free(&spec);
}

/* Chooses like portfolio_serve_shipped: the portfolio, and the first valid variant in its rule's
   order. */
static bool choose(struct lookup *l, uint64_t *index) {
  struct portfolio_shipped shipped;
  struct portfolio_order order;
  bool any, found = false;
  cugen_error err;
  require(portfolio_find_shipped(l, false, &shipped, &any, &err), &err);
  if (!any) return false;
  require(portfolio_ask(&shipped.body, l->config, l->problem, &order, &err), &err);
  for (size_t i = 0; i < order.count && order.named && !found; i++)
    found = !space_find_brief(l->space, shipped.body.variants[order.at[i]].variant, index, &err);
  portfolio_shipped_free(&shipped);
  return found;
}

static void measure_one(struct lookup *l, struct times *t) {
  double marks[STEPS + 1];
  uint64_t index = 0;
  cugen_error err;
  marks[SPACE] = clock_seconds();
  require(lookup_space(l, &err), &err);
  marks[CHOICE] = clock_seconds();
  const bool found = choose(l, &index);
  marks[TEMPLATES] = clock_seconds();
  require(lookup_expander(l, &err), &err);
  marks[EXPAND] = clock_seconds();
  if (found) expand(l, index);
  marks[STEPS] = clock_seconds();
  for (int step = 0; step < STEPS; step++) t->steps[step][t->count] = marks[step + 1] - marks[step];
  t->count++;
  t->served += found;
}

static void report(const char *config, struct times *t) {
  for (int step = 0; step < STEPS; step++) {
    const double middle = median(t->steps[step], t->count);
    printf("%-10s %-14s %8.1f %8.1f %8.1f", config, step_names[step], 1e6 * middle,
           1e6 * t->steps[step][0], 1e6 * t->steps[step][t->count * 4 / 5]);
    if (step == CHOICE) printf("   < 200  %s", verdict(middle, bar_seconds));
    printf("\n");
  }
  printf("%-10s %zu of %zu sizes were served by what ships\n", config, t->served, t->count);
}

/* Measures sizes for which something ships. */
static void measure(cugen *lib, const char *config, const char *const *names, const char *dtype,
                    size_t count) {
  static struct times times;
  uint64_t state = 1;
  cugen_error err;
  times.count = times.served = 0;
  for (size_t i = 0; i < count; i++) {
    char texts[4][32];
    const char *settings[] = {dtype, texts[0], texts[1], texts[2]};
    size_t sizes = 0;
    cugen_kernel *kernel;
    for (; names[sizes]; sizes++)
      snprintf(texts[sizes], sizeof texts[sizes], "%s=%d", names[sizes],
               8 + (int)(random_next(&state) % 1500));
    require(cugen_kernel_open(lib, config, settings, 1 + sizes, &kernel, &err), &err);
    measure_one(&kernel->lookup, &times);
    cugen_kernel_close(kernel);
  }
  report(config, &times);
}

int main(int argc, char **argv) {
  static const char *const mnk[] = {"M", "N", "K", NULL}, *const plane[] = {"rows", "cols", NULL};
  const size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 301;
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  cugen *lib;
  if (count < 1 || count > MOST_SIZES)
    return fprintf(stderr, "SIZES is from 1 to %d\n", MOST_SIZES), 2;
  options.device = "model:H200";
  options.cache = "none";
  require(cugen_open(&options, &lib, &err), &err);
  print_machine("What a plan takes by what ships");
  printf("%-25s %8s %8s %8s\n", "us", "median", "least", "p80");
  measure(lib, "matmul", mnk, "dtype=bf16", count);
  measure(lib, "transpose", plane, "dtype=f32", count);
  cugen_close(lib);
  return 0;
}

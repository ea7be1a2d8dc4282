/* For tools/bench/learn_portfolios.py: stores records of times that were measured elsewhere, of
   variants as they expand now.

     bench_remember CONFIG CACHE [NAME=VALUE...] <pairs

   A line of stdin is a problem and its variants, each with its seconds, with tabs between:
   "M=64 N=64 K=64<tab>tiled tile=16<tab>1.2e-05". A variant that is not valid for the problem is
   skipped. The device is $CUGEN_DEVICE. Prints how many of these records the cache has now. */
#include "fake.h"

enum { MOST_SETTINGS = 64 };

static cugen_kernel *open_kernel(cugen *lib, char **words, size_t count, char *settings) {
  const char *all[MOST_SETTINGS];
  char *next = NULL;
  size_t at = 0;
  cugen_kernel *kernel;
  cugen_error err;
  for (size_t i = 1; i < count && at < MOST_SETTINGS; i++) all[at++] = words[i];
  for (char *word = strtok_r(settings, " ", &next); word && at < MOST_SETTINGS;
       word = strtok_r(NULL, " ", &next))
    all[at++] = word;
  require(cugen_kernel_open(lib, words[0], all, at, &kernel, &err), &err);
  require(lookup_space(&kernel->lookup, &err), &err);
  return kernel;
}

static bool remember_pair(cugen_kernel *kernel, const char *variant, const char *seconds) {
  uint64_t index;
  cugen_error why;
  if (space_find_brief(kernel->lookup.space, variant, &index, &why)) return false;
  remember(kernel, variant, strtod(seconds, NULL));
  return true;
}

static size_t remember_problem(cugen *lib, char **words, size_t count, char *line) {
  char *next = NULL, *settings = strtok_r(line, "\t", &next);
  cugen_kernel *kernel = open_kernel(lib, words, count, settings);
  size_t done = 0;
  for (char *variant; (variant = strtok_r(NULL, "\t", &next));) {
    const char *seconds = strtok_r(NULL, "\t", &next);
    done += seconds && remember_pair(kernel, variant, seconds);
  }
  cugen_kernel_close(kernel);
  return done;
}

int main(int argc, char **argv) {
  static char line[1 << 17];
  cugen_options options = CUGEN_OPTIONS_INIT;
  size_t done = 0;
  cugen_error err;
  cugen *lib;
  if (argc < 3)
    return fprintf(stderr, "usage: %s CONFIG CACHE [NAME=VALUE...] <pairs\n", argv[0]), 2;
  options.device = getenv("CUGEN_DEVICE");
  options.cache = argv[2];
  argv[2] = argv[1];
  require(cugen_open(&options, &lib, &err), &err);
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    if (*line) done += remember_problem(lib, argv + 2, (size_t)argc - 2, line);
  }
  cugen_close(lib);
  printf("%zu\n", done);
  return 0;
}

/* Symbols from the host: writes and reads the __device__ counters and the __constant__ table of
   classes.cu, with offsets, as cudaMemcpyToSymbol and cudaMemcpyFromSymbol do:
     symbols classes.lua
   The program runs on the first GPU; without a GPU, or with CUGEN_DEVICE=cpu, on the cpu device. */
#include <cugen.h>

#include "../device.h"

enum { LETTERS = 26 * 1000, VOWEL = 1, OTHER = 2, CLASSES = 8 };

static void check(int status, const cugen_error *error) {
  if (status == CUGEN_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static cugen_plan *open_plan(cugen *lib, const char *config, struct device *device) {
  char text[32];
  const char *setting = text;
  cugen_error error;
  cugen_kernel *kernel;
  cugen_plan *plan;
  snprintf(text, sizeof text, "n=%d", LETTERS);
  check(cugen_kernel_open(lib, config, &setting, 1, &kernel, &error), &error);
  *device = device_open(cugen_kernel_device(kernel)->id);
  check(cugen_plan_open(kernel, NULL, &plan, &error), &error);
  cugen_kernel_close(kernel);
  return plan;
}

/* Launches, and reads only the counters of vowels and others: the second and the third of eight. */
static void count(const struct device *d, cugen_plan *plan, const cugen_call *call, CUstream stream,
                  unsigned counts[2]) {
  cugen_error error;
  check(cugen_call_launch(call, stream, &error), &error);
  check(cugen_plan_read(plan, "counts", VOWEL * sizeof *counts, counts, 2 * sizeof *counts, stream,
                        &error),
        &error);
  device_wait(d, stream);
  printf("%u vowels, %u others\n", counts[0], counts[1]);
}

static int run(const struct device *d, cugen_plan *plan) {
  static char text[LETTERS];
  static unsigned char table[256];
  const unsigned char vowel = VOWEL;
  const unsigned zeros[CLASSES] = {0};
  unsigned counts[2], again[2];
  cugen_error error;
  cugen_call *call;
  CUstream stream = device_stream(d);
  void *on_device = device_alloc(d, LETTERS), *refused;
  for (int i = 0; i < LETTERS; i++) text[i] = (char)('a' + i % 26);
  for (int c = 0; c < 256; c++) table[c] = strchr("aeiou", c) && c ? VOWEL : OTHER;
  device_upload(d, on_device, text, LETTERS, stream);
  device_wait(d, stream);

  void *arguments[] = {on_device, table, NULL, NULL}; /* the counters stay in their symbol */
  check(cugen_call_bind(plan, arguments, 4, &call, &error), &error);
  check(cugen_plan_write(plan, "counts", 0, zeros, sizeof zeros, stream, &error), &error);
  count(d, plan, call, stream, counts);

  /* Writes one byte of the table, which makes 'y' a vowel. The counters continue from their
     values. */
  check(cugen_plan_write(plan, "class_of", 'y', &vowel, 1, stream, &error), &error);
  count(d, plan, call, stream, again);

  int missing = cugen_plan_symbol(plan, "count", &refused, NULL, &error);
  printf("%s\n", error.message);
  int beyond = cugen_plan_read(plan, "counts", sizeof zeros, again, 1, stream, &error);
  printf("%s\n", error.message);
  cugen_call_close(call);
  device_free(d, on_device);
  device_end_stream(d, stream);
  return counts[0] == 5000 && counts[1] == 21000 && again[0] == 5000 + 6000 &&
         again[1] == 21000 + 20000 && missing == CUGEN_ERROR_USAGE && beyond == CUGEN_ERROR_USAGE;
}

int main(int argc, char **argv) {
  struct device device;
  cugen *lib;
  cugen_error error;
  if (argc < 2) return fprintf(stderr, "symbols classes.lua\n"), 2;
  check(cugen_open(NULL, &lib, &error), &error);
  cugen_plan *plan = open_plan(lib, argv[1], &device);
  int right = run(&device, plan);
  cugen_plan_close(plan);
  cugen_close(lib);
  device_close(&device);
  return right ? 0 : 1;
}

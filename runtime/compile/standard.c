/* Headers of C's library for NVRTC, and those of libcu++; see standard.h. */
#include "standard.h"

#include <string.h>

#include "base/system.h"
#include "toolkit.h"

/* Replaces CUB's own <cub/cub.cuh>, which contains host code that NVRTC refuses. Lists the parts
   that a kernel may use, in any version of CUB. */
#define PART(name) "#if __has_include(<cub/" name ".cuh>)\n#include <cub/" name ".cuh>\n#endif\n"
/* clang-format off */
static const char cub[] =
  /* without a condition, so that a missing CUB is reported */
  "#pragma once\n#include <cub/block/block_reduce.cuh>\n"
  PART("block/block_adjacent_difference")
  PART("block/block_discontinuity")
  PART("block/block_exchange")
  PART("block/block_histogram")
  PART("block/block_load")
  PART("block/block_merge_sort")
  PART("block/block_radix_rank")
  PART("block/block_radix_sort")
  PART("block/block_run_length_decode")
  PART("block/block_scan")
  PART("block/block_shuffle")
  PART("block/block_store")
  PART("warp/warp_exchange")
  PART("warp/warp_load")
  PART("warp/warp_merge_sort")
  PART("warp/warp_reduce")
  PART("warp/warp_scan")
  PART("warp/warp_store")
  PART("thread/thread_load")
  PART("thread/thread_operators")
  PART("thread/thread_reduce")
  PART("thread/thread_scan")
  PART("thread/thread_store");
/* clang-format on */
#undef PART

/* The text of <sys/types.h>: short names of types that kernels use. The types of C come from
   <stdint.h>. */
static const char types[] =
    "#pragma once\n#include <stdint.h>\n#include <stddef.h>\n"
    "using uint = unsigned int;\nusing ushort = unsigned short;\nusing ulong = unsigned long;\n";

int standard_list(const char **texts, const char **names) {
  int count = 0;
  for (const struct standard_header *h = standard_headers; h->name && count + 2 < STANDARD_MOST;
       h++, count++) {
    texts[count] = h->text;
    names[count] = h->name;
  }
  texts[count] = cub;
  names[count++] = "cub/cub.cuh";
  texts[count] = types;
  names[count++] = "sys/types.h";
  return count;
}

const char *standard_text(const char *name) {
  const struct standard_header *h = standard_headers;
  while (h->name && strcmp(h->name, name) != 0) h++;
  return h->name ? h->text : "";
}

bool standard_has_libcuxx(const struct toolkit *toolkit, const char *header) {
  const struct text *folders[] = {&toolkit->core, &toolkit->include};
  struct text path = {0};
  bool found = false;
  for (size_t i = 0; i < sizeof folders / sizeof *folders && !found; i++) {
    text_clear(&path);
    text_addf(&path, "%s/cuda/std/%s", text_get(folders[i]), header);
    found = folders[i]->length && !path.failed && file_exists(text_get(&path));
  }
  text_free(&path);
  return found;
}

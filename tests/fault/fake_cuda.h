/* What a test can see of the fake driver (fake_cuda.c), and set in it: the driver exports it as
   the symbol `fake_cuda`. The driver may be called from several threads; a test sets fields
   while there is only one. */
#ifndef TESTS_FAKE_CUDA_H
#define TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>

struct fake_launch {
  unsigned grid[3], block[3], shared;
  void **parameters;
  void *stream;
  const char *kernel; /* name of the kernel; NULL: it came from a module */
  int device;         /* device of the context into which it was loaded */
  bool early;         /* it may begin before the launch in front of it has ended */
  bool cooperative;
};

/* What a texture object of the fake driver refers to. */
struct fake_texture {
  const void *base;
  size_t width, height;
  int address; /* a CUaddress_mode */
  unsigned flags;
};

/* What a tensor map of the fake driver holds. The contiguous dimension is first; strides are in
   bytes, from the second dimension on. */
struct fake_tensor {
  const void *address;
  long shape[4], stride[3];
  int box[4];
  int rank, type, swizzle; /* a CUtensorMapDataType, a CUtensorMapSwizzle */
};

struct fake_cuda {
  /* Set by the test. */
  int version; /* CUDA version it supports; 0: 13000 */
  int devices; /* 0: cuInit finds none */
  /* number of the call that fails, from 1; 0: none */
  long fail_at;
  bool fail_on; /* all later calls fail, too: the device is gone */
  /* the only function whose calls are counted; NULL: all */
  const char *fail_only;
  int fail_with;                                 /* the CUresult with which it fails */
  void (*run)(const struct fake_launch *launch); /* called for each launch; NULL: none */
  void (*recorded)(void);                        /* called when an event is recorded; NULL: none */
  /* whether launched work has not ended yet; NULL: it has */
  bool (*pending)(void);
  /* milliseconds between any two events; NULL: always 1.5 */
  float (*elapsed)(void);
  /* what fake_baseline of the driver does, a cugen_baseline */
  int (*baseline)(void *const *arguments, const void *about, void *stream);
  /* context that is current before cugen sets one; NULL: none */
  void *application_context;
  /* the device of contexts that are not the fake driver's own */
  int context_device;
  int cluster[3]; /* blocks that every kernel demands; 0: none */
  bool holds;     /* images in PTX load, so that a stream can be held back; see hold.c */
  bool no_graphs; /* graphs are not supported: a capture fails */
  /* error that every call gives from now on, like a sticky error; 0: none */
  int broken;

  /* Seen by the test. */
  bool profiled;                   /* set by cuProfilerStart */
  long calls;                      /* calls so far that can fail */
  long captured, replayed, filled; /* launches captured and replayed, and fills, so far */
  long fetched[2];                 /* prefetches to the device, and to the host */
  void *copy_stream;               /* stream of the last copy into an array */
  const char *failed_call;         /* name of the call that was made to fail */
  /* objects that exist now */
  long memory, contexts, current, streams, events, images, textures, registered, graphs;
  int allowed_shared; /* the last CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
  int carveout;       /* the last CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT */
  int large_cluster;  /* the last CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
};

#endif

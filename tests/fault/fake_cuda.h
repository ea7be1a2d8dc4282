/* What a test can see of and do to the fake driver (fake_cuda.c), found in it as the symbol
   `fake_cuda`. It may be called from several threads; what is set here is set while there is
   one. */
#ifndef TESTS_FAKE_CUDA_H
#define TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>

struct fake_launch {
  unsigned grid[3], block[3], shared;
  void **parameters;
  void *stream;
  const char *kernel; /* its name; NULL: it came from a module */
  int device;         /* of the context that it was loaded into */
  bool early;         /* before the launch in front of it has ended */
  bool cooperative;
};

/* What a texture object of the fake driver points at. */
struct fake_texture {
  const void *base;
  size_t width, height;
  int address; /* a CUaddress_mode */
  unsigned flags;
};

/* What a tensor map of the fake driver holds: the contiguous dimension first, strides in bytes
   from the second on. */
struct fake_tensor {
  const void *address;
  long shape[4], stride[3];
  int box[4];
  int rank, type, swizzle; /* a CUtensorMapDataType, a CUtensorMapSwizzle */
};

struct fake_cuda {
  /* Set by the test. */
  int version;                                   /* CUDA version it supports; 0: 13000 */
  int devices;                                   /* 0: cuInit finds none */
  long fail_at;                                  /* this call fails, counted from 1; 0: none */
  bool fail_on;                                  /* and so do all after it: the device is gone */
  const char *fail_only;                         /* NULL, or the only function whose calls count */
  int fail_with;                                 /* the CUresult it fails with */
  void (*run)(const struct fake_launch *launch); /* what a launch does; NULL: nothing */
  void (*recorded)(void);                        /* an event is recorded; NULL: nobody listens */
  bool (*pending)(void);                         /* what was launched has not ended; NULL: it has */
  /* milliseconds between any two events; NULL: always 1.5 */
  float (*elapsed)(void);
  /* what is current before cugen makes anything so; NULL: none */
  void *application_context;
  /* the device of contexts that are not the fake driver's own */
  int context_device;
  int cluster[3]; /* blocks that every kernel demands; 0: none */
  bool no_graphs; /* graphs are not supported: capturing fails */
  /* what every call gives from now on: a sticky error; 0: none */
  int broken;

  /* Seen by the test. */
  bool profiled;                   /* after cuProfilerStart */
  long calls;                      /* that can fail, so far */
  long captured, replayed, filled; /* launches, so far; fills */
  long fetched[2];                 /* prefetches to the device, and to the host */
  void *copy_stream;               /* of the last copy into an array */
  const char *failed_call;         /* the one that was made to fail */
  /* alive now */
  long memory, contexts, current, streams, events, images, textures, registered, graphs;
  int allowed_shared; /* the last CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
  int carveout;       /* the last CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT */
  int large_cluster;  /* the last CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
};

#endif

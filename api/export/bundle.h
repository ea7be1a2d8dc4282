/* Bundles: tuned variants as plain C. */
#ifndef API_EXPORT_BUNDLE_H
#define API_EXPORT_BUNDLE_H

#include "base/results.h"

typedef struct cugen_export_options {
  const char *devices;  /* "H200, sm_80": parts of remembered devices' texts, architectures, or
                           described GPUs; NULL: all remembered devices, if there are any */
  const char *problems; /* "M=1024 N=1024; M=4096": the problems; NULL: all remembered problems that
                           agree with the settings */
  double distance;      /* as in cugen_plan_options; 0: the config's policy */
  int predicted;        /* include predicted variants for problems without measurements */
  int ptx;              /* include PTX, which the drivers of other devices compile */
  int force;            /* write into a folder that has other files, which are kept */
  int portfolio;        /* only the variants and rules of portfolios: few kernels for all sizes */
  const char *variant;  /* only this variant, measured or not: "tiled tile=16"; NULL: the variants
                           that a plan would take */
} cugen_export_options;

/* The contents of an export. The strings live until the kernel is closed or exports again. */
typedef struct cugen_export_result {
  const char *name; /* prefix of the bundle's functions and files */
  size_t devices;   /* devices of the bundle; PTX counts as one */
  size_t problems;  /* tuned problems, summed over the devices */
  size_t variants;  /* variants, counted for each device and each class of sizes */
  size_t images;    /* cubins and PTX; equal images count once */
  size_t compiled;  /* compilations; all other images came from the cache */
  size_t stale;     /* records that were not used, because their kernel has changed */
  int64_t image_bytes, source_bytes;
  const char *notes; /* a line for each thing that was left out or replaced, with the reason; "":
                        none */
  size_t portfolios; /* remembered portfolios, summed over devices and classes */
} cugen_export_result;

/* Writes a bundle into the folder: NAME.h, NAME.c, README.md, CMakeLists.txt and an example. The
   bundle needs only the driver at run time. By default the bundle contains the variants that
   cugen_plan_open would take now. Equal input gives equal bytes. The folder is created (its parent
   must exist), or has an earlier bundle of this kernel, which is replaced as a whole; other files
   in the folder are CUGEN_ERROR_USAGE without force. Nothing is measured, and no GPU is needed. */
int api_kernel_export(cugen_kernel *kernel, const cugen_export_options *options, const char *folder,
                      cugen_export_result *result, cugen_error *error);

#endif

/* Names of devices: the id that options take ("cpu", "cuda:0", "model:H200"), and the text under
   which records of a device are kept ("cpu AMD EPYC, ...", "NVIDIA H200 sm_90 132 SMs", "predicted
   NVIDIA H200 ..."). device_parse (results.h) reads ids and texts. */
#ifndef BASE_DEVICE_NAME_H
#define BASE_DEVICE_NAME_H

#include <stdbool.h>

#include "error.h"

#define DEVICE_NAME_CPU   "cpu"
#define DEVICE_NAME_CUDA  "cuda"
#define DEVICE_NAME_MODEL "model:"
#define DEVICE_NAME_ALL   "all" /* all GPUs of this machine */
/* prefix of the text under which a GPU's predictions are kept */
#define DEVICE_NAME_PREDICTED "predicted "

/* The parts of a GPU's text, "NVIDIA H200 sm_90 132 SMs". */
struct device_gpu {
  const char *name; /* not terminated, if device_gpu_parse set it */
  int name_length;
  int capability, sm_count;
};

void device_gpu_print(const struct device_gpu *gpu, char *out, size_t size);
/* Returns false if the text does not name a GPU, or names a GPU's predictions. */
bool device_gpu_parse(const char *text, struct device_gpu *out);

/* Returns the length of the processor's name in `rest`, the text behind "cpu ": of "AMD EPYC" in
   "AMD EPYC, g++ 12". */
size_t device_processor_length(const char *rest);

#endif

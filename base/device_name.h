/* Names of devices: the id that options take ("cpu", "cuda:0", "model:H200"), and the text under
   which records of a device are kept ("cpu AMD EPYC, ...", "NVIDIA H200 sm_90 132 SMs", "predicted
   NVIDIA H200 ..."). device_parse reads both. */
#ifndef BASE_DEVICE_NAME_H
#define BASE_DEVICE_NAME_H

#include "error.h"

#define DEVICE_NAME_CPU   "cpu"
#define DEVICE_NAME_CUDA  "cuda"
#define DEVICE_NAME_MODEL "model:"
#define DEVICE_NAME_ALL   "all" /* all GPUs of this machine */
/* Prefix of a GPU's text under which predictions are kept, so that a look-up of measurements never
   finds a prediction. */
#define DEVICE_NAME_PREDICTED "predicted "

#endif

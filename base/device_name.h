/* What a device is called: the id that options take ("cpu", "cuda:0", "model:H200"), and the text under which it is remembered
   ("cpu AMD EPYC, ...", "NVIDIA H200 sm_90 132 SMs", "predicted NVIDIA H200 ..."). device_parse reads them all. */
#ifndef BASE_DEVICE_NAME_H
#define BASE_DEVICE_NAME_H

#include "error.h"

#define DEVICE_NAME_CPU   "cpu"
#define DEVICE_NAME_CUDA  "cuda"
#define DEVICE_NAME_MODEL "model:"
#define DEVICE_NAME_ALL   "all" /* all GPUs of this machine */
/* Stands before a GPU's text where predictions for it are kept, so that no look-up of what was measured finds them. */
#define DEVICE_NAME_PREDICTED "predicted "

#endif

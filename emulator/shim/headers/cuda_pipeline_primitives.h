/* The functions are in the other header. */
#include <cuda_pipeline.h>

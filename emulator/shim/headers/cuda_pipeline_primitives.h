/* <cuda_pipeline_primitives.h>: the functions are in cuda_pipeline.h. */
#include <cuda_pipeline.h>

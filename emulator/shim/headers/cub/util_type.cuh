/* All of it is in one header. */
#include <cub/cub.cuh>

/* All of it is in the main header. */
#include <cooperative_groups.h>

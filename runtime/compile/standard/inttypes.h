/* Has the types only, not the macros for printf and scanf. */
#include <stdint.h>

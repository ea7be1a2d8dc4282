/* The macros for printf and scanf, spelt as in the host's library. */
#include <stdint.h>

/* Its macros are for printf and scanf, as the host's library spells them. */
#include <stdint.h>

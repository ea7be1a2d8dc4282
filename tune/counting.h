/* Counts the bytes that a variant's loads and stores request (runtime/model/model.h), on a thread
   of its own, because counting can take more than a second. */
#ifndef TUNE_COUNTING_H
#define TUNE_COUNTING_H

#include "runtime/device.h"

struct counting;

/* Begins to count. All arguments are borrowed until the counting ends. Returns NULL if the image
   has no PTX, or without memory or a thread. */
struct counting *counting_begin(const struct device_description *device,
                                const struct kernel_spec *spec, const struct compiled *compiled);
/* Waits at most `patience` seconds. Returns true if the counting has ended and its memory is freed;
   *requested is then the number of bytes, or 0 if not known. Returns false if the counting goes
   on. */
bool counting_wait(struct counting *counting, double patience, double *requested);
/* Ends the counting (NULL allowed) and frees its memory. */
void counting_stop(struct counting *counting);

#endif

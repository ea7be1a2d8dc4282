/* Counting what a variant's loads and stores ask for (runtime/model/model.h), on a thread of its own while the device runs it. It takes
   less than a millisecond or more than a second: what nobody waits for that long is left uncounted. */
#ifndef TUNE_COUNTING_H
#define TUNE_COUNTING_H

#include "runtime/device.h"

struct counting;

/* All is borrowed until it ends. NULL: there is nothing to count, or no thread. */
struct counting *counting_begin(const struct device_description *device, const struct kernel_spec *spec,
                                const struct compiled *compiled);
/* Waits so many seconds at most. True: it has ended and is gone, *requested has the bytes, 0: not known. False: it goes on. */
bool counting_wait(struct counting *counting, double patience, double *requested);
void counting_stop(struct counting *counting);

#endif

/* cugen tune on several devices: the present GPUs of one model share a search; each model, each
   described GPU and the cpu device have a search of their own. */
#ifndef CLI_TUNE_DEVICES_H
#define CLI_TUNE_DEVICES_H

#include "cli.h"
#include "progress.h"

/* Calls `tune` for each group of the devices that --device (else CUGEN_DEVICE) lists, with --device
   naming the group, or once if there is no list. Groups print in turn, and then a table compares
   their best. If all devices are present GPUs, the groups are tuned side by side, each by a thread
   with a struct cli of its own. Otherwise the groups are tuned in turn. A failure of one group does
   not stop the other groups; a signal does. */
int tune_devices(struct cli *cli, cugen_tune_options *options, size_t top,
                 int (*tune)(struct cli *cli, cugen_tune_options *options, size_t top));
/* Remarks the failure of each device once; lost as in cugen_progress. */
void tune_devices_say_lost(struct cli *cli, struct progress *progress, const char *lost);
/* Waits until the groups in front have printed, stops the progress line, and with --quiet prints
   the group's devices. Does nothing if there is only one group. */
void tune_devices_take_turn(struct cli *cli);
/* Keeps the kernel's first record for the table of all groups. */
void tune_devices_keep_best(struct cli *cli);
/* Like progress_open; groups share a line. */
void tune_devices_open_progress(const struct cli *cli, struct progress *progress);
/* If several devices share the search, prints a line that names them. */
void tune_devices_print_head(const struct cli *cli);

#endif

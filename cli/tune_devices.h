/* cugen tune on several devices: those of one model share a search, each model has one of its own. */
#ifndef CLI_TUNE_DEVICES_H
#define CLI_TUNE_DEVICES_H

#include "cli.h"
#include "progress.h"

/* Calls `tune` for each group of the devices that --device (CUGEN_DEVICE) lists, which --device then names; once where it is no list. Groups are
   tuned side by side, each by a thread with a struct cli of its own, and print in turn. What comes of one keeps no other from its. */
int tune_devices(struct cli *cli, cugen_tune_options *options, size_t top,
                 int (*tune)(struct cli *cli, cugen_tune_options *options, size_t top));
/* Says once of each device that it failed; lost as in cugen_progress. */
void tune_devices_say_lost(struct cli *cli, struct progress *progress, const char *lost);
/* Before a group prints: waits for those in front of it. At once where there is one only. */
void tune_devices_take_turn(struct cli *cli);
/* As progress_open; groups share a line. */
void tune_devices_open_progress(const struct cli *cli, struct progress *progress);
/* A line of the head: that several share the work. */
void tune_devices_print_head(const struct cli *cli);

#endif

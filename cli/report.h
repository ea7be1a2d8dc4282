/* The page of cugen report. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "findings.h"

/* Writes the page with only the roofline to the file that --output names. */
int report_write_roofline(struct cli *cli, const struct findings *findings);

#endif

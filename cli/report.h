/* The page of cugen report. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "findings.h"

/* Writes the page with only the roofline to the file that --output names, as `cugen roofline CONFIG
   -o FILE.html` does. */
int report_write_roofline(struct cli *cli, const struct findings *findings);

#endif

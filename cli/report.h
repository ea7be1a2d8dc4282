/* The page of cugen report. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "findings.h"

/* Writes the page with the roofline alone to where --output says: cugen roofline CONFIG -o
   FILE.html. */
int report_write_roofline(struct cli *cli, const struct findings *findings);

#endif

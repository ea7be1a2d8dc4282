/* The page of cugen report, a file for each kind of section; report.c writes the page and says what holds for all of them. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "page.h"

void report_convergence(const struct page *page);
void report_effects(const struct page *page);
void report_variants(const struct page *page);
void report_failures(const struct page *page);
void report_others(const struct page *page);

#endif

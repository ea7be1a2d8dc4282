/* Remarks about a config or a source: tunables that nothing uses, and sources that run on the cpu
   device but that NVRTC refuses. */
#include <string.h>

#include "api/kernel.h"
#include "api/records.h"
#include "api/source.h"
#include "base/key.h"
#include "cli.h"

void cli_remark_unused(const struct cli *cli) {
  enum { MOST_TOLD = 8 };
  cugen_unused_tunable unused[MOST_TOLD];
  size_t count;
  cugen_error ignored;
  if (api_kernel_unused(cli->kernel, unused, MOST_TOLD, &count, &ignored)) return;
  for (size_t i = 0; i < count && i < MOST_TOLD; i++) {
    const char *nearest = unused[i].nearest, *name = unused[i].name;
    if (unused[i].why == CUGEN_UNUSED_DEFINED)
      cli_remark(cli,
                 "%s:%d: the template asks only whether the tunable \"%s\" is defined, and it is "
                 "for each of its %zu values: ask its value (#if %s), or give it the values false "
                 "and true, of which false is not defined",
                 unused[i].file, unused[i].line, name, unused[i].values, name);
    else if (unused[i].why == CUGEN_UNUSED_MISSPELT)
      cli_remark(
          cli,
          "%s:%d: the template does not mention the tunable \"%s\" (nearest in the template '%s')",
          unused[i].file, unused[i].line, name, nearest);
    else
      cli_remark(
          cli, "%s:%d: nothing uses the tunable \"%s\": its %zu values make the same kernel%s%s%s",
          unused[i].file, unused[i].line, name, unused[i].values,
          *nearest ? " (nearest in the template '" : "", nearest, *nearest ? "')" : "");
  }
}

void cli_remark_refused(struct cli *cli, const char *variant) {
  cugen_error why;
  if (cli->values[OPTION_QUIET]) return;
  if (api_kernel_accepts(cli->kernel, variant, &why) != CUGEN_ERROR_COMPILE) return;
  int length;
  const char *line = error_essence(why.message, &length);
  cli_remark(cli, "'%s' runs on the cpu device, and does not compile for a GPU: %.*s", variant,
             length, line);
}

void cli_remark_all_refused(struct cli *cli) {
  cugen_space_info space;
  cugen_error ignored;
  size_t count, r;
  if (!cli_on_cpu(cli) || api_kernel_space(cli->kernel, &space, &ignored)) return;
  const cugen_record *all = api_records(cli->kernel, &count);
  for (size_t i = 0; i < space.implementations; i++) {
    for (r = 0; r < count; r++)
      if (all[r].outcome == CUGEN_OUTCOME_OK &&
          variant_is_of(all[r].variant, space.implementation[i].name))
        break;
    if (r < count) cli_remark_refused(cli, all[r].variant);
  }
}

/* cugen new: writes a first config and a reference for a kernel. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/draft.h"
#include "base/system.h"
#include "cli.h"
#include "print.h"

static json_t *parameter_json(const void *item) {
  const api_draft_parameter *p = item;
  return JSON_NEW(MEMBER(text, p, name), MEMBER(text, p, type), MEMBER(optional_string, p, dtype),
                  MEMBER(string, p, kind), MEMBER(boolean, p, pointer));
}

static json_t *new_json(const api_draft *draft) {
  return JSON_NEW(
      MEMBER(text, draft, kernel), MEMBER(optional_string, draft, entry),
      {"parameters", JSON_LIST(draft->parameters, draft->parameter_count, parameter_json)},
      {"guesses", json_count(draft->guess_count)}, MEMBER(text, draft, config),
      MEMBER(text, draft, reference));
}

/* Makes "dir/wild.lua" of "dir/wild.cu" and ".lua". The caller frees the path; NULL: no memory. */
static char *new_path(const struct cli *cli, const api_draft *draft, const char *end) {
  const char *slash = strrchr(cli->operand, '/');
  const size_t folder = slash ? (size_t)(slash + 1 - cli->operand) : 0,
               size = folder + strlen(draft->stem) + strlen(end) + 1;
  char *path = malloc(size);
  if (path) snprintf(path, size, "%.*s%s%s", (int)folder, cli->operand, draft->stem, end);
  return path;
}

static int new_refuse(struct cli *cli, const char *path) {
  if (access(path, F_OK) != 0) return CUGEN_OK;
  return cli_fail(cli, CUGEN_ERROR_USAGE,
                  "%s is there already: move it away, or print a config with --json", path);
}

static int new_write_files(struct cli *cli, const api_draft *draft, const char *config,
                           const char *reference) {
  int status = new_refuse(cli, config);
  if (!status) status = new_refuse(cli, reference);
  /* The reference is written first, so that no config names a file that is missing. */
  if (!status)
    status = file_write(reference, draft->reference, strlen(draft->reference), &cli->error);
  if (!status) status = file_write(config, draft->config, strlen(draft->config), &cli->error);
  if (status) return status;
  printf("%s: %zu guesses to look at\n", config, draft->guess_count);
  printf("%s: compute the results there, or write reference { ... } into the config\n", reference);
  cli_remark(cli, "Then: cugen check %s, cugen tune %s", config, config);
  return CUGEN_OK;
}

int command_new(struct cli *cli) {
  api_draft draft;
  int status = (options_given(cli, OPTION_KERNEL_TUNER) ? api_draft_open_script : api_draft_open)(
      cli->operand, &draft, &cli->error);
  if (status) return status;
  if (options_given(cli, OPTION_JSON)) {
    status = cli_print_json(cli, new_json(&draft));
  } else {
    char *config = new_path(cli, &draft, ".lua"),
         *reference = new_path(cli, &draft, "_reference.cu");
    status =
        config && reference ? new_write_files(cli, &draft, config, reference) : cli_no_memory(cli);
    free(config);
    free(reference);
  }
  api_draft_free(&draft);
  return status;
}

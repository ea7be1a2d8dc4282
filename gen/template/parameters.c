/* What a kernel takes that writes its parameter list itself, against what it is passed: counted in the text, before anything is
   compiled. The compiler's own count is compared as well where there is one (runtime/plan.c). What the text alone cannot tell is left to that: a
   list with a macro, an ellipsis or a directive in it, an empty one, and a kernel whose name stands in several places. */
#include <string.h>

#include "expansion.h"

enum { UNKNOWN = -1, NESTED = 32 /* brackets */ };

/* ---- Counting ----------------------------------------------------------------------------------------------------- */

static bool is_of(struct source_token token, const char *marks) {
  return token.kind == SOURCE_MARK && strchr(marks, *token.at);
}

static bool same_word(struct source_token a, const char *at, size_t length) {
  return a.kind == SOURCE_WORD && a.length == length && memcmp(a.at, at, length) == 0;
}

/* Reads one bracket; `open` holds those that wait for theirs, as one text. False: it closes none that is open, as the > of a comparison, of a
   shift or of an arrow within another bracket. */
static bool take_bracket(struct source_token token, char *open, int *depth) {
  static const char opening[] = "([{<", closing[] = ")]}>";
  if (is_of(token, opening)) {
    if (*depth == NESTED) return false;
    open[(*depth)++] = *token.at;
  } else if (is_of(token, closing)) {
    if (open[*depth - 1] != opening[strchr(closing, *token.at) - closing]) return false;
    --*depth;
  }
  return true;
}

/* Of a list whose opening bracket has been read; UNKNOWN: the text does not tell. */
static int count_parameters(struct source_reader list) {
  char open[NESTED] = "(";
  int depth = 1, commas = 0, tokens = 0;
  bool nothing = false;
  while (depth > 0) {
    const struct source_token token = source_next_solid(&list);
    if (token.kind == SOURCE_END || is_of(token, "#.") || !take_bracket(token, open, &depth)) return UNKNOWN;
    commas += depth == 1 && is_of(token, ",");
    nothing = tokens == 0 && source_is(token, "void");
    tokens += depth > 0;
  }
  return tokens == 0 || (nothing && tokens == 1) ? UNKNOWN : commas + 1;
}

static bool is_defined(const char *text, struct source_token word) {
  static const char directive[] = "define";
  for (const char *at = text; (at = strstr(at, directive)); at += sizeof directive - 1) {
    const char *name = at + sizeof directive - 1;
    struct source_reader reader = {name, name + strlen(name)};
    if (same_word(source_next_in_line(&reader), word.at, word.length)) return true;
  }
  return false;
}

/* Whether a word of the list may stand for more. */
static bool has_macro(const char *text, struct source_reader list) {
  int depth = 1;
  while (depth > 0) {
    const struct source_token token = source_next_solid(&list);
    if (token.kind == SOURCE_END || (token.kind == SOURCE_WORD && is_defined(text, token))) return true;
    depth += is_of(token, "(") - is_of(token, ")");
  }
  return false;
}

static bool is_named_once(const struct text *body, const struct kernel_name *kernel) {
  struct source_reader reader = {text_get(body), text_get(body) + body->length};
  size_t count = 0;
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       token = source_next_solid(&reader))
    count += same_word(token, kernel->at, kernel->length);
  return count == 1;
}

/* ---- Launches ------------------------------------------------------------------------------------------------------- */

static int refuse(const struct expansion *x, const struct kernel_name *kernel, const struct kernel_launch *launch,
                  int takes, const struct kernel_parameter *passed, size_t count) {
  const struct text *body = &x->expander->body;
  struct text path = {0}, names = {0}, place = {0};
  int line;
  source_locate(text_get(body), (size_t)(kernel->at - text_get(body)), &path, &line);
  for (size_t i = 0; i < count; i++)
    text_addf(&names, "%s%s", i ? ", " : "", x->out->arguments[passed[i].argument].name);
  if (launch->listed) text_addf(&place, " (launch at line %d)", launch->line);
  int status = CUGEN_ERROR_MEMORY;
  if (path.failed || names.failed || place.failed)
    error_memory(x->err);
  else
    status = error_set_at(
        x->err, CUGEN_ERROR_CONFIG, text_get(&path), line,
        "kernel '%.*s'%s takes %d parameters but is passed %zu (%s): its parameter list and the config's "
        "%s must agree",
        (int)kernel->length, kernel->at, text_get(&place), takes, count, text_get(&names),
        launch->listed ? "pass" : "arguments");
  text_free(&place);
  text_free(&path);
  text_free(&names);
  return status;
}

/* NULL: it has a list that cannot be seen. */
static const struct kernel_name *find_kernel(const struct expansion *x, const char *entry) {
  const size_t length = strcspn(entry, "<");
  size_t start = length;
  while (start > 0 && entry[start - 1] != ':') start--;
  for (size_t i = 0; i < x->kernels.count && i < KERNELS_LISTED; i++) {
    const struct kernel_name *kernel = &x->kernels.list[i];
    if (kernel->length == length - start && memcmp(kernel->at, entry + start, kernel->length) == 0) return kernel;
  }
  return NULL;
}

static int check_launch(const struct expansion *x, const struct kernel_launch *launch) {
  const struct text *body = &x->expander->body;
  const struct kernel_name *kernel = find_kernel(x, launch->entry);
  struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
  if (!kernel) return CUGEN_OK;
  struct source_reader reader = {kernel->at + kernel->length, text_get(body) + body->length};
  if (!is_of(source_next_solid(&reader), "(")) return CUGEN_OK;
  const int takes = count_parameters(reader);
  const size_t count = kernel_launch_parameters(x->out, launch, passed);
  if (takes == UNKNOWN || (size_t)takes == count || !is_named_once(body, kernel)) return CUGEN_OK;
  if (has_macro(text_get(body), reader) || has_macro(text_get(&x->expander->defines), reader)) return CUGEN_OK;
  return refuse(x, kernel, launch, takes, passed, count);
}

int expansion_check_parameters(struct expansion *x) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < x->out->launch_count && !x->reference && !x->parameters_used && !status; i++)
    status = check_launch(x, &x->out->launches[i]);
  return status;
}

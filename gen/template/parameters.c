/* Compares the parameter list in a kernel's source with the parameters that are passed: their
   number and types, read in the text before anything is compiled. The sizes in the compiled image
   (runtime/plan.c) decide where the text does not tell: for a list with a macro, an ellipsis or a
   directive in it, an empty list, a type that is no dtype's, and a kernel whose name stands in
   several places. */
#include <stdio.h>
#include <string.h>

#include "expansion.h"
#include "gen/sources/signature.h"

enum { UNKNOWN = SIGNATURE_UNKNOWN };

/* ---- Reading -------------------------------------------------------------------------------- */

static bool is_defined(const char *text, struct source_token word) {
  static const char directive[] = "define";
  for (const char *at = text; (at = strstr(at, directive)); at += sizeof directive - 1) {
    const char *name = at + sizeof directive - 1;
    struct source_reader reader = {name, name + strlen(name)};
    if (source_is_word(source_next_in_line(&reader), word.at, word.length)) return true;
  }
  return false;
}

/* Returns whether a word of the list may be a macro, or the list does not end. */
static bool has_macro(const char *text, struct source_reader list) {
  int depth = 1;
  while (depth > 0) {
    const struct source_token token = source_next_solid(&list);
    if (token.kind == SOURCE_END || (token.kind == SOURCE_WORD && is_defined(text, token)))
      return true;
    depth += source_is_mark_of(token, "(") - source_is_mark_of(token, ")");
  }
  return false;
}

static bool is_named_once(const struct text *body, const struct kernel_name *kernel) {
  struct source_reader reader = {text_get(body), text_get(body) + body->length};
  size_t count = 0;
  for (struct source_token token = source_next_solid(&reader); token.kind != SOURCE_END;
       token = source_next_solid(&reader))
    count += source_is_word(token, kernel->at, kernel->length);
  return count == 1;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* The parameters that a launch passes to its kernel, and those that the kernel's text has. */
struct passing {
  const struct expansion *x;
  const struct kernel_name *kernel;
  const struct kernel_launch *launch;
  struct kernel_parameter passed[KERNEL_MAX_ARGUMENTS];
  size_t count; /* of `passed` */
  struct signature_parameter seen[KERNEL_MAX_ARGUMENTS];
  int seen_count; /* UNKNOWN: the text does not tell */
};

static const struct kernel_argument *argument_of(const struct passing *p, size_t i) {
  return &p->x->out->arguments[p->passed[i].argument];
}

/* Returns whether the types may agree. A number must have the parameter's size, and be an integer
   exactly if the parameter is one. Buffers are often read through another type, such as
   packed halves through unsigned int, so only float and double are told apart. An integer of 8
   bytes may be an address, as parameter and as argument. */
static bool type_agrees(struct signature_parameter seen, const struct kernel_argument *argument) {
  const struct dtype *type = NULL;
  for (size_t i = 0; seen.plain && i < DTYPE_COUNT && !type; i++)
    if (strcmp(dtype_table[i].cuda_name, seen.type) == 0) type = &dtype_table[i];
  if (!seen.plain || argument->access != ACCESS_GLOBAL || argument->struct_bytes > 0) return true;
  if (argument->kind != CUGEN_ARGUMENT_SCALAR)
    return !type ||
           (seen.pointer ? type->kind != DTYPE_FLOAT || argument->dtype->kind != DTYPE_FLOAT ||
                               type->bytes == argument->dtype->bytes
                         : type->bytes == 8 && !type->floating);
  if (seen.pointer) return argument->dtype->bytes == 8 && !argument->dtype->floating;
  return !type ||
         (type->bytes == argument->dtype->bytes && type->floating == argument->dtype->floating);
}

/* ---- Refusing ------------------------------------------------------------------------------- */

/* Returns the index of the first argument that does not fit; the number of arguments if the kernel
   has more or fewer parameters; UNKNOWN if all fit. */
static int find_fault(const struct passing *p) {
  if ((size_t)p->seen_count != p->count) return (int)p->count;
  for (size_t i = 0; i < p->count; i++)
    if (!type_agrees(p->seen[i], argument_of(p, i))) return (int)i;
  return UNKNOWN;
}

/* Appends " (launch at line 12)". */
static void say_launch(const struct passing *p, struct text *out) {
  if (p->launch->listed) text_addf(out, " (launch at line %d)", p->launch->line);
}

static int parameters_refuse_count(const struct passing *p) {
  const struct text *body = &p->x->expander->body;
  struct text said = {0};
  text_addf(&said, "kernel '%.*s'", (int)p->kernel->length, p->kernel->at);
  say_launch(p, &said);
  text_addf(&said, " takes %d parameters but is passed %zu (", p->seen_count, p->count);
  for (size_t i = 0; i < p->count; i++)
    text_addf(&said, "%s%s", i ? ", " : "", argument_of(p, i)->name);
  text_addf(&said, "): its parameter list and the config's %s must agree",
            p->launch->listed ? "pass" : "arguments");
  int status = said.failed ? error_memory(p->x->err)
                           : source_fail(p->x->err, CUGEN_ERROR_CONFIG, text_get(body),
                                         p->kernel->at, "", text_get(&said));
  text_free(&said);
  return status;
}

/* Refuses a type, and names the argument's line in the config and the kernel's line in the
   template. */
static int refuse_type(const struct passing *p, const struct signature_parameter *seen,
                       const struct kernel_argument *argument) {
  struct text said = {0};
  int status = CUGEN_ERROR_MEMORY;
  text_addf(&said, "kernel '%.*s' of %s", (int)p->kernel->length, p->kernel->at, p->launch->place);
  say_launch(p, &said);
  if (said.failed)
    error_memory(p->x->err);
  else
    status = error_set_at(p->x->err, CUGEN_ERROR_CONFIG, argument->file, argument->line,
                          "the %s %s '%s' is passed as '%s %s%.*s' to %s: their types must agree",
                          argument->dtype->name,
                          argument->kind == CUGEN_ARGUMENT_SCALAR ? "scalar" : "buffer",
                          argument->name, seen->type, seen->pointer ? "*" : "",
                          (int)seen->name.length, seen->name.at, text_get(&said));
  text_free(&said);
  return status;
}

/* ---- Arguments that seem exchanged ---------------------------------------------------------- */

/* Returns the index of the passed argument that has the name of parameter i; argument i is looked
   at first. UNKNOWN: no argument has the name. */
static int find_passed(const struct passing *p, size_t i) {
  const struct source_token name = p->seen[i].name;
  for (size_t k = 0; k < p->count; k++) {
    const size_t at = (i + k) % p->count;
    const char *const passed = argument_of(p, at)->name;
    if (source_is_word(name, passed, strlen(passed))) return (int)at;
  }
  return UNKNOWN;
}

/* Returns whether the parameters and the arguments have names in common, but in different orders.
   Different orders need not be an error, because parameters may have any names. Several launches of
   the kernel that list what they pass may pass the same arguments in different orders. */
static bool is_exchanged(const struct passing *p) {
  const struct kernel_spec *spec = p->x->out;
  int last = UNKNOWN, launches = 0;
  bool falls = false;
  for (size_t i = 0; i < p->count; i++) {
    const int at = find_passed(p, i);
    falls |= at != UNKNOWN && at < last;
    if (at != UNKNOWN) last = at;
  }
  for (size_t i = 0; p->launch->listed && i < spec->launch_count; i++)
    launches += strcmp(spec->launches[i].entry, p->launch->entry) == 0;
  return falls && launches <= 1;
}

static int note_order(const struct passing *p) {
  struct text said = {0};
  text_addf(&said, "Kernel '%.*s' (%s) names its parameters ", (int)p->kernel->length,
            p->kernel->at, p->launch->place);
  for (size_t i = 0; i < p->count; i++)
    text_addf(&said, "%s%.*s", i ? ", " : "", (int)p->seen[i].name.length, p->seen[i].name.at);
  text_add(&said, "; the config passes ");
  for (size_t i = 0; i < p->count; i++)
    text_addf(&said, "%s%s", i ? ", " : "", argument_of(p, i)->name);
  p->x->out->order = text_take(&said);
  return p->x->out->order ? CUGEN_OK : error_memory(p->x->err);
}

/* ---- Launches ------------------------------------------------------------------------------- */

static int parameters_check_launch(struct expansion *x, const struct kernel_launch *launch) {
  const struct text *body = &x->expander->body;
  struct passing p = {
      .x = x, .kernel = kernel_names_find(&x->kernels, launch->entry), .launch = launch};
  if (!p.kernel) return CUGEN_OK;
  struct source_reader reader = {p.kernel->at + p.kernel->length, text_get(body) + body->length};
  if (!source_is_mark_of(source_next_solid(&reader), "(")) return CUGEN_OK;
  p.count = kernel_launch_parameters(x->out, launch, p.passed);
  p.seen_count = signature_read_list(reader, p.seen);
  if (p.seen_count == UNKNOWN) return CUGEN_OK;
  const int wrong = find_fault(&p);
  const bool exchanged = wrong == UNKNOWN && !x->out->order && is_exchanged(&p);
  if (wrong == UNKNOWN && !exchanged) return CUGEN_OK;

  /* The text of the list can be trusted if the kernel's name stands only once in the body, and the
     list has no macro. */
  if (!is_named_once(body, p.kernel) || has_macro(text_get(body), reader) ||
      has_macro(text_get(&x->expander->defines), reader))
    return CUGEN_OK;
  if (exchanged) return note_order(&p);
  return (size_t)wrong < p.count ? refuse_type(&p, &p.seen[wrong], argument_of(&p, (size_t)wrong))
                                 : parameters_refuse_count(&p);
}

int expansion_check_parameters(struct expansion *x) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < x->out->launch_count && !x->reference && !x->parameters_used && !status;
       i++)
    status = parameters_check_launch(x, &x->out->launches[i]);
  return status;
}

/* Executing inline PTX; see inline_ptx.h. */
#include <stdio.h>

#include "async.h"
#include "inline_ptx.h"

/* Returns the parsed text, which *cache keeps for this place in the kernel and iptx_close frees.
   Ends the launch if the text cannot be parsed. */
static struct iptx_program *program_of(void **cache, const char *text, const void *site) {
  struct async *async = fibers_async();
  char wrong[160], what[200];
  if (*cache) return *cache;
  struct iptx_program *program = iptx_parse(text, wrong, sizeof wrong);
  if (!program) {
    snprintf(what, sizeof what, "%s has no form on the cpu device", wrong);
    fibers_ended(site, what);
    fibers_give_up(CUGEN_CAUSE_TRAP, what);
  }
  program->next = async->programs;
  async->programs = program;
  *cache = program;
  return program;
}

void iptx_close(struct iptx_program *programs) {
  while (programs) {
    struct iptx_program *next = programs->next;
    iptx_free(programs);
    programs = next;
  }
}

void iptx_call(struct cpu_ptx_place *place, const char *text,
               const struct cpu_ptx_operand *operands, unsigned count,
               const struct cpu_watch *watch, const void *site) {
  struct iptx_run run; /* not initialised as a whole: most texts have no registers */
  run.program = program_of(&place->program, text, site);
  run.operands = operands;
  run.operand_count = count;
  run.watch = watch;
  run.site = site;
  run.where = place->where;
  run.at = 0;
  for (unsigned r = 0; r < run.program->registers; r++) run.registers[r] = 0;
  while (run.at < run.program->count) {
    const struct iptx_instruction *i = &run.program->instructions[run.at++];
    if (i->perform && (i->guard.kind == IPTX_NOTHING || iptx_read(&run, &i->guard, IPTX_PRED)))
      i->perform(&run, i);
  }
}

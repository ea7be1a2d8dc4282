/* Executing inline PTX; see inline_ptx.h. */
#include <stdio.h>

#include "async.h"
#include "inline_ptx.h"

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
  run.program = place->program;
  if (!run.program) {
    struct async *async = fibers_async();
    char wrong[160], what[200];
    run.program = iptx_parse(text, wrong, sizeof wrong);
    if (!run.program) {
      snprintf(what, sizeof what, "%s has no form on the cpu device", wrong);
      fibers_ended(site, what);
      fibers_give_up(CUGEN_CAUSE_TRAP, what);
    }
    run.program->next = async->programs; /* for iptx_close */
    async->programs = run.program;
    place->program = run.program;
  }
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

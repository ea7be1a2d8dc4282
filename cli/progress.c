/* The progress bar; see progress.h. */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/key.h"
#include "print.h"
#include "terminal.h"

double progress_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void progress_open(struct progress *progress, bool quiet) {
  const char *terminal = getenv("TERM");
  bool able = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
  *progress = (struct progress){.shown = able && !quiet, .begin = progress_now()};
}

/* Returns which part is done, from 0 to 1: of the planned variants or of the time, whichever is
   more. */
static double fraction_done(const cugen_progress *state) {
  if (state->stage == CUGEN_STAGE_VERIFY && state->problems <= 1)
    return 1; /* the search is over, perhaps because nothing was left to try */
  double by_count = state->planned ? (double)state->done / (double)state->planned : 0;
  double whole = state->elapsed + state->remaining;
  double by_time = state->remaining >= 0 && whole > 0 ? state->elapsed / whole : 0;
  double done = by_count > by_time ? by_count : by_time;
  return done < 0 ? 0 : done > 1 ? 1 : done;
}

/* The line, made of pieces that are printed whole or not at all. The last column stays free, so
   that the terminal does not wrap. */
struct line {
  char text[512];
  size_t columns, room;
};

static void progress_add(struct line *line, const char *before, const char *text) {
  const size_t used = strlen(line->text),
               columns = terminal_columns(text, strlen(text)) + strlen(before);
  if (line->columns + columns > line->room ||
      used + strlen(before) + strlen(text) >= sizeof line->text) {
    line->room = 0; /* later pieces are left out as well */
    return;
  }
  snprintf(line->text + used, sizeof line->text - used, "%s%s", before, text);
  line->columns += columns;
}

static void add_bar(struct line *line, double fraction) {
  enum { CELLS = 20 };
  char bar[CELLS + 3] = "[";
  for (int i = 0; i < CELLS; i++) bar[i + 1] = i < (int)(fraction * CELLS + 0.5) ? '#' : '.';
  bar[CELLS + 1] = ']';
  progress_add(line, "", bar);
}

static void progress_add_counts(struct line *line, const cugen_progress *state) {
  char text[128];
  const bool limited = state->planned > 0;
  snprintf(text, sizeof text, "%s%s%s", print_count(state->done).text, limited ? "/" : "",
           limited ? print_count(state->planned).text : "");
  progress_add(line, " ", text);
  snprintf(text, sizeof text, "%s failed", print_count(state->failed).text);
  if (state->failed) progress_add(line, ", ", text);
}

/* Adds the time and the rate of the best variant, and the words of the variant that fit. */
static void add_best(struct line *line, const cugen_progress *state, const char *variant) {
  char text[128];
  const char *unit = print_rate_unit(state->flops, state->bytes), *before = "  ";
  progress_add(line, "  best ", print_seconds(state->best_seconds).text);
  snprintf(text, sizeof text, "%s %s",
           print_rate(state->flops, state->bytes, state->best_seconds).text, unit ? unit : "");
  if (unit) progress_add(line, ", ", text);
  for (struct setting part; setting_next(&variant, &part);) {
    snprintf(text, sizeof text, "%.*s", (int)part.length, part.text);
    progress_add(line, before, text);
    before = " ";
  }
}

/* Returns the seconds left: those of the time limit if there is one, otherwise as if the remaining
   variants took as long as those tried; negative: not known. */
static double progress_time_left(const struct progress *progress, const cugen_progress *state) {
  if (state->remaining >= 0 || !state->done || state->planned <= state->done)
    return state->remaining;
  return (progress_now() - progress->begin) / (double)state->done *
         (double)(state->planned - state->done);
}

static void make_line(const struct progress *progress, const cugen_progress *state,
                      struct line *line) {
  static const char *const stages[] = {[CUGEN_STAGE_RACE] = "racing the best",
                                       [CUGEN_STAGE_VERIFY] = "verifying the best",
                                       [CUGEN_STAGE_DATA] = "computing reference"};
  const double left = progress_time_left(progress, state);
  char text[128];
  *line = (struct line){.room = (size_t)terminal_progress_width() - 1};
  add_bar(line, fraction_done(state));
  progress_add_counts(line, state);
  /* How long making data takes is not known. */
  snprintf(text, sizeof text, "%s left", print_clock(left).text);
  if (left >= 0 && state->stage != CUGEN_STAGE_DATA) progress_add(line, "  ", text);
  if (state->stage != CUGEN_STAGE_SEARCH) progress_add(line, "  ", stages[state->stage]);
  if (state->stage == CUGEN_STAGE_DATA) progress_add(line, ", ", print_clock(state->elapsed).text);
  snprintf(text, sizeof text, "%s of %s", print_count(state->problem_index + 1).text,
           print_count(state->problems).text);
  if (state->problems > 1) progress_add(line, "  problem ", text);
  char *best = state->best ? print_clean(state->best, strlen(state->best)) : NULL;
  if (best) add_best(line, state, best);
  free(best);
}

/* Returns true, and notes the time, if the line is shown and was not drawn in the last tenth of a
   second. */
static bool is_due(struct progress *progress) {
  enum { REDRAWS_PER_SECOND = 10 };
  const double time = progress_now();
  if (!progress->shown ||
      (progress->drawn && time - progress->last_draw < 1.0 / REDRAWS_PER_SECOND))
    return false;
  progress->drawn = true;
  progress->last_draw = time;
  return true;
}

static void put_line(const struct line *line) {
  fflush(stderr);
  dprintf(STDERR_FILENO, "\r%s\033[K", line->text);
}

static void clear_line(struct progress *progress) {
  if (progress->drawn) dprintf(STDERR_FILENO, "\r\033[K");
  progress->drawn = false;
}

/* ---- Several searches ----------------------------------------------------------------------- */

bool progress_board_open(struct progress_board *board, const char *const *names, size_t count,
                         bool quiet) {
  *board = (struct progress_board){.lock = PTHREAD_MUTEX_INITIALIZER, .count = count};
  board->parts = calloc(count, sizeof *board->parts);
  if (!board->parts) return false;
  for (size_t i = 0; i < count; i++) board->parts[i].name = names[i];
  progress_open(&board->line, quiet);
  return true;
}

void progress_board_close(struct progress_board *board) {
  progress_close(&board->line);
  free(board->parts);
}

void progress_board_silence(struct progress_board *board, bool silent) {
  pthread_mutex_lock(&board->lock);
  board->silent = silent;
  clear_line(&board->line);
  pthread_mutex_unlock(&board->lock);
}

void progress_open_part(struct progress *progress, struct progress_board *board, size_t part) {
  *progress = (struct progress){.begin = progress_now(), .board = board, .part = part};
}

/* Makes a line of the sums of all parts, the least fraction done, the longest time left, and the
   best of each part. */
static void make_board_line(const struct progress_board *board, struct line *line) {
  cugen_progress all = {0};
  double fraction = 1, left = -1;
  bool planned = true, begun = true;
  for (size_t i = 0; i < board->count; i++) {
    const struct progress_part *part = &board->parts[i];
    const double own = part->ended ? 1 : part->begun ? fraction_done(&part->state) : 0;
    if (own < fraction) fraction = own;
    if (part->begun && !part->ended)
      left = fmax(left, progress_time_left(&board->line, &part->state));
    all.done += part->state.done;
    all.failed += part->state.failed;
    all.planned += part->state.planned;
    planned &= part->state.planned > 0;
    begun &= part->begun;
  }
  if (!planned) all.planned = 0;
  *line = (struct line){.room = (size_t)terminal_progress_width() - 1};
  add_bar(line, fraction);
  progress_add_counts(line, &all);
  char text[128];
  snprintf(text, sizeof text, "%s left", print_clock(left).text);
  /* A part that has not begun may take longest. */
  if (begun && left >= 0) progress_add(line, "  ", text);
  const char *before = "  best ";
  for (size_t i = 0; i < board->count; i++) {
    const struct progress_part *part = &board->parts[i];
    if (!part->found) continue;
    snprintf(text, sizeof text, "%.*s %s", (int)strcspn(part->name, ","), part->name,
             print_seconds(part->state.best_seconds).text);
    progress_add(line, before, text);
    before = ", ";
  }
}

/* ---- One search or several ------------------------------------------------------------------ */

void progress_draw(struct progress *progress, const cugen_progress *state) {
  struct progress_board *board = progress->board;
  struct line line;
  if (!board) {
    if (!is_due(progress)) return;
    make_line(progress, state, &line);
    put_line(&line);
    return;
  }
  struct progress_part *part = &board->parts[progress->part];
  pthread_mutex_lock(&board->lock);
  part->state = *state;
  part->state.best = part->state.lost = NULL;
  part->found = state->best;
  part->begun = true;
  part->ended = false;
  if (!board->silent && is_due(&board->line)) {
    make_board_line(board, &line);
    put_line(&line);
  }
  pthread_mutex_unlock(&board->lock);
}

void progress_pause(struct progress *progress) {
  struct progress_board *board = progress->board;
  if (board) pthread_mutex_lock(&board->lock);
  clear_line(board ? &board->line : progress);
}

void progress_go_on(struct progress *progress) {
  if (progress->board) pthread_mutex_unlock(&progress->board->lock);
}

void progress_close(struct progress *progress) {
  progress_pause(progress);
  if (progress->board)
    progress->board->parts[progress->part].begun = progress->board->parts[progress->part].ended =
        true;
  progress_go_on(progress);
}

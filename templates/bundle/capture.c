/* ---- Capture --------------------------------------------------------------------------------- */

/* A line of JSON. A line that does not fit is not written: its length is then sizeof text. */
struct line {
  char text[4096];
  size_t length;
};

static void add_text(struct line *l, const char *text) {
  size_t length = strlen(text);
  if (length < sizeof l->text - l->length) memcpy(l->text + l->length, text, length);
  l->length = length < sizeof l->text - l->length ? l->length + length : sizeof l->text;
}

/* Adds , "name": "value", and escapes the characters that JSON does not allow in strings. */
static void add_string(struct line *l, const char *name, const char *value) {
  char one[8];
  add_text(l, ", \"");
  add_text(l, name);
  add_text(l, "\": \"");
  for (; *value; value++) {
    unsigned char c = (unsigned char)*value;
    snprintf(one, sizeof one, c < ' ' ? "\\u%04x" : c == '"' || c == '\\' ? "\\%c" : "%c", c);
    add_text(l, one);
  }
  add_text(l, "\"");
}

/* Appends the line by one write, so that lines of several processes do not mix. Errors are
   ignored. */
static void append_line(const char *path, const struct line *l) {
  struct stat about;
  int file =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | CLOSE_ON_EXEC, 0644);
  if (file < 0) return;
  if (!fstat(file, &about) && S_ISREG(about.st_mode) && write(file, l->text, l->length) < 0)
    errno = 0;
  close(file);
}

/* Notes which problem was asked for and what serves it, for 'cugen tune --from'; chosen NULL:
   nothing serves it. */
static void capture(const bundle_library *library, const bundle_problem *problem,
                    const struct chosen *chosen) {
  static const char *const plans[] = {[BUNDLE_EXACT] = "exact",
                                      [BUNDLE_NEAR] = "near",
                                      [BUNDLE_DEFAULT] = "default",
                                      [BUNDLE_PORTFOLIO] = "portfolio"};
  char text[1024], number[64];
  struct line l;
  if (!library->capture) return;
  l.length = 0;
  print_problem(problem, text, sizeof text);
  snprintf(number, sizeof number, ", \"seconds\": %.9g",
           chosen && chosen->measured ? chosen->measured->seconds : 0.0);
  add_text(&l, "{\"cugen_capture\": 1");
  add_string(&l, "kernel", "@name");
  add_string(&l, "problem", text);
  add_string(&l, "device", library->name);
  add_string(&l, "plan", chosen ? plans[chosen->how] : "none");
  add_string(&l, "variant", chosen ? chosen->code->variant : "");
  add_text(&l, number);
  add_text(&l, ", \"opens\": 1, \"launches\": 0}\n");
  if (l.length < sizeof l.text && strlen(text) + 1 < sizeof text) append_line(library->capture, &l);
}

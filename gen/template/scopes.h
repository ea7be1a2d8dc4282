/* Which mentions of a config's names are the source's own: template parameters, parameters and variables that a plain .cu
   declares under the same name, and members. A lexical reading of scopes, right for what kernels are written like:
   a declaration is a type with the name behind it. */
#ifndef GEN_TEMPLATE_SCOPES_H
#define GEN_TEMPLATE_SCOPES_H

#include "gen/sources/source_text.h"
#include "names.h"

enum { SCOPES_MOST = 64, BRANCHES_MOST = 16 };

enum scope_sight {
  SCOPE_MENTION,   /* the config's */
  SCOPE_PARAMETER, /* of a template or function: from here on it hides the config's */
  SCOPE_VARIABLE,  /* of a function: likewise */
  SCOPE_GLOBAL,    /* a variable outside of functions: the whole file would see it instead of the config's */
  SCOPE_HIDDEN     /* the source's own, declared before, or a member */
};

struct scopes {
  const char *statement; /* where the statement under way begins */
  struct source_token before[2];
  int parentheses;
  int depth;            /* of braces, but for those of namespaces */
  uint64_t transparent; /* for each open brace, the innermost lowest, whether it is a namespace's */
  struct hidden {
    const struct name *name;
    int depth;
    bool parameter; /* until its function's body ends, not only until the brace around it closes */
  } hidden[SCOPES_MOST];
  size_t hidden_count;
  struct branch { /* what the innermost #if began with: each of its branches begins with that */
    int parentheses, depth;
    uint64_t transparent;
    size_t hidden_count;
  } branches[BRANCHES_MOST];
  int branch_count;
};

void scopes_open(struct scopes *scopes, const char *text);
/* Every token that is neither blank nor comment nor part of a directive, in order. name: what the config knows of the word, or NULL. */
enum scope_sight scopes_see(struct scopes *scopes, struct source_token token, struct source_reader ahead,
                            const struct name *name);

/* At #if, #else (or #elif) and #endif. */
void scopes_if(struct scopes *scopes);
void scopes_else(struct scopes *scopes);
void scopes_endif(struct scopes *scopes);

#endif

/* Tells which words of a source look like a config's name but mean something of the source's own: a
   member, or a template parameter, parameter or variable that the source declares. Scopes are found
   by the tokens alone, where a declaration is a type with the name behind it. */
#ifndef GEN_TEMPLATE_SCOPES_H
#define GEN_TEMPLATE_SCOPES_H

#include "gen/sources/source_text.h"
#include "names.h"

enum { SCOPES_MOST = 64, BRANCHES_MOST = 16 };

enum scope_sight {
  SCOPE_MENTION,   /* a use of the config's name */
  SCOPE_PARAMETER, /* a declaration of a parameter of a template or function, which hides the
                      config's name from here on */
  SCOPE_VARIABLE,  /* a declaration in a function, which hides the config's name from here on */
  SCOPE_GLOBAL,    /* a declaration outside of functions, which the whole file would see instead of
                      the config's name */
  SCOPE_HIDDEN     /* a use of the source's own name, declared before, or a member */
};

/* All but `statement` is zero at the beginning of a text. */
struct scopes {
  const char *statement;         /* beginning of the current statement */
  struct source_token before[2]; /* the last two tokens, the newest first */
  int parentheses;
  int depth;            /* open braces, except those of namespaces */
  uint64_t transparent; /* one bit per open brace, the innermost lowest: whether it belongs to a
                           namespace */
  struct hidden {
    const struct name *name;
    int depth;      /* open braces at the declaration */
    bool parameter; /* hidden until the function's body or declaration ends; false: a variable,
                       hidden until the enclosing brace closes */
  } hidden[SCOPES_MOST];
  size_t hidden_count;
  struct branch { /* The state at the beginning of an #if, which each of its branches begins
                     with. */
    int parentheses, depth;
    uint64_t transparent;
    size_t hidden_count;
  } branches[BRANCHES_MOST];
  int branch_count;
};

/* Takes the next token that is no blank, comment or part of a directive. ahead: reads the text
   behind the token. name: the config's name that the token equals, or NULL. */
enum scope_sight scopes_see(struct scopes *scopes, struct source_token token,
                            struct source_reader ahead, const struct name *name);

/* Returns whether the next token is a member, as x in `threads.x` and `p->x`. */
bool scopes_member(const struct scopes *scopes);

/* Call at #if, at #else or #elif, and at #endif. */
void scopes_if(struct scopes *scopes);
void scopes_else(struct scopes *scopes);
void scopes_endif(struct scopes *scopes);

#endif

/* without [root] [landlock] [namespaces] COMMAND...: runs the command as an ordinary user, and
   as on a kernel that has no Landlock or no namespaces. What is asked for and cannot be had is
   said, with exit code 77. */
#define _GNU_SOURCE /* setgroups */
#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIP = 77, NOBODY = 65534, LANDLOCK_CREATE_RULESET = 444 };

static void check(int status, const char *what) {
  if (status == 0) return;
  printf("skipped: %s: %s\n", what, strerror(errno));
  exit(SKIP);
}

static void without_root(void) {
  if (geteuid() != 0) return;
  check(setgroups(0, NULL), "setgroups");
  check(setgid(NOBODY), "setgid");
  check(setuid(NOBODY), "setuid");
}

static void install(struct sock_filter *filter, unsigned short count) {
  const struct sock_fprog program = {count, filter};
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
  check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp");
}

#define LOAD(field)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

static void without_landlock(void) {
  struct sock_filter filter[] = {LOAD(nr),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LANDLOCK_CREATE_RULESET, 0, 1),
                                 ANSWER(SECCOMP_RET_ERRNO | ENOSYS), ANSWER(SECCOMP_RET_ALLOW)};
  install(filter, sizeof filter / sizeof *filter);
}

/* clone3 has its flags in memory, which a filter cannot read; libraries use clone if clone3 does
   not exist. */
static void without_namespaces(void) {
  enum { ANY = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC };
  struct sock_filter filter[] = {LOAD(nr),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 4, 0),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 5, 0),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
                                 LOAD(args[0]),
                                 BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ANY, 1, 0),
                                 ANSWER(SECCOMP_RET_ALLOW),
                                 ANSWER(SECCOMP_RET_ERRNO | EPERM),
                                 ANSWER(SECCOMP_RET_ERRNO | ENOSYS)};
  install(filter, sizeof filter / sizeof *filter);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*give_up)(void);
  } table[] = {
      {"root", without_root}, {"landlock", without_landlock}, {"namespaces", without_namespaces}};
  enum { COUNT = sizeof table / sizeof *table };
  int at = 1;
  for (size_t i = 0; at < argc && i < COUNT; i++) {
    if (strcmp(argv[at], table[i].name) != 0) continue;
    table[i].give_up();
    at++;
    i = (size_t)-1;
  }
  if (at >= argc) {
    fprintf(stderr, "usage: without [root] [landlock] [namespaces] COMMAND...\n");
    return 1;
  }
  execvp(argv[at], argv + at);
  printf("skipped: %s: %s\n", argv[at], strerror(errno));
  return SKIP;
}

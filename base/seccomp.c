/* Builds a seccomp filter in the kernel's byte code (linux/filter.h); see seccomp.h. The filter
   lists the allowed system calls, so calls that a newer kernel adds are refused. For some calls the
   filter also checks arguments, for example the flags with which a file is opened. */
#define _GNU_SOURCE /* syscall, CLONE_THREAD */
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* FIRST_X32: calls of the x32 ABI have this number and higher ones; 0: there is no such ABI. */
#if defined(__x86_64__)
enum { HAVE_FILTER = 1, FIRST_X32 = 0x40000000 };
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
enum { HAVE_FILTER = 1, FIRST_X32 = 0 };
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
enum { HAVE_FILTER = 0, FIRST_X32 = 0 };
#define OWN_ARCH 0
#endif

/* Numbers that the headers of an older system lack. Those of rseq differ between the processors;
   that of statx is used on x86-64 only. */
enum {
  CALL_CLONE3 = 435,
  CALL_RSEQ = 334,
  CALL_RSEQ_ARM = 293,
  CALL_FACCESSAT2 = 439,
  CALL_STATX = 332
};

static const int always[] = {
    SYS_read,
    SYS_write,
    SYS_writev,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_mmap,
    SYS_mprotect,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_futex,
    SYS_set_robust_list,
#if defined(__aarch64__)
    CALL_RSEQ_ARM,
#else
    CALL_RSEQ,
#endif
    SYS_membarrier,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getcpu,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getrusage,
    SYS_times,
    SYS_sysinfo,
    SYS_uname,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_setitimer,
    SYS_getitimer,
    SYS_wait4,
    SYS_exit,
    SYS_exit_group,
#if defined(__x86_64__)
    SYS_time,
    SYS_alarm,
    SYS_pause,
#endif
};

/* Calls that the dynamic loader needs in addition, and the calls that enter stricter rules. */
static const int loading[] = {
    SYS_pread64,    SYS_pwrite64, SYS_newfstatat, SYS_faccessat,    CALL_FACCESSAT2,
    SYS_readlinkat, SYS_getcwd,   SYS_fcntl,      SYS_memfd_create, SYS_getuid,
    SYS_geteuid,    SYS_getgid,   SYS_getegid,    SYS_prctl,        SYS_seccomp,
#if defined(__x86_64__)
    SYS_arch_prctl, SYS_access,   SYS_readlink,   SYS_stat,         CALL_STATX,
#endif
};

/* ---- The program ---------------------------------------------------------------------------- */

struct program {
  struct sock_filter code[320];
  unsigned short length;
};

static void seccomp_add(struct program *p, struct sock_filter step) {
  if (p->length < sizeof p->code / sizeof *p->code) p->code[p->length++] = step;
}

static void seccomp_load(struct program *p, size_t offset) {
  seccomp_add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct program *p, uint32_t what) {
  seccomp_add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

/* Jumps over `yes` instructions if the loaded value passes the test (BPF_JEQ: equal, BPF_JSET: any
   bit, BPF_JGE: at least), and over `no` instructions otherwise. */
static void jump(struct program *p, uint16_t test, uint32_t value, size_t yes, size_t no) {
  seccomp_add(
      p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | test, value, (uint8_t)yes, (uint8_t)no));
}

/* Adds a rule: a call with this number gets the answer `what`. */
static void rule(struct program *p, int number, uint32_t what) {
  jump(p, BPF_JEQ, (uint32_t)number, 0, 1);
  answer(p, what);
}

static void rules(struct program *p, const int *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) rule(p, numbers[i], SECCOMP_RET_ALLOW);
}

/* A test of the lower (0) or upper (1) 32 bits of an argument. With `refuses` the test must
   fail. */
struct test {
  size_t argument, half;
  uint16_t test;
  uint32_t value;
  bool refuses;
};

/* Allows the call if its arguments pass all tests. Otherwise the rules behind this one are tried,
   which may allow the call. */
static void allow_if(struct program *p, int number, const struct test *tests, size_t count) {
  jump(p, BPF_JEQ, (uint32_t)number, 0, 2 * count + 2);
  for (size_t i = 0; i < count; i++) {
    const size_t to_end = 2 * (count - i) - 1;
    seccomp_load(p, offsetof(struct seccomp_data, args) + tests[i].argument * sizeof(uint64_t) +
                        tests[i].half * sizeof(uint32_t));
    jump(p, tests[i].test, tests[i].value, tests[i].refuses ? to_end : 0,
         tests[i].refuses ? 0 : to_end);
  }
  answer(p, SECCOMP_RET_ALLOW);
  seccomp_load(p, offsetof(struct seccomp_data, nr));
}
#define ALLOW_IF(p, number, ...)                                                                   \
  allow_if(p, number, (const struct test[]){__VA_ARGS__},                                          \
           sizeof(const struct test[]){__VA_ARGS__} / sizeof(struct test))

/* Allows threads that share all namespaces. Allows processes only with the key, which is passed in
   an argument that the kernel ignores. */
static void rule_clone(struct program *p, uint64_t key) {
  enum {
    SPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
             CLONE_NEWPID | CLONE_NEWNET
  };
  ALLOW_IF(p, SYS_clone, {0, 0, BPF_JSET, SPACES, true}, {0, 0, BPF_JSET, CLONE_THREAD, false});
  if (!key) return;
  ALLOW_IF(p, SYS_clone, {0, 0, BPF_JEQ, SIGCHLD, false}, {2, 0, BPF_JEQ, (uint32_t)key, false},
           {2, 1, BPF_JEQ, (uint32_t)(key >> 32), false});
}

bool seccomp_enter(const struct seccomp_rules *given) {
  /* WRITING: flags with which opening a file would make or change it. */
  enum { FIRST_OF_MACHINE = 100, WRITING = O_ACCMODE | O_CREAT | O_TRUNC | O_TMPFILE };
  const uint32_t self = (uint32_t)getpid();
  struct program p = {.length = 0};
  if (!HAVE_FILTER) return false;
  seccomp_load(&p, offsetof(struct seccomp_data, arch));
  jump(&p, BPF_JEQ, OWN_ARCH, 1, 0);
  answer(&p, SECCOMP_RET_KILL_PROCESS);
  seccomp_load(&p, offsetof(struct seccomp_data, nr));
  if (FIRST_X32) {
    jump(&p, BPF_JGE, FIRST_X32, 0, 1);
    answer(&p, SECCOMP_RET_KILL_PROCESS);
  }
  rules(&p, always, sizeof always / sizeof *always);
  /* the flags of clone3 lie in memory, where the filter cannot check them; libraries then fall back
     to clone */
  rule(&p, CALL_CLONE3, SECCOMP_RET_ERRNO | ENOSYS);
  rule(&p, SYS_ioctl, SECCOMP_RET_ERRNO | ENOTTY); /* isatty makes this call */
  /* Advice on the process's own pages is allowed. Numbers of MADV_HWPOISON (100) and above concern
     the machine's memory. */
  ALLOW_IF(&p, SYS_madvise, {2, 0, BPF_JGE, FIRST_OF_MACHINE, true});
  rule_clone(&p, given->fork);
  ALLOW_IF(&p, SYS_kill, {0, 0, BPF_JEQ, self, false});
  ALLOW_IF(&p, SYS_tgkill, {0, 0, BPF_JEQ, self, false});
  if (given->loading) {
    rules(&p, loading, sizeof loading / sizeof *loading);
    /* only for the process's own limits */
    ALLOW_IF(&p, SYS_prlimit64, {0, 0, BPF_JEQ, 0, false}, {0, 1, BPF_JEQ, 0, false});
    ALLOW_IF(&p, SYS_openat, {2, 0, BPF_JSET, WRITING, true});
#if defined(SYS_open)
    ALLOW_IF(&p, SYS_open, {1, 0, BPF_JSET, WRITING, true});
#endif
  } else {
    /* the C library makes this call for a stream's descriptor */
    rule(&p, SYS_newfstatat, SECCOMP_RET_ERRNO | EPERM);
    /* A process may ask to be killed when its parent ends. */
    ALLOW_IF(&p, SYS_prctl, {0, 0, BPF_JEQ, PR_SET_PDEATHSIG, false},
             {1, 0, BPF_JEQ, SIGKILL, false});
    /* limits may be read but not set */
    ALLOW_IF(&p, SYS_prlimit64, {2, 0, BPF_JEQ, 0, false}, {2, 1, BPF_JEQ, 0, false});
  }
  answer(&p, SECCOMP_RET_TRAP);
  const struct sock_fprog program = {.len = p.length, .filter = p.code};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

pid_t seccomp_fork(uint64_t key) {
  return key ? (pid_t)syscall(SYS_clone, SIGCHLD, 0UL, key, 0UL, 0UL) : fork();
}

/* ---- Names of the calls, for messages ------------------------------------------------------- */

#define NAME(call) {SYS_##call, #call},
static const struct {
  int number;
  const char *name;
} calls[] = {
    /* clang-format off */
    NAME(execve) NAME(execveat) NAME(clone) NAME(openat) NAME(faccessat) NAME(newfstatat)
    NAME(unlinkat) NAME(renameat) NAME(renameat2) NAME(mkdirat) NAME(linkat) NAME(symlinkat)
    NAME(readlinkat) NAME(truncate) NAME(ftruncate) NAME(fchmod) NAME(fchmodat) NAME(fchown)
    NAME(fchownat) NAME(chdir) NAME(fchdir) NAME(chroot) NAME(getcwd) NAME(getdents64) NAME(umask)
    NAME(utimensat) NAME(mknodat) NAME(mount) NAME(umount2) NAME(pivot_root) NAME(unshare)
    NAME(setns) NAME(socket) NAME(socketpair) NAME(bind) NAME(listen) NAME(accept) NAME(accept4)
    NAME(connect) NAME(sendto) NAME(recvfrom) NAME(sendmsg) NAME(recvmsg) NAME(sendmmsg)
    NAME(recvmmsg) NAME(shutdown) NAME(setsockopt) NAME(getsockopt) NAME(pipe2) NAME(dup) NAME(dup3)
    NAME(fcntl) NAME(flock) NAME(fallocate) NAME(fsync) NAME(memfd_create) NAME(ppoll)
    NAME(pselect6) NAME(epoll_create1) NAME(eventfd2) NAME(signalfd4) NAME(timerfd_create)
    NAME(inotify_init1) NAME(fanotify_init) NAME(kill) NAME(tkill) NAME(tgkill)
    NAME(rt_sigqueueinfo) NAME(rt_tgsigqueueinfo) NAME(rt_sigtimedwait) NAME(rt_sigsuspend)
    NAME(ptrace) NAME(process_vm_readv) NAME(process_vm_writev) NAME(kcmp) NAME(setsid)
    NAME(setpgid) NAME(getpgid) NAME(getsid) NAME(setuid) NAME(setgid) NAME(setreuid) NAME(setregid)
    NAME(setresuid) NAME(setresgid) NAME(setgroups) NAME(setfsuid) NAME(setfsgid) NAME(capset)
    NAME(prctl) NAME(seccomp) NAME(personality) NAME(prlimit64) NAME(setrlimit) NAME(setpriority)
    NAME(getpriority) NAME(sched_setaffinity) NAME(sched_setscheduler) NAME(sched_setparam)
    NAME(sched_setattr) NAME(ioprio_set) NAME(mlock) NAME(mlock2) NAME(mlockall) NAME(munlockall)
    NAME(mincore) NAME(msync) NAME(mbind) NAME(set_mempolicy) NAME(migrate_pages) NAME(move_pages)
    NAME(userfaultfd) NAME(io_setup) NAME(perf_event_open) NAME(bpf) NAME(keyctl) NAME(add_key)
    NAME(request_key) NAME(timer_create) NAME(timer_settime) NAME(clock_settime) NAME(settimeofday)
    NAME(adjtimex) NAME(clock_adjtime) NAME(sethostname) NAME(setdomainname) NAME(reboot)
    NAME(kexec_load) NAME(init_module) NAME(finit_module) NAME(delete_module) NAME(swapon)
    NAME(swapoff) NAME(acct) NAME(quotactl) NAME(syslog) NAME(shmget) NAME(shmat) NAME(shmctl)
    NAME(shmdt) NAME(semget) NAME(semop) NAME(semctl) NAME(msgget) NAME(msgsnd) NAME(msgrcv)
    NAME(msgctl) NAME(mq_open) NAME(pkey_mprotect) NAME(waitid) NAME(sendfile) NAME(splice)
    NAME(tee) NAME(vmsplice) NAME(copy_file_range) NAME(pread64) NAME(pwrite64) NAME(readv)
    NAME(preadv) NAME(pwritev) NAME(sync) NAME(syncfs) NAME(vhangup) NAME(remap_file_pages)
    NAME(name_to_handle_at) NAME(open_by_handle_at) {437, "openat2"}, {434, "pidfd_open"},
    {424, "pidfd_send_signal"}, {438, "pidfd_getfd"}, {425, "io_uring_setup"},
    {426, "io_uring_enter"}, {444, "landlock_create_ruleset"}, {447, "memfd_secret"},
    {440, "process_madvise"}, {439, "faccessat2"},
#if defined(__x86_64__)
    NAME(fork) NAME(vfork) NAME(open) NAME(creat) NAME(access) NAME(stat) NAME(lstat) NAME(statx)
    NAME(unlink) NAME(rename) NAME(mkdir) NAME(rmdir) NAME(link) NAME(symlink) NAME(readlink)
    NAME(chmod) NAME(chown) NAME(lchown) NAME(getdents) NAME(mknod) NAME(pipe) NAME(dup2) NAME(poll)
    NAME(select) NAME(arch_prctl) NAME(modify_ldt) NAME(ioperm) NAME(iopl)
#endif
    /* clang-format on */
};

const char *seccomp_name(int number) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i].number == number) return calls[i].name;
  return NULL;
}

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static __device__ void limit(int what, unsigned long most) {
  struct rlimit limits = {most, most};
  setrlimit(what, &limits);
}

static __device__ volatile int depth;

static __device__ __attribute__((noinline)) int overflow(int n) {
  volatile char here[4096];
  here[0] = (char)n;
  return depth ? overflow(n + 1) + here[0] : 0;
}

/* Whatever can be written near the buffers: what processes share lies there. The system tells which pages can be; its 64 random bytes
   fill the rest of the page. */
static __device__ void scribble(char *near) {
  const long page = 4096, around = 16 << 20;
  near -= (unsigned long)near % page;
  for (char *at = near - around; at < near + around; at += page)
    if (syscall(SYS_getrandom, at, 64, 0) == 64)
      for (int i = 64; i < page; i += sizeof(long)) *(volatile long *)(at + i) = *(volatile long *)(at + i - 64);
}

static __device__ void harm(int how, const float *x, float *y, int n) {
  const long page = 4096;
  char *start = (char *)x - (unsigned long)x % page, *block;
  struct itimerval soon = {{0, 1000}, {0, 1000}};
  static jmp_buf nowhere;
  sigset_t all;
  pthread_t thread;
  switch (how) {
  case 0: ((volatile float *)y)[-1] = 1; break;
  case 1: ((volatile float *)y)[n] = 1; break;
  case 2: ((volatile float *)y)[1 << 17] = 1; break;
  case 3: *(volatile float *)0x123456789000 = 1; break;
  case 4: *(volatile float *)nullptr = 1; break;
  case 5: for (volatile int i = 0;; i = i + 1) {}
  case 6: while (dup(0) >= 0) {} break;
  case 7: limit(RLIMIT_NOFILE, 4); break;
  case 8: limit(RLIMIT_AS, 1 << 20); break;
  case 9: limit(RLIMIT_FSIZE, 0); break;
  case 10: if (chdir("/proc")) {} break;
  case 11: umask(0777); break;
  case 12: sigfillset(&all); sigprocmask(SIG_SETMASK, &all, nullptr); break;
  case 13: fesetround(FE_UPWARD); break;
#ifdef __SSE__
  case 14: __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040); break;
#endif
  case 15: pthread_create(&thread, nullptr, [](void *) -> void * { for (;;) pause(); }, nullptr); break;
  case 16: block = (char *)malloc(100); memset(block - 64, 0x5a, 4096); free(block); break;
  case 17: depth = 1; y[0] = (float)overflow(0); break;
  case 18: abort();
  case 19: exit(0);
  case 20: _exit(0);
  case 21: longjmp(nowhere, 1);
  case 22: raise(SIGKILL); break;
  case 23: for (int fd = 0; fd < 1024; fd++) close(fd); break;
  case 24: munmap(start, page); break;
  case 25: mprotect(start, page, PROT_NONE); break;
  case 26: ((volatile float *)x)[0] += 1; break;
  case 27: setitimer(ITIMER_REAL, &soon, nullptr); break;
  case 28: setenv("CUGEN_WORKER", "/bin/false", 1); setlocale(LC_ALL, "de_DE.UTF-8"); break;
  case 29: scribble((char *)y); break;
  }
}

__global__ void nasty(${params}) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2.0f * x[i] + 1.0f;
  const int what = blockDim.x - 32;
  if (!threadIdx.x && what % 2) harm(what / 2, x, y, n);
}

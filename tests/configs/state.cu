#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static __device__ void limit(int what, unsigned long most) {
  struct rlimit limits = {most, most};
  setrlimit(what, &limits);
}

static __device__ bool is_limited(int what, unsigned long least) {
  struct rlimit limits;
  return getrlimit(what, &limits) != 0 || limits.rlim_cur < least;
}

/* Of what the variants leave behind: nothing is there. */
static __device__ bool is_clean() {
  sigset_t mask;
  bool blocked = false;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int s = 1; s < 32; s++) blocked |= sigismember(&mask, s) == 1;
  volatile float tiny = 1e-30f;
  return !blocked && fegetround() == FE_TONEAREST && tiny * 1e-10f > 0 && !is_limited(RLIMIT_NOFILE, 64) &&
         !is_limited(RLIMIT_AS, 1ul << 30) && getenv("CUGEN_LEFT") == nullptr;
}

static __device__ int launches;

__global__ void state(${params}) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = 2.0f * x[i] + 1.0f;
  y[i] = v;
  if (i) return;
  launches++;
//@ if does == "looks" then
  if (!is_clean()) y[i] = 0;
//@ elseif does == "before" then
  ((volatile float *)y)[-1] = 1;
//@ elseif does == "after" then
  ((volatile float *)y)[n] = 1;
//@ elseif does == "far" then
  ((volatile float *)y)[1 << 17] = 1;
//@ elseif does == "input" then
  ((volatile float *)x)[0] += 1;
//@ elseif does == "wrong" then
  y[0] = v + 10;
//@ elseif does == "trap" then
  __trap();
//@ elseif does == "exits" then
  _exit(0);
//@ elseif does == "is_killed" then
  kill(getpid(), SIGKILL);
//@ elseif does == "before_later" then
  if (launches > 2) ((volatile float *)y)[-1] = 1;
//@ elseif does == "input_later" then
  if (launches > 2) ((volatile float *)x)[0] = 3;
//@ elseif does == "descriptors" then
  for (int k = 0; k < 100000 && open("/dev/null", O_RDONLY) >= 0; k++) {}
//@ elseif does == "few_files" then
  limit(RLIMIT_NOFILE, 4);
//@ elseif does == "small_memory" then
  limit(RLIMIT_AS, 1 << 20);
//@ elseif does == "small_files" then
  limit(RLIMIT_FSIZE, 0);
//@ elseif does == "rounding" then
  fesetround(FE_UPWARD);
//@ elseif does == "flush" then
#ifdef __SSE__
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
//@ elseif does == "signals" then
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
//@ elseif does == "folder" then
  if (chdir("/proc")) __trap();
//@ elseif does == "thread" then
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void *) -> void * { for (;;) pause(); }, nullptr);
//@ elseif does == "alarm" then
  signal(SIGALRM, SIG_IGN);
  signal(SIGSEGV, SIG_IGN);
//@ elseif does == "locale" then
  setenv("CUGEN_LEFT", "1", 1);
  setlocale(LC_ALL, "");
//@ end
}

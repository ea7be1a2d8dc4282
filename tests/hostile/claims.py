#!/usr/bin/env python3
"""Writes a kernel whose variants forge what their process says of them: they search the memory that the worker shares with them (pages
that the main stack points to) and write there, or end as a process that has nothing to say. Two right ones stand among them."""
import sys

HEAD = r"""
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
extern "C" void *__libc_stack_end;
static __device__ bool readable(void *p) { return syscall(SYS_rt_sigprocmask, 99, p, nullptr, 8) != -1 || errno != EFAULT; }
static __device__ bool writable(void *p) {
  char kept[16];
  if (!readable(p)) return false;
  memcpy(kept, p, 16);
  const bool good = syscall(SYS_clock_gettime, 0, p) == 0;
  if (good) memcpy(p, kept, 16);
  return good;
}
// Pages that the main stack points to and that can be written.
static __device__ int hunt(char **out, int most) {
  const unsigned long top = (unsigned long)__libc_stack_end & ~4095ul;
  unsigned long low = top, high = top;
  int count = 0;
  for (int i = 0; i < 400 && writable((void *)(low - 4096)); i++) low -= 4096;
  for (int i = 0; i < 400 && writable((void *)(high + 4096)); i++) high += 4096;
  for (unsigned long *at = (unsigned long *)low; at < (unsigned long *)(high + 4096); at++) {
    const unsigned long page = *at;
    bool known = (page & 4095) || page < 65536 || page > 0x7fffffffffff || (page >= low && page < high + 4096);
    for (int i = 0; i < count; i++) known |= out[i] == (char *)page;
    if (!known && count < most && writable((void *)page)) out[count++] = (char *)page;
  }
  return count;
}
static __device__ char *pages[512];
// As struct shared of tune/worker/isolate.c and struct claim of tune/worker/claim.h; the variant forges_right shows that they still are.
struct claim {
  unsigned done, padding[3];
  int outcome, cause, samples;
  unsigned dropped, has_outputs, varies;
  unsigned long outputs;
  double error, seconds, minimum, p20, p80;
  char reason[1024];
};
static __device__ bool is_empty(const char *page) {
  for (unsigned i = 0; i < sizeof(claim); i++)
    if (page[i]) return false;
  return true;
}
static __device__ void forge(const claim &what) {
  const int count = hunt(pages, 512);
  for (int i = 0; i < count; i++)
    if (is_empty(pages[i])) memcpy(pages[i], &what, sizeof what);
  syscall(SYS_exit_group, 0);
}
static __device__ claim right(double seconds) {
  claim made = {};
  made.done = 1, made.samples = 3, made.error = 0.1;
  made.seconds = made.minimum = made.p20 = made.p80 = seconds;
  return made;
}
static __device__ claim failure(int outcome, int cause, const char *reason) {
  claim made = {};
  made.done = 1, made.outcome = outcome, made.cause = cause;
  strcpy(made.reason, reason);
  return made;
}
// What the handler of faults says, the output, the report: all that is shared.
static __device__ void scribble(int byte) {
  const int count = hunt(pages, 512);
  for (int i = 0; i < count; i++)
    for (char *at = pages[i]; at < pages[i] + (1 << 20) && writable(at); at += 4096) memset(at, byte, 4096);
}
static __device__ void *scribble_forever(void *byte) {
  for (;;) scribble(*(int *)byte);
}
__global__ void k(${params}) {
  if (threadIdx.x) return;
  static int all_ones = 0xff, zero = 0;
  static claim made;
  pthread_t thread;
  switch (blockDim.x - 32) {
"""
# What a process can say of itself is that it was right and fast: see "What remains" in docs/security.md.
FORGED = {
    "forges_right": "forge(right(1e-6));",
    "forges_9_ns": "forge(right(9e-9));",
    "forges_an_hour": "forge(right(3600));",
    "forges_nan": "made = right(1e-6); made.minimum = __builtin_nan(\"\"); forge(made);",
    "forges_infinite": "made = right(1e-6); made.p80 = __builtin_inf(); forge(made);",
    "forges_negative": "made = right(1e-6); made.minimum = -5; forge(made);",
    "forges_disorder": "made = right(1e-6); made.p20 = 2e-6; forge(made);",
    "forges_error": "made = right(1e-6); made.error = -1; forge(made);",
    "forges_no_samples": "made = right(1e-6); made.samples = 0; forge(made);",
    "forges_minus_samples": "made = right(1e-6); made.samples = -7; forge(made);",
    "forges_many_samples": "made = right(1e-6); made.samples = 2147483647; forge(made);",
    "forges_cause_of_right": "made = right(1e-6); made.cause = 1; forge(made);",
    "forges_reason_of_right": "made = right(1e-6); made.reason[0] = 'x'; forge(made);",
    "forges_lost_device": "forge(failure(5, 9, \"the device is lost\"));",
    "forges_compile": "forge(failure(1, 0, \"the compiler refused it\"));",
    "forges_compile_time": "forge(failure(5, 7, \"the compile did not end\"));",
    "forges_timeout": "forge(failure(6, 0, \"did not end within 1 s\"));",
    "forges_kernel_time": "forge(failure(6, 6, \"the driver ended it\"));",
    "forges_prediction": "forge(failure(7, 0, \"no prediction\"));",
    "forges_outcome_99": "forge(failure(99, 0, \"x\"));",
    "forges_outcome_minus_1": "forge(failure(-1, 0, \"x\"));",
    "forges_cause_99": "forge(failure(5, 99, \"x\"));",
    "forges_cause_minus_1": "forge(failure(5, -1, \"x\"));",
    "forges_endless_reason": "made = failure(5, 0, \"\"); memset(made.reason, 'x', sizeof made.reason); forge(made);",
    "forges_escapes": r'forge(failure(3, 0, "\033]0;title\007 \xe2\x80\xae \xff"));',
    "right_1": "for (int i = 0; i < n; i++) out[i] = 1;",
}
# How it fails is chance, or the processor's.
WILD = {
    "scribbles_ones": "scribble(0xff); raise(SIGSEGV);",
    "scribbles_and_exits": "scribble(0xff); syscall(SYS_exit_group, 0);",
    "scribbles_zeros": "scribble(0); raise(SIGSEGV);",
    "scribbles_meanwhile": "pthread_create(&thread, nullptr, scribble_forever, &all_ones); "
                           "for (int i = 0; i < 20000; i++) printf(\"0123456789abcdef\\n\"); raise(SIGKILL);",
    "scribbles_zeros_meanwhile": "pthread_create(&thread, nullptr, scribble_forever, &zero); "
                                 "for (int i = 0; i < 20000; i++) printf(\"0123456789abcdef\\n\"); raise(SIGKILL);",
    "exits": "syscall(SYS_exit_group, 0);",
    "exits_130": "syscall(SYS_exit_group, 130);",
    "interrupts": "signal(SIGINT, SIG_DFL); raise(SIGINT);",
    "terminates": "signal(SIGTERM, SIG_DFL); raise(SIGTERM);",
    "kills": "raise(SIGKILL);",
    "stops": "raise(SIGSTOP);",
    "prints_endlessly": "for (;;) printf(\"0123456789abcdef\\n\");",
    "right_2": "for (int i = 0; i < n; i++) out[i] = 1;",
}


def write(name, attacks, head=HEAD):
    with open(f"{name}.cu", "w") as out:
        out.write(head)
        for number, attack in enumerate(attacks.values()):
            out.write(f"  case {number}: {{ {attack} break; }}\n")
        out.write("  }\n}\n")
    names = ", ".join(f'"{attack}"' for attack in attacks)
    block = "32" + "".join(f" + (does == '{attack}' and {i} or 0)" for i, attack in enumerate(attacks))
    with open(f"{name}.lua", "w") as out:
        out.write('kernel "k" { problem "n" (64), output "out" { dtype = "f32", shape = { "n" } }, scalar "n" { dtype = "i32" }, '
                  f'reference "ref.cu", implementation "k" {{ template "{name}.cu", '
                  f'tunable "does" {{ {names} }}, grid {{ 1 }}, block {{ "{block}" }} }} }}\n')


def write_references():
    """A reference that forges how its own process ended: an interruption, a lost device, no memory for a defect of cugen."""
    body = HEAD[:HEAD.index("__global__")].replace("struct claim {", "struct claim {", 1)
    body += ("struct ended { unsigned done, padding[3]; int status, cause; char message[64]; };\n"
             "__global__ void reference(${params}) {\n  if (threadIdx.x || blockIdx.x) return;\n"
             "  static ended made = {1, {0, 0, 0}, STATUS, CAUSE, \"forged\"};\n  const int count = hunt(pages, 512);\n"
             "  for (int i = 0; i < count; i++)\n    if (is_empty(pages[i])) memcpy(pages[i], &made, sizeof made);\n"
             "  syscall(SYS_exit_group, 0);\n}\n")
    for name, status, cause in ("interrupted", -13, 0), ("defect", -1, 0), ("lost", -7, 9), ("unknown", -99, 0), ("wrong", -11, 1):
        open(f"{name}_ref.cu", "w").write(body.replace("STATUS", str(status)).replace("CAUSE", str(cause)))
        open(f"{name}.lua", "w").write(open("right.lua").read().replace("ref.cu", f"{name}_ref.cu"))


if __name__ == "__main__":
    with open("ref.cu", "w") as out:
        out.write("__global__ void reference(${params}) {\n  const long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
                  "  if (t < sample_count) out[t] = 1;\n}\n")
    write("forged", FORGED)
    write("wild", WILD)
    write("right", {"right": "for (int i = 0; i < n; i++) out[i] = 1;"})
    write_references()

"""compile_attacks.py write endless|two|quick: sources made against a compiler, each a variant of k.lua, between two that are right.
compile_attacks.py tune DEVICE all|none OPTION...: tunes them, and says what became of all, or of those where something is wrong.
compile_attacks.cases and compile_endless.cases have what is to become of them."""
import json
import resource
import subprocess
import sys


def doubled(name, text, times):
    return "#define %s0 %s\n" % (name, text) + "".join("#define %s%d %s%d %s%d\n" % (name, i + 1, name, i, name, i) for i in range(times))


def function(text):
    return "__device__ long f(long x) {\n%s\n}" % text


def times(count, text):
    return "//@ for i = 1, %d do\n%s\n//@ end" % (count, text)


UNKNOWN = "\nint x = nothing_known;"

# Those that would go on and on, or take long.
ENDLESS = {
    "macro bomb": doubled("M", "1 +", 36) + function("return M36 0;"),
    "macro arguments": "#define E(x) x x x x x x x x x x\n" + function("return " + "E(" * 12 + "+ 1" + ")" * 12 + ";"),
    "long sum": function("return 0\n" + times(100000, "+ x * 3") + ";"),
    "minus": function("return " + "- " * 100000 + "x;"),
    "exponential templates": "template <int N, int M> struct D { static constexpr long v = D<N - 1, 2 * M>::v + D<N - 1, 2 * M + 1>::v; };\n"
        "template <int M> struct D<0, M> { static constexpr long v = M; };\n" + function("return D<26, 0>::v;"),
    "exponential types": "template <class S, class T> struct Q {};\ntemplate <int N> struct R { using t = Q<typename R<N - 1>::t, typename R<N - 1>::t>; };\n"
        "template <> struct R<0> { using t = int; };\ntemplate <class T> __device__ void g(T *) {}\n" + function("g((R<60>::t *)nullptr); return 0;"),
    "long names": "__device__ int %s;\n__device__ void %s() {}" % ("s" * 1000000, "t" * 1000000),
    "long literal": 'const char literal[] = "%s";' % ("x" * 5000000),
    "parentheses": function("return " + "(" * 4000 + "x" + ")" * 4000 + ";"),
    "more parentheses": function("return " + "(" * 200000 + "x" + ")" * 200000 + ";"),
    "lambdas": function("[]{" * 4000 + "}" * 4000 + "; return 0;"),
    "blocks": function("{" * 4000 + "}" * 4000 + " return 0;"),
    "array": "__device__ unsigned char big[256 << 20] = {1};",
    "errors": times(30000, "int e${i} = y_${i};"),
    "messages": times(30000, '#pragma message "m${i}"') + UNKNOWN,
    "cases": function("switch (x) {\n" + times(30000, "case ${i}: return x * ${i};") + "\n} return 0;"),
    "large array": "__device__ int big[1 << 30] = {1, 2, 3};",
    "the unit": '#include "kernel.cpp"',
    "functions": times(8000, "__device__ __attribute__((used, noinline)) int q${i}(int x) { return x + ${i}; }"),
}
QUICK = {
    "expansion": times(3000000, "__device__ int a_variable_with_a_long_name_so_that_all_have_200_MB_${i};"),
    "constexpr loop": "constexpr int e() { int i = 0; while (true) i ^= 1; return i; }\n" + function("constexpr int v = e(); return v;"),
    "constexpr recursion": "constexpr int e(int n) { return n < 0 ? 0 : e(n + 1) + e(n + 2); }\n" + function("constexpr int v = e(1); return v;"),
    "template recursion": "template <int N> struct D { enum { v = D<N + 1>::v }; };\n" + function("return D<0>::v;"),
    "itself": "#include __FILE__",
    "itself by name": '#include "k.cu"',
    "system header": "#pragma GCC system_header" + UNKNOWN,
    "dependency": '#pragma GCC dependency "/etc/passwd"' + UNKNOWN,
    "precompiled": '#pragma GCC pch_preprocess "/etc/passwd"' + UNKNOWN,
    "include alias": '#pragma include_alias("a.h", "/etc/passwd")\n#include "a.h"' + UNKNOWN,
    "plugin": '#pragma GCC optimize("-fplugin=/etc/passwd")\n__attribute__((optimize("-fdump-tree-all=made"))) void g() {}' + UNKNOWN,
    "response file": '#pragma GCC optimize("@/etc/passwd")\n#pragma GCC target("@/etc/passwd")' + UNKNOWN,
    "asm repeat": 'asm(".rept 2000000000\\n.quad 1\\n.endr");' + UNKNOWN,
    "asm macro": 'asm(".macro m\\nm\\nm\\n.endm\\nm");',
    "asm space": 'asm(".data\\n.space 1 << 40\\n.text");',
    "asm fill": 'asm(".data\\n.fill 0x7fffffff, 8, 1\\n.text");',
    "sequence": "template <int... I> struct S {};\ntemplate <int... I> long h(S<I...>) { return sizeof(S<__integer_pack(1 << 30)...>); }\n" + function("return h(S<1>());"),
}
WITH_LUCK = ["long sum", "minus", "exponential types", "long names", "long literal", "parentheses", "more parentheses", "blocks"]


def write(bad):
    with open("k.cu", "w") as f:
        for i, source in enumerate(bad.values()):
            f.write("//@ if A == %d then\n%s\n//@ end\n" % (i + 1, source))
        f.write("__global__ void k(float *out, int n) { out[threadIdx.x] = A; }\n")
    with open("k.lua", "w") as f:
        f.write('kernel "k" { problem "n" (64), output "out" { dtype = "f32", shape = { "n" } }, scalar "n" {}, '
                'reference "none", implementation "i" { template "k.cu", tunable "A" { %s }, grid { 1 }, block { 64 } } }\n'
                % ", ".join(str(i) for i in range(len(bad) + 2)))
    with open("names", "w") as f:
        f.write("\n".join(["right", *bad, "right"]))


def tune(device, show, *options):
    with open("names") as f:
        names = f.read().split("\n")
    done = subprocess.run(["cugen", "tune", "./k.lua", "--device", device, "--strategy", "exhaustive", "--budget", "none", "--timeout", "600s",
                           "--verify", "none", "--quiet", "--json", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    result = json.loads(done.stdout)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print("%d remembered, %d tried%s" % (result["run"]["remembered"], result["run"]["tried"], "" if peak < 4096 else ", %d MB used" % peak))
    for record in sorted(result["records"], key=lambda record: int(record["variant"].split("=")[1])):
        name, reason = names[int(record["variant"].split("=")[1])], record["reason"] or ""
        wrong = [word for word in ("root:", "nobody:", "signal terminated", "bug report") if word in reason]
        wrong += ["%d bytes" % len(reason)] * (len(reason) > 4096) + ["no reason"] * (record["outcome"] != "ok" and not reason)
        outcome = "ended" if name in WITH_LUCK and record["outcome"] in ("ok", "compile") else record["outcome"]
        if show == "all" or wrong:
            print("%s: %s" % (name, ", ".join([outcome, *wrong])))


if sys.argv[1] == "write":
    write({"endless": ENDLESS, "two": {name: ENDLESS[name] for name in ("macro bomb", "the unit")}, "quick": QUICK}[sys.argv[2]])
else:
    tune(*sys.argv[2:])

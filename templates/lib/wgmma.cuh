#pragma once
// Products of tiles in shared memory by a warpgroup, four warps: wgmma (sm_90a). PTX ISA, "Asynchronous Warpgroup Level
// Matrix Multiply-Accumulate Instructions".
//
// A tile of X has 64 rows, a tile of Y has BN, and both are 32 bytes long along k. The 64 x BN sums are in registers: sum[4 q + 2 h]
// and sum[4 q + 2 h + 1] of thread t belong to row t / 32 * 16 + t % 32 / 4 + 8 h (h is 0 or 1), column 8 q + t % 4 * 2 and the next.

//@ wgmma_sum = dtype == "i8" and "int" or "float"
//@ local sums, registers = {}, {}
//@ for i = 0, BN // 2 - 1 do
//@   registers[i + 1], sums[i + 1] = "%" .. i, (dtype == "i8" and '"+r"' or '"+f"') .. "(sum[" .. i .. "])"
//@ end
//@ local kinds = { bf16 = "k16.f32.bf16.bf16", f16 = "k16.f32.f16.f16", tf32 = "k8.f32.tf32.tf32",
//@                 e4m3 = "k32.f32.e4m3.e4m3", e5m2 = "k32.f32.e5m2.e5m2", i8 = "k32.s32.s8.s8" }
//@ local n = BN // 2
//@ -- The operands' factors (1), and whether they are stored along k (0) or across it (1), which only 2-byte elements may be.
//@ local modes = dtype == "i8" and "" or ", 1, 1"
//@ if sizeof(operand) == 2 then modes = modes .. ", " .. (x_along_k and 0 or 1) .. ", " .. (y_along_k and 0 or 1) end

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most Groups groups of products are under way.
template <int Groups> __device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
}

// Adds the product of the tiles with the descriptors x and y to the sums (add), or sets the sums to the product.
__device__ __forceinline__ void wgmma(${wgmma_sum} (&sum)[BN / 2], unsigned long long x, unsigned long long y, bool add) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %${n + 2}, 0; wgmma.mma_async.sync.aligned.m64n${BN}${kinds[dtype]} "
               "{${table.concat(registers, ", ")}}, %${n}, %${n + 1}, p${modes};}"
               : ${table.concat(sums, ", ")}
               : "l"(x), "l"(y), "r"(static_cast<int>(add)));
}

//@ if from_registers then
// Like the function above, with the tile of X in registers: x[2 q + h] of thread t is the 4-byte element of row
// t / 32 * 16 + t % 32 / 4 + 8 h at k = t % 4 + 4 q, for q and h 0 or 1.
__device__ __forceinline__ void wgmma(${wgmma_sum} (&sum)[BN / 2], const unsigned (&x)[4], unsigned long long y, bool add) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %${n + 5}, 0; wgmma.mma_async.sync.aligned.m64n${BN}${kinds[dtype]} "
               "{${table.concat(registers, ", ")}}, {%${n}, %${n + 1}, %${n + 2}, %${n + 3}}, %${n + 4}, p, 1, 1;}"
               : ${table.concat(sums, ", ")}
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(y), "r"(static_cast<int>(add)));
}
//@ end

// Stores four 8 x 8 matrices of 2-byte elements. Eight lanes give the addresses of each matrix's lines; word w of a lane
// belongs to matrix w. With `swap`, each matrix is transposed.
__device__ __forceinline__ void store_matrices(unsigned line, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4${swap and ".trans" or ""}.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(line), "r"(a), "r"(b), "r"(c),
               "r"(d)
               : "memory");
}

// store_words stores four sums in shared memory, and add_words adds four sums from the shared memory of any block of the
// cluster.
//@ local word, kind = "f32", "f"
//@ if dtype == "i8" then word, kind = "s32", "r" end
__device__ __forceinline__ void store_words(unsigned to, const ${wgmma_sum} *from) {
  asm volatile("st.shared.v4.${word} [%0], {%1, %2, %3, %4};" ::"r"(to), "${kind}"(from[0]), "${kind}"(from[1]), "${kind}"(from[2]),
               "${kind}"(from[3])
               : "memory");
}

__device__ __forceinline__ void add_words(unsigned from, ${wgmma_sum} *to) {
  ${wgmma_sum} a, b, c, d;
  asm volatile("ld.shared::cluster.v4.${word} {%0, %1, %2, %3}, [%4];"
               : "=${kind}"(a), "=${kind}"(b), "=${kind}"(c), "=${kind}"(d)
               : "r"(from)
               : "memory");
  to[0] += a, to[1] += b, to[2] += c, to[3] += d;
}

// Change the number of registers of the warpgroup's threads: a warpgroup may take the registers that another one gives up.
template <int Count> __device__ __forceinline__ void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

template <int Count> __device__ __forceinline__ void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

// What each built-in function gives, checked where it runs: *wrong becomes the line of the first surprise.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math_constants.h>

#define CHECK(...)                                                                                                   \
  do {                                                                                                               \
    if (!(__VA_ARGS__) && !*wrong) *wrong = __LINE__;                                                                \
  } while (0)

static __device__ bool near(double got, double want) {
  return fabs(got - want) <= 1e-5 * fabs(want);
}

static __device__ void integers(int *wrong) {
  CHECK(__popc(0xf0f0u) == 8 && __popcll(0xffffffffffull) == 40);
  CHECK(__clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0 && __clzll(0) == 64 && __clzll(1) == 63);
  CHECK(__ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41);
  CHECK(__brev(1u) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u && __brevll(2ull) == 1ull << 62);
  CHECK(__mulhi(-2, 3) == -1 && __umulhi(0x80000000u, 4u) == 2u && __mul24(-3, 5) == -15);
  CHECK(__umul64hi(1ull << 63, 6ull) == 3ull && __mul64hi(-1ll, 1ll) == -1ll);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7250u) == 0x77225500u);
  CHECK(__byte_perm(0x00008000u, 0u, 0x4449u) == 0x000000ffu);
  CHECK(__funnelshift_l(0x80000001u, 0x40000000u, 1) == 0x80000001u);
  CHECK(__funnelshift_r(0x80000001u, 1u, 1) == 0xc0000000u);
  CHECK(__funnelshift_rc(1u, 7u, 40) == 7u && __funnelshift_lc(5u, 7u, 32) == 5u);
  CHECK(__sad(-3, 4, 10u) == 17u && __usad(3u, 1u, 1u) == 3u && __hadd(-3, 0) == -2 && __rhadd(-3, 0) == -1);
  CHECK(__dp4a(0x01ff02fe, 0x01010303, 100) == 100 + 1 - 1 + 6 - 6);
  CHECK(__dp2a_lo(0x0002ffff, 0x030401fe, 10) == 10 + 2 + 2 && __dp2a_hi(0x00020003, 0x030401fe, 1) == 1 + 12 + 6);
  CHECK(__dp2a_lo(0x0002ffffu, 0x030401feu, 0u) == 0xffffu * 0xfeu + 2u);
  CHECK(__viaddmax_s32(-3, 2, -2) == -1 && __viaddmin_u32(0xffffffffu, 2u, 7u) == 1u &&
        __vimax3_u32(1u, 9u, 4u) == 9u);
  CHECK(__vimin3_s32(4, -9, 1) == -9 && __vimin3_s32_relu(4, -9, 1) == 0 && __vimax_s32_relu(-4, -5) == 0);
  CHECK(min(-1, 2u) == 2u && max(3, 4) == 4 && min(3ll, -4ll) == -4 && max(2.0f, CUDART_NAN_F) == 2.0f);
  CHECK(min(CUDART_NAN_F, 1.0f) == 1.0f && max(1.0f, 2.0) == 2.0 && abs(-3) == 3 && abs(-2.5f) == 2.5f);
  CHECK(abs(-5000000000ll) == 5000000000ll);
}

static __device__ void reals(int *wrong) {
  CHECK(near(__expf(1.0f), 2.718281828) && near(__logf(10.0f), 2.302585093) && near(__powf(2.0f, 0.5f), 1.41421356));
  CHECK(near(__sinf(1.0f), 0.841470985) && near(__cosf(1.0f), 0.540302306));
  CHECK(near(__fdividef(1.0f, 3.0f), 0.3333333));
  const float sides[] = {2.0f, 3.0f, 6.0f};
  CHECK(norm3df(2, 3, 6) == 7.0f && near(rnorm3df(2, 3, 6), 1 / 7.0) && norm4d(1, 1, 1, 1) == 2 &&
        normf(3, sides) == 7.0f);
  CHECK(near(rnorm4df(2, 2, 2, 2), 0.25) && near(rnormf(3, sides), 1 / 7.0));
  CHECK(near(cyl_bessel_i0(1.0), 1.2660658777520084) && near(cyl_bessel_i1f(2.0f), 1.590636854637329));
  CHECK(__saturatef(-1.0f) == 0.0f && __saturatef(0.25f) == 0.25f && __saturatef(7.0f) == 1.0f);
  CHECK(near(rsqrtf(4.0f), 0.5) && near(rsqrt(16.0), 0.25) && __frcp_rn(4.0f) == 0.25f && __fsqrt_rn(9.0f) == 3.0f);
  CHECK(fminf(1.0f, 2.0f) == 1.0f && fmaxf(1.0f, 2.0f) == 2.0f && sizeof(sqrt(2.0f)) == sizeof(float));
  CHECK(near(sinpif(0.5f), 1) && near(cospi(1.0), -1) && near(exp10f(2.0f), 100) && near(normcdff(0.0f), 0.5));
  CHECK(isnan(CUDART_NAN_F) && !isnan(1.0f) && isinf(CUDART_INF_F) && isfinite(1.0) && signbit(-0.0f));
  // (1 + e)^2 - 1: the product rounds to 1 + 2e, a fused operation keeps the e^2.
  volatile float e = 0x1.8p-22f;
  const float one = 1.0f + e;
  CHECK(__fadd_rn(__fmul_rn(one, one), -1.0f) == 2 * e);
  CHECK(__fmaf_rn(one, one, -1.0f) > 2 * e);
  float s, c;
  sincosf(0.5f, &s, &c);
  CHECK(near(s, 0.479425539) && near(c, 0.877582562));
}

static __device__ void conversions(int *wrong) {
  CHECK(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.7f) == -2 && __float2int_ru(2.1f) == 3);
  CHECK(__float2int_rd(-2.1f) == -3 && __float2int_rz(1e20f) == 2147483647 && __float2uint_rz(-5.0f) == 0u);
  CHECK(__double2ll_rz(-1e30) == (long long)(1ull << 63) && __double2uint_rz(4294967295.0) == 4294967295u);
  CHECK(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
  CHECK(__double_as_longlong(1.0) == 0x3ff0000000000000ll && __hiloint2double(0x3ff00000, 0) == 1.0);
  CHECK(__double2hiint(1.0) == 0x3ff00000 && __double2loint(1.0) == 0 && __int2float_rn(16777217) == 16777216.0f);
}

static __device__ void vectors(int *wrong) {
  CHECK(sizeof(float3) == 12 && sizeof(char4) == 4 && sizeof(short4) == 8 && sizeof(uint3) == 12);
  CHECK(alignof(float4) == 16 && alignof(float2) == 8 && alignof(double2) == 16 && alignof(char4) == 4);
  CHECK(alignof(int2) == 8 && alignof(uint4) == 16 && alignof(short2) == 4 && alignof(longlong2) == 16);
  CHECK(alignof(ushort4) == 8 && alignof(float3) == 4 && alignof(uchar2) == 2 && alignof(ulonglong2) == 16);
  const float4 f = make_float4(1, 2, 3, 4);
  const uint3 u = make_uint3(5, 6, 7);
  const dim3 d = u, e(9);
  CHECK(f.x + f.w == 5 && u.z == 7 && d.y == 6 && e.x == 9 && e.z == 1);
}

static __device__ void halves(int *wrong) {
  CHECK(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4);
  const __half a = __float2half(1.5f), b = __half(2);
  CHECK(__half2float(a * b) == 3.0f && (float)(a + b) == 3.5f && a < b && __hgt(b, a) && -a == __half(-1.5f));
  CHECK(__half2float(__hfma(a, b, a)) == 4.5f && __half2float(__hmax(a, b)) == 2.0f && __half_as_ushort(a) == 0x3e00);
  CHECK(__half_as_ushort(__float2half(65520.0f)) == 0x7c00 && __half_as_ushort(__float2half(1e-7f)) == 2);
  CHECK(__half2float(__ushort_as_half(1)) == 5.9604644775390625e-8f);
  CHECK(__half2float(__float2half(2049.0f)) == 2048.0f);
  __half sum = __half(0.0f);
  sum += a;
  const __half2 pair = __floats2half2_rn(1.0f, 2.0f), twice = __hadd2(pair, pair);
  CHECK(__low2float(h2exp2(pair)) == 2.0f && __high2float(h2rcp(pair)) == 0.5f && __high2float(h2log2(pair)) == 1.0f);
  CHECK(__half2float(hlog10(__half(100))) == 2.0f && __half2float(hexp10(__half(2))) == 100.0f);
  CHECK((float)sum == 1.5f && __low2float(twice) == 2.0f && __high2float(twice) == 4.0f);
  const float2 wide = __half22float2(__hfma2(pair, pair, __half2half2(a)));
  CHECK(wide.x == 2.5f && wide.y == 5.5f);
  const __nv_bfloat16 c = __float2bfloat16(1.00390625f), d = __nv_bfloat16(3.0f); // 1 + 2^-8: a tie, to even
  CHECK(__bfloat162float(c) == 1.0f && __bfloat162float(c + d) == 4.0f && __bfloat16_as_ushort(d) == 0x4040);
  const __nv_bfloat162 both = __floats2bfloat162_rn(1.0f, -1.0f);
  // 3 * 683 and 7 * 37 are ties; what is added decides, however small
  const __half tiny = __ushort_as_half(1);
  CHECK(__half_as_ushort(__hfma(__half(3), __half(683), tiny)) == 0x6801);
  CHECK(__half_as_ushort(__hfma(__half(3), __half(-683), tiny)) == 0xe800);
  const __nv_bfloat16 seven = __nv_bfloat16(7), minute = __nv_bfloat16(-0x1p-60f);
  CHECK(__bfloat16_as_ushort(__hfma(seven, __nv_bfloat16(37), minute)) == 0x4381);
  CHECK(__half_as_ushort(__double2half(1 + 0x1p-11 + 0x1p-40)) == 0x3c01);
  CHECK(__bfloat16_as_ushort(__double2bfloat16(-1 - 0x1p-8 - 0x1p-40)) == 0xbf81);
  CHECK(__nv_fp8_e4m3(1.0625 + 0x1p-40).__x == 0x39);
  CHECK(__bfloat162float(__habs(both.y)) == 1.0f && isnan(__bfloat162float(__float2bfloat16(CUDART_NAN_F))));
}

static __device__ void bytes(int *wrong) {
  CHECK(__nv_fp8_e4m3(CUDART_INF_F).__x == 0x7e && __nv_fp8_e5m2(-CUDART_INF_F).__x == 0xfb);
  CHECK(__nv_fp8_e4m3(1e30f).__x == 0x7e && __nv_fp8_e5m2(61440.0f).__x == 0x7b && __nv_fp8_e4m3(-1.0f).__x == 0xb8);
  CHECK(__nv_cvt_float_to_fp8(-CUDART_INF_F, __NV_SATFINITE, __NV_E4M3) == 0xfe);
  CHECK(__nv_cvt_float_to_fp8(CUDART_INF_F, __NV_NOSAT, __NV_E4M3) == 0x7f);
  CHECK(__nv_cvt_float_to_fp8(-CUDART_INF_F, __NV_NOSAT, __NV_E5M2) == 0xfc);
  CHECK(__nv_cvt_float_to_fp8(465.0f, __NV_NOSAT, __NV_E4M3) == 0x7f); // 464 is the tie between 448 and 480
  CHECK(__nv_cvt_float_to_fp8(464.0f, __NV_NOSAT, __NV_E4M3) == 0x7e);
  CHECK(__nv_cvt_float_to_fp8(61440.0f, __NV_NOSAT, __NV_E5M2) == 0x7c);
}

static __device__ void atomics(int *wrong) {
  __shared__ int i;
  __shared__ unsigned u;
  __shared__ unsigned long long l;
  __shared__ float f;
  i = 5, u = 5, l = 5, f = 5;
  CHECK(atomicAdd(&i, -7) == 5 && i == -2 && atomicSub(&u, 2u) == 5 && u == 3);
  CHECK(atomicAdd(&f, 0.5f) == 5 && f == 5.5f);
  CHECK(atomicMax(&i, 3) == -2 && i == 3 && atomicMin(&u, 1u) == 3 && u == 1 && atomicExch(&f, 1.0f) == 5.5f);
  CHECK(atomicCAS(&l, 5ull, 9ull) == 5 && l == 9 && atomicCAS(&l, 5ull, 1ull) == 9 && l == 9);
  CHECK(atomicAnd(&i, 2) == 3 && i == 2 && atomicOr(&i, 5) == 2 && i == 7 && atomicXor(&i, 1) == 7 && i == 6);
  CHECK(atomicInc(&u, 1u) == 1 && u == 0 && atomicDec(&u, 4u) == 0 && u == 4 && atomicAdd(&l, 1ull) == 9);
}

static __device__ void warps(int *wrong) {
  const unsigned all = 0xffffffffu;
  const int lane = threadIdx.x % 32;
  CHECK(__shfl_sync(all, lane, 3) == 3 && __shfl_sync(all, lane, 1, 8) == lane / 8 * 8 + 1);
  CHECK(__shfl_up_sync(all, lane, 2) == (lane < 2 ? lane : lane - 2));
  CHECK(__shfl_down_sync(all, lane, 2, 16) == (lane % 16 < 14 ? lane + 2 : lane));
  CHECK(__shfl_xor_sync(all, lane * 0.5, 1) == (lane ^ 1) * 0.5);
  CHECK(__shfl_xor_sync(all, 1ll << lane, 4) == 1ll << (lane ^ 4));
  CHECK(__shfl_xor_sync(all, lane, 8, 8) == (lane & 8 ? lane - 8 : lane));
  CHECK(__ballot_sync(all, lane % 2) == 0xaaaaaaaau && __any_sync(all, lane == 9) && !__all_sync(all, lane < 31));
  CHECK(__reduce_add_sync(all, 1u) == 32u && __reduce_max_sync(all, -lane) == 0);
  CHECK(__reduce_or_sync(all, 1u << lane) == all);
  CHECK(__match_any_sync(all, lane / 16) == (lane < 16 ? 0x0000ffffu : 0xffff0000u));
  int same;
  CHECK(__match_all_sync(all, 7, &same) == all && same && __activemask() == all);
  if (lane < 8) { // the halves of a divided warp, at operations of their own
    CHECK(__ballot_sync(0x000000ffu, 1) == 0x000000ffu);
  } else {
    CHECK(__ballot_sync(0xffffff00u, lane > 8) == 0xfffffe00u);
  }
  __syncwarp();
}

__global__ void intrinsics(int *wrong) {
  integers(wrong);
  reals(wrong);
  conversions(wrong);
  vectors(wrong);
  bytes(wrong);
  halves(wrong);
  if (threadIdx.x == 0) atomics(wrong);
  warps(wrong);
  __stcg(&wrong[1], __ldg(&wrong[0]));
}

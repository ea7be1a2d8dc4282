#!/usr/bin/env python3
"""How much the L2 takes from memory when a load misses: a word of every STRIDE words is read, 16 M of them, with the driver's limit
for what is fetched (cudaLimitMaxL2FetchGranularity) at 32, 64 and 128 bytes. The best of eight launches. Needs a GPU, no toolkit."""
import ctypes
import sys

PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry read(.param .u64 from, .param .u32 stride, .param .u64 to)
{
  .reg .b32 %r<5>; .reg .b64 %d<4>; .reg .f32 %f; .reg .pred %one;
  ld.param.u64 %d0, [from];
  ld.param.u32 %r0, [stride];
  ld.param.u64 %d1, [to];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %d2, %r4, %r0;
  shl.b64 %d2, %d2, 2;
  add.u64 %d3, %d0, %d2;
  ld.global.f32 %f, [%d3];
  setp.eq.f32 %one, %f, 0f3F800000;
  @%one st.global.f32 [%d1], %f;
  ret;
}
\0"""
LIMIT, WORDS, STRIDES = 5, 1 << 24, (1, 2, 4, 8, 16, 32)


def main():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        sys.exit("fetch.py: no driver (libcuda.so.1): this needs a GPU")

    def call(name, *arguments):
        code = getattr(driver, name)(*arguments)
        if code:
            sys.exit(f"{name}: error {code}")

    def size(value):
        return ctypes.c_size_t(value)

    device, context, module, kernel, begin, end = (ctypes.c_int(), *(ctypes.c_void_p() for _ in range(5)))
    source, target, limit, ms = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_float()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxPushCurrent_v2", context)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"read")
    call("cuMemAlloc_v2", ctypes.byref(source), size(4 * WORDS * STRIDES[-1]))
    call("cuMemAlloc_v2", ctypes.byref(target), size(4))
    call("cuMemsetD8_v2", source, 0, size(4 * WORDS * STRIDES[-1]))
    call("cuEventCreate", ctypes.byref(begin), 0)
    call("cuEventCreate", ctypes.byref(end), 0)
    call("cuCtxGetLimit", ctypes.byref(limit), LIMIT)
    print(f"default {limit.value} bytes")
    for granularity in (32, 64, 128):
        call("cuCtxSetLimit", LIMIT, size(granularity))
        call("cuCtxGetLimit", ctypes.byref(limit), LIMIT)
        for stride in STRIDES:
            step, best = ctypes.c_uint32(stride), float("inf")
            arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(x) for x in (source, step, target)))
            for _ in range(8):
                call("cuEventRecord", begin, None)
                call("cuLaunchKernel", kernel, WORDS // 256, 1, 1, 256, 1, 1, 0, None, arguments, None)
                call("cuEventRecord", end, None)
                call("cuEventSynchronize", end)
                call("cuEventElapsedTime", ctypes.byref(ms), begin, end)
                best = min(best, ms.value)
            print(f"{limit.value} bytes, stride {stride}: {1e3 * best:.1f} us")


if __name__ == "__main__":
    main()

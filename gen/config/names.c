/* Names that are refused because they would break CUDA text as macros, and words that are refused
   as values. */
#include "names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reserved names ------------------------------------------------------------------------- */

/* Each list of words is one string, with a blank between two words. */
static const char keywords[] =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false final float for friend goto if inline int long mutable namespace new noexcept "
    "not not_eq nullptr operator or or_eq override private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "typeof union unsigned using virtual void volatile wchar_t while xor xor_eq";

static const char lua_keywords[] = "elseif end function in local nil repeat then until";

static const char expression_functions[] = "ceil_div ceil_log eps is_pow2 round_up select";

static const char cugen_names[] =
    "device i_ index_t j_ k_ l_ params sample_count samples tensor_map";

/* Names of CUDA that sources may mention. is_cuda_form adds the constants (math_constants.h), and
   the atomic operations for the block and the system. */
static const char cuda_names[] =
    "CUDARTAPI CUDA_VERSION CUarray CUcontext CUdevice CUdeviceptr CUevent CUfunction CUgraph "
    "CUmodule CUresult CUstream CUsurfObject CUtensorMap CUtexObject atomicAdd atomicAnd atomicCAS "
    "atomicDec atomicExch atomicInc atomicMax atomicMin atomicOr atomicSub atomicXor blockDim "
    "blockIdx clock64 clusterDim clusterIdx cooperative_groups cuCabs cuCabsf cuCadd cuCaddf "
    "cuCdiv cuCdivf cuCfma cuCfmaf cuCimag cuCimagf cuCmul cuCmulf cuComplex "
    "cuComplexDoubleToFloat cuComplexFloatToDouble cuConj cuConjf cuCreal cuCrealf cuCsub cuCsubf "
    "cuDoubleComplex cuFloatComplex cuLaunchKernel cuMemAlloc cuTensorMapEncodeTiled cub cuda "
    "cudaAddressModeBorder cudaAddressModeClamp cudaAddressModeMirror cudaAddressModeWrap "
    "cudaArray cudaArray_const_t cudaArray_t cudaBoundaryModeClamp cudaBoundaryModeTrap "
    "cudaBoundaryModeZero cudaChannelFormatDesc cudaChannelFormatKind cudaCreateChannelDesc "
    "cudaDataType cudaDeviceGetAttribute cudaDeviceProp cudaDeviceReset cudaDeviceSynchronize "
    "cudaError cudaError_t cudaEventCreate cudaEventDestroy cudaEventElapsedTime cudaEventRecord "
    "cudaEventSynchronize cudaEvent_t cudaExtent cudaFilterModeLinear cudaFilterModePoint cudaFree "
    "cudaFuncSetAttribute cudaGetDevice cudaGetDeviceCount cudaGetDeviceProperties "
    "cudaGetErrorName cudaGetErrorString cudaGetLastError cudaGetParameterBuffer cudaGraphExec_t "
    "cudaGraphLaunch cudaGraph_t cudaGridDependencySynchronize cudaHostAlloc cudaLaunchAttribute "
    "cudaLaunchConfig_t cudaLaunchCooperativeKernel cudaLaunchDevice cudaLaunchKernel "
    "cudaLaunchKernelEx cudaMalloc cudaMallocHost cudaMallocManaged cudaMemcpy cudaMemcpy2D "
    "cudaMemcpyAsync cudaMemcpyDeviceToDevice cudaMemcpyDeviceToHost cudaMemcpyFromSymbol "
    "cudaMemcpyHostToDevice cudaMemcpyKind cudaMemcpyToSymbol cudaMemset cudaMemsetAsync "
    "cudaMipmappedArray_t cudaPeekAtLastError cudaPitchedPtr cudaPos cudaReadModeElementType "
    "cudaReadModeNormalizedFloat cudaResourceDesc cudaSetDevice cudaStreamCreate "
    "cudaStreamFireAndForget cudaStreamNonBlocking cudaStreamSynchronize cudaStreamTailLaunch "
    "cudaStream_t cudaSuccess cudaSurfaceObject_t cudaTextureDesc cudaTextureObject_t "
    "cudaTextureReadMode cudaTextureType1D cudaTextureType2D cudaTextureType3D "
    "cudaTriggerProgrammaticLaunchCompletion fdividef gridDim isEqual llmax llmin max min nvcuda "
    "rsqrt saturate std surf1DLayeredread surf1DLayeredwrite surf1Dread surf1Dwrite "
    "surf2DLayeredread surf2DLayeredwrite surf2Dread surf2Dwrite surf3Dread surf3Dwrite "
    "surfCubemapLayeredread surfCubemapLayeredwrite surfCubemapread surfCubemapwrite tex1D "
    "tex1DGrad tex1DLayered tex1DLayeredGrad tex1DLayeredLod tex1DLod tex1Dfetch tex2D tex2DGrad "
    "tex2DLayered tex2DLayeredGrad tex2DLayeredLod tex2DLod tex2Dgather tex3D tex3DGrad tex3DLod "
    "texCubemap texCubemapGrad texCubemapLayered texCubemapLayeredGrad texCubemapLayeredLod "
    "texCubemapLod threadIdx thrust ullmax ullmin umax umin warpSize";

static const char types[] =
    "FILE clock_t dim3 div_t double_t float_t fpos_t half half2 int16_t int32_t int64_t int8_t "
    "intmax_t intptr_t jmp_buf ldiv_t lldiv_t max_align_t nullptr_t nv_bfloat16 nv_bfloat162 "
    "nv_half nv_half2 ptrdiff_t sig_atomic_t size_t ssize_t time_t uchar uint uint16_t uint32_t "
    "uint64_t uint8_t uintmax_t uintptr_t ulong ushort va_list wint_t";

static const char libc_names[] =
    "abort aligned_alloc alloca asctime atexit atof atoi atol atoll bcmp bcopy bsearch bzero "
    "calloc clock ctime difftime div exit fclose feof ferror fflush fgetc fgets fopen fprintf "
    "fputc fputs fread free fscanf fseek ftell fwrite getc getchar getenv gets gmtime index "
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper "
    "isxdigit ldiv lldiv localeconv localtime longjmp main malloc mblen mbtowc memchr memcmp "
    "memcpy memmove memset mktime perror printf putc putchar puts qsort raise rand realloc remove "
    "rename rewind rindex scanf setbuf setlocale setvbuf signal snprintf sprintf srand sscanf "
    "strcat strchr strcmp strcoll strcpy strcspn strerror strftime strlen strncat strncmp strncpy "
    "strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull "
    "strxfrm system time tmpfile tmpnam tolower toupper ungetc vfprintf vprintf vsnprintf vsprintf "
    "wctomb";

static const char macros[] =
    "BUFSIZ CHAR_BIT CHAR_MAX CHAR_MIN DBL_DIG DBL_EPSILON DBL_MANT_DIG DBL_MAX DBL_MIN EOF "
    "EXIT_FAILURE EXIT_SUCCESS FLT_DIG FLT_EPSILON FLT_MANT_DIG FLT_MAX FLT_MIN FLT_RADIX HUGE_VAL "
    "HUGE_VALF HUGE_VALL INFINITY INT16_MAX INT16_MIN INT32_MAX INT32_MIN INT64_MAX INT64_MIN "
    "INT8_MAX INT8_MIN INTMAX_MAX INTMAX_MIN INTPTR_MAX INTPTR_MIN INT_MAX INT_MIN LLONG_MAX "
    "LLONG_MIN LONG_MAX LONG_MIN M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI "
    "M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 NAN NULL PTRDIFF_MAX PTRDIFF_MIN RAND_MAX SCHAR_MAX SCHAR_MIN "
    "SHRT_MAX SHRT_MIN SIZE_MAX UCHAR_MAX UINT16_MAX UINT32_MAX UINT64_MAX UINT8_MAX UINTMAX_MAX "
    "UINTPTR_MAX UINT_MAX ULLONG_MAX ULONG_MAX USHRT_MAX assert errno linux offsetof setjmp stderr "
    "stdin stdout unix va_arg va_copy va_end va_start";

static const char mathematics[] =
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0 "
    "cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma "
    "fmax fmin fmod fpclassify frexp hypot ilogb isfinite isgreater isinf isless isnan isnormal "
    "isunordered j0 j1 jn labs ldexp lgamma llabs llrint llround log log10 log1p log2 logb lrint "
    "lround modf nan nearbyint nextafter nexttoward norm norm3d norm4d normcdf normcdfinv pow "
    "rcbrt remainder remquo rhypot rint rnorm rnorm3d rnorm4d round scalbln scalbn signbit sin "
    "sincos sincospi sinh sinpi sqrt tan tanh tanpi tgamma trunc y0 y1 yn";

static const struct group {
  const char *reason, *words;
} groups[] = {
    {"it is a C++ keyword", keywords},
    {"it is a Lua keyword", lua_keywords},
    {"it is a function of expressions", expression_functions},
    {"cugen gives it a meaning of its own", cugen_names},
    {"it is a name of CUDA", cuda_names},
    {"it is a type of CUDA or the C library", types},
    {"it is a name of the C library", libc_names},
    {"it is a macro of the C library", macros},
    {"it is a mathematical function of CUDA and C", mathematics},
};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

bool names_listed(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = words; length && (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
  return false;
}

static const struct group *names_find_group(const char *name) {
  for (const struct group *group = groups; group < groups + GROUP_COUNT; group++)
    if (names_listed(group->words, name)) return group;
  return NULL;
}

/* Matches names such as CUDART_PI, atomicAdd_block and atomicMax_system. */
static bool is_cuda_form(const char *name) {
  const char *suffix = strrchr(name, '_');
  char base[16];
  if (strncmp(name, "CUDART_", 7) == 0) return true;
  if (strncmp(name, "atomic", 6) != 0 || !suffix || (size_t)(suffix - name) >= sizeof base)
    return false;
  snprintf(base, sizeof base, "%.*s", (int)(suffix - name), name);
  return names_listed("_block _system", suffix) && names_listed(cuda_names, base);
}

/* Matches char1 to ulonglong4, also with an alignment as in double4_32a (CUDA's vector_types.h). */
static bool is_vector_type(const char *name) {
  static const char *const elements[] = {"char",     "uchar",     "short", "ushort",
                                         "int",      "uint",      "long",  "ulong",
                                         "longlong", "ulonglong", "float", "double"};
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
    size_t length = strlen(elements[i]);
    if (strncmp(name, elements[i], length) != 0) continue;
    const char *rest = name + length;
    if (rest[0] < '1' || rest[0] > '4') continue;
    if (!rest[1] || strcmp(rest + 1, "_16a") == 0 || strcmp(rest + 1, "_32a") == 0) return true;
  }
  return false;
}

/* Matches sinf, sqrtl: C's mathematical functions for float and long double. */
static bool is_math_variant(const char *name) {
  size_t length = strlen(name);
  char base[16];
  if (length < 3 || length > sizeof base || (name[length - 1] != 'f' && name[length - 1] != 'l'))
    return false;
  memcpy(base, name, length - 1);
  base[length - 1] = '\0';
  const struct group *group = names_find_group(base);
  return group && group->words == mathematics;
}

const char *names_refused(const char *name, bool in_expressions) {
  const struct group *group = names_find_group(name);
  if (group && (in_expressions || group->words != expression_functions)) return group->reason;
  if (strncmp(name, "__", 2) == 0) return "names with two leading underscores are the compiler's";
  if (name[0] == '_' && isupper((unsigned char)name[1]))
    return "names with an underscore and a capital are the compiler's";
  if (is_cuda_form(name)) return "it is a name of CUDA";
  if (is_vector_type(name)) return "it is a type of CUDA";
  if (is_math_variant(name)) return "it is a mathematical function of CUDA and C";
  return NULL;
}

bool names_identifier(const char *name) {
  if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c >= 128 || (!isalnum((unsigned char)*c) && *c != '_')) return false;
  return strlen(name) <= 64;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static bool reads_as_number(const char *word) {
  if (!strpbrk(word, "0123456789")) return false; /* "nan" and "inf" are allowed as words */
  char *end;
  strtod(word, &end);
  return *end == '\0';
}

const char *names_refused_word(const char *word) {
  if (!*word) return "it is empty";
  if (strlen(word) > 64) return "it has more than 64 characters";
  for (const char *c = word; *c; c++) {
    if ((unsigned char)*c <= ' ' || *c == 127)
      return "it has a space or an unprintable character in it";
    if (*c == '"' || *c == '\'' || *c == '\\') return "it has a quote or a backslash in it";
  }
  if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
    return "write it without quotes, as a boolean";
  if (reads_as_number(word)) return "write it without quotes, as a number";
  return NULL;
}

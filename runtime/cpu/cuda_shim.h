/* Turns CUDA C++ into C++17 for the host's compiler. The parts below stand, one after the other as here, between abi.h
   and the user's source in a translation unit, which unit.c makes; docs/cpu-device.md says what is there and what is
   not.

   The user's source may define macros of any name, and the only thing expanded after it are the macros of these files:
   their replacements name nothing but keywords and names that begin with cugen_ or two underscores.
   Every kernel compile parses them: they include little and say things once, by macros or templates. Most of it is
   tables of functions, one a line, which clang-format would make three times as long.

   The build reads the order from here (tools/cmake/Embed.cmake) and puts the texts into the binary. */
/* clang-format off */
#ifndef RUNTIME_CPU_CUDA_SHIM_H
#define RUNTIME_CPU_CUDA_SHIM_H

#include "shim/language.h"
#include "shim/watch.h"
#include "shim/warp.h"
#include "shim/memory.h"
#include "shim/mathematics.h"
#include "shim/integers.h"
#include "shim/simd.h"
#include "shim/rounding.h"
#include "shim/float16.h"
#include "shim/float8.h"
#include "shim/textures.h"
#include "shim/runtime_types.h"
#include "shim/inline_ptx.h"
#include "shim/entry.h"

#endif

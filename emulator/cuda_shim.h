/* Turns CUDA C++ into C++17 for the host's compiler. unit.c puts the parts below, in this order,
   between abi.h and the user's source in a translation unit.

   The user's source follows these files and may define macros of any name. Macros of these files
   are expanded there, so they use only keywords and names that begin with cugen_ or two
   underscores. Every kernel compile parses these files, so they include little. Tables of
   functions, one a line, are exempt from clang-format.

   The build reads the order from this file (tools/cmake/Embed.cmake) and embeds the texts in the
   binary. */
/* clang-format off */
#ifndef EMULATOR_CUDA_SHIM_H
#define EMULATOR_CUDA_SHIM_H

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

# Files that ship inside the binary: written as C arrays into generated/ of the build folder by EmbedFiles.cmake.

# embed(OUT FILE KIND FILES...): appends the path of generated FILE to the list OUT.
function(embed out file kind)
  set(path ${CMAKE_BINARY_DIR}/generated/${file})
  list(TRANSFORM ARGN REPLACE "^${CMAKE_SOURCE_DIR}/" "" OUTPUT_VARIABLE relative)
  if(NOT kind MATCHES "^(shim|kernels)$") # whose order is its author's
    list(SORT relative)
  endif()
  list(JOIN relative "|" joined) # one argument: a list's semicolons do not survive the shell
  add_custom_command(OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -DKIND=${kind} -DOUT=${path} -DROOT=${CMAKE_SOURCE_DIR} "-DFILES=${joined}"
            -P ${CMAKE_SOURCE_DIR}/tools/cmake/EmbedFiles.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/tools/cmake/EmbedFiles.cmake
    COMMENT "Embedding into ${file}" VERBATIM)
  set(${out} ${${out}} ${path} PARENT_SCOPE)
endfunction()

# configs/*.lua with what they include (configs/matmul) and the descriptions of GPUs (configs/devices), portfolios, and templates/**
# (templates/bundle: what an exported bundle is made from) as embedded_files[] (gen/sources/sources.h).
macro(embed_shipped out)
  file(GLOB shipped_lua CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/*.lua ${CMAKE_SOURCE_DIR}/configs/*/*.lua
       ${CMAKE_SOURCE_DIR}/configs/portfolios/*.txt)
  list(FILTER shipped_lua EXCLUDE REGEX "/configs/editor/")
  file(GLOB_RECURSE shipped_templates CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/templates/*.cu
       ${CMAKE_SOURCE_DIR}/templates/*.cuh ${CMAKE_SOURCE_DIR}/templates/bundle/*)
  embed(${out} embedded.c table ${shipped_lua} ${shipped_templates})
endmacro()

# A hash of the headers whose structs travel between a program and its worker, as wire_layout[] (runtime/wire.c).
macro(embed_layout out)
  file(GLOB layout CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/base/*.h ${CMAKE_SOURCE_DIR}/runtime/*.h
       ${CMAKE_SOURCE_DIR}/runtime/*/*.h ${CMAKE_SOURCE_DIR}/emulator/*.h ${CMAKE_SOURCE_DIR}/tune/*.h
       ${CMAKE_SOURCE_DIR}/tune/*/*.h)
  embed(${out} layout.c layout ${layout})
endmacro()

# The shells' scripts as cli_scripts[] (cli/cli.h).
macro(embed_completions out)
  file(GLOB_RECURSE completions CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/completion/*)
  embed(${out} completions.c completions ${completions})
endmacro()

# What pages are made from, as cli_pages[] (cli/cli.h).
macro(embed_pages out)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/pages/*)
  embed(${out} pages.c pages ${pages})
endmacro()

# runtime/compile/standard/*.h as standard_headers[] (runtime/compile/standard.h).
macro(embed_standard out)
  file(GLOB standard CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/compile/standard/*.h)
  embed(${out} standard.c standard ${standard})
endmacro()

# emulator/abi.h and the parts of cuda_shim.h, one after the other in its order, as cpu_shim_text, cpu_shim_length.
macro(embed_cpu_shim out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/emulator/cuda_shim.h)
  file(STRINGS ${CMAKE_SOURCE_DIR}/emulator/cuda_shim.h shim REGEX "^#include \"shim/")
  list(TRANSFORM shim REPLACE "#include \"(.*)\"" "${CMAKE_SOURCE_DIR}/emulator/\\1")
  embed(${out} cpu_shim.c shim ${CMAKE_SOURCE_DIR}/emulator/abi.h ${shim})
endmacro()

# emulator/shim/headers/** as cpu_headers[] (emulator/headers.h).
macro(embed_cpu_headers out)
  file(GLOB_RECURSE cpu_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/emulator/shim/headers/*)
  embed(${out} cpu_headers.c headers ${cpu_headers})
endmacro()

# tune/data/data_layout.h and tune/data/data_kernels.cu, one after the other, as data_kernels_text.
macro(embed_data_kernels out)
  embed(${out} data_kernels.c kernels ${CMAKE_SOURCE_DIR}/tune/data/data_layout.h ${CMAKE_SOURCE_DIR}/tune/data/data_kernels.cu)
endmacro()

# The CUDA headers (cuda.h, nvrtc.h, cuda_occupancy.h): an installed toolkit's, else those of the toolkit's Python
# wheels, which tools/fetch-toolkit unpacks into toolkit/ of the build folder. Nothing of CUDA is linked: driver
# and NVRTC are opened at run time.

# What cugen uses came with CUDA 12; NVRTC must be there too, for the tests and for cugen itself.
function(toolkit_usable folder out)
  set(${out} OFF PARENT_SCOPE)
  if(NOT EXISTS ${folder}/include/cuda.h OR NOT EXISTS ${folder}/include/nvrtc.h
     OR NOT EXISTS ${folder}/include/cuda_occupancy.h OR NOT EXISTS ${folder}/include/cuda_fp16.h)
    return()
  endif()
  file(STRINGS ${folder}/include/cuda.h line REGEX "^#define CUDA_VERSION ")
  string(REGEX MATCH "[0-9]+" version "${line}")
  file(GLOB nvrtc ${folder}/lib64/libnvrtc.so* ${folder}/lib/libnvrtc.so* ${folder}/targets/*/lib/libnvrtc.so*)
  if(version GREATER_EQUAL 12000 AND nvrtc)
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

set(CUGEN_TOOLKIT "" CACHE PATH "CUDA toolkit whose headers are used; empty: look for one, else fetch it")
set(cugen_fetched_toolkit ${CMAKE_BINARY_DIR}/toolkit)
set(cugen_toolkit "")
foreach(folder "${CUGEN_TOOLKIT}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda)
  if(folder AND NOT cugen_toolkit)
    toolkit_usable("${folder}" usable)
    if(usable)
      set(cugen_toolkit "${folder}")
    endif()
  endif()
endforeach()

if(NOT cugen_toolkit)
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/fetch-toolkit ${cugen_fetched_toolkit} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "No CUDA toolkit (12 or newer) is installed and its wheels could not be fetched: see above. "
      "Install one, or name its folder with -DCUGEN_TOOLKIT=...")
  endif()
  set(cugen_toolkit ${cugen_fetched_toolkit})
endif()
message(STATUS "CUDA headers: ${cugen_toolkit}/include")

add_library(cugen_cuda_headers INTERFACE)
target_include_directories(cugen_cuda_headers SYSTEM INTERFACE ${cugen_toolkit}/include)

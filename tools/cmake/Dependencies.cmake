# The libraries that cugen uses, as targets cugen_lua, cugen_sqlite, cugen_xxhash, cugen_jansson and cugen_sodium. Their
# static archives are preferred: the program then runs on machines that do not have them.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# dependency(NAME PACKAGE HEADER LIBRARY [header folder suffixes]): PACKAGE is Debian's name, for the message.
function(dependency name package header library)
  string(TOUPPER ${name} upper)
  find_path(${upper}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARGN})
  if(CUGEN_STATIC_DEPS)
    find_library(${upper}_LIBRARY NAMES lib${library}.a ${library} NAMES_PER_DIR)
  else()
    find_library(${upper}_LIBRARY NAMES ${library})
  endif()
  mark_as_advanced(${upper}_INCLUDE_DIR ${upper}_LIBRARY)
  if(NOT ${upper}_INCLUDE_DIR OR NOT ${upper}_LIBRARY)
    message(FATAL_ERROR "${header} or lib${library} was not found.\n"
      "On Debian and Ubuntu: apt-get install ${package} (./cugen offers to do it). "
      "Elsewhere: -D${upper}_INCLUDE_DIR=... -D${upper}_LIBRARY=...")
  endif()
  add_library(cugen_${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(cugen_${name} PROPERTIES IMPORTED_LOCATION "${${upper}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${${upper}_INCLUDE_DIR}")
endfunction()

dependency(lua liblua5.4-dev lua.h lua5.4 lua5.4 lua-5.4 lua54)
dependency(sqlite libsqlite3-dev sqlite3.h sqlite3)
dependency(xxhash libxxhash-dev xxhash.h xxhash)
dependency(jansson libjansson-dev jansson.h jansson)
dependency(sodium libsodium-dev sodium.h sodium)
set_property(TARGET cugen_lua APPEND PROPERTY INTERFACE_LINK_LIBRARIES m ${CMAKE_DL_LIBS})
set_property(TARGET cugen_sqlite APPEND PROPERTY INTERFACE_LINK_LIBRARIES m ${CMAKE_DL_LIBS} Threads::Threads)
set_property(TARGET cugen_sodium APPEND PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads)

# libcugen, the library for applications, shared and static. Both hold every room and the libraries that cugen uses,
# and show nothing but the functions of include/cugen.h: an application may have a Lua or an SQLite of its own.
get_property(room_targets GLOBAL PROPERTY cugen_room_targets)
set(room_archives "")
foreach(target ${room_targets})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND room_archives ${target})
  endif()
endforeach()

# The functions that the headers declare, as the linker's version script and as objcopy's list.
set(exports_script ${CMAKE_BINARY_DIR}/generated/cugen.map)
set(exports_list ${CMAKE_BINARY_DIR}/generated/cugen.exports)
set(exports "")
foreach(header include/cugen.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${header})
  file(STRINGS ${header} declarations REGEX "^[a-z].*[ *]cugen_[a-z0-9_]+\\(")
  foreach(line ${declarations})
    if(NOT line MATCHES "^typedef")
      string(REGEX REPLACE "^[^(]*[ *](cugen_[a-z0-9_]+)\\(.*" "\\1" name "${line}")
      list(APPEND exports ${name})
    endif()
  endforeach()
endforeach()
list(JOIN exports ";\n    " script_lines)
list(JOIN exports "\n" list_lines)
file(CONFIGURE OUTPUT ${exports_script} CONTENT "{\n  global:\n    ${script_lines};\n  local: *;\n};\n")
file(CONFIGURE OUTPUT ${exports_list} CONTENT "${list_lines}\n")

file(GLOB api_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/*.c)
if(NOT api_sources OR CUGEN_SANITIZE) # a sanitizer's run-time would have to be linked into every application
  return()
endif()

# The rooms and what they call of the libraries become one object; all its symbols but the exports are made local.
set(object ${CMAKE_BINARY_DIR}/generated/cugen.o)
set(bundled "")
set(linked Threads::Threads m ${CMAKE_DL_LIBS})
foreach(target cugen_lua cugen_sqlite cugen_xxhash cugen_jansson cugen_sodium)
  get_target_property(location ${target} IMPORTED_LOCATION)
  if(location MATCHES "\\.a$")
    list(APPEND bundled ${location})
  else()
    list(APPEND linked ${location})
  endif()
endforeach()
set(rename_streams "")
foreach(name lua jansson)
  get_target_property(archive cugen_${name} IMPORTED_LOCATION)
  if(archive IN_LIST bundled)
    set(renamed ${CMAKE_BINARY_DIR}/generated/lib${name}.a)
    list(TRANSFORM bundled REPLACE "^${archive}$" ${renamed})
    list(APPEND rename_streams COMMAND ${CMAKE_OBJCOPY} --redefine-sym stdin=cugen_stdin
      --redefine-sym stdout=cugen_stdout --redefine-sym stderr=cugen_stderr ${archive} ${renamed})
  endif()
endforeach()
add_library(cugen_stdio OBJECT ${CMAKE_SOURCE_DIR}/tools/cmake/stdio.c)
list(TRANSFORM room_archives REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE room_files)
add_custom_command(OUTPUT ${object}
  ${rename_streams}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${object} -Wl,--whole-archive ${room_files} -Wl,--no-whole-archive
          $<TARGET_OBJECTS:cugen_stdio> ${bundled}
  COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${exports_list} ${object}
  DEPENDS ${room_archives} cugen_stdio $<TARGET_OBJECTS:cugen_stdio> ${exports_list}
  COMMENT "Joining the rooms into cugen.o" VERBATIM)
set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
add_custom_target(cugen_object DEPENDS ${object}) # made once for both libraries

add_library(cugen_shared SHARED ${object})
add_library(cugen_static STATIC ${object})
set_target_properties(cugen_shared PROPERTIES EXPORT_NAME cugen VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${exports_script})
target_link_options(cugen_shared PRIVATE -Wl,--version-script=${exports_script} -Wl,--no-undefined)
target_link_libraries(cugen_shared PRIVATE ${linked})
target_link_libraries(cugen_static INTERFACE ${linked})
foreach(library cugen_shared cugen_static)
  add_dependencies(${library} cugen_object)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME cugen LINKER_LANGUAGE C)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

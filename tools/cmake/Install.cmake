# What `cmake --install` puts where; the CMake package (find_package(cugen)) and the pkg-config file.
include(CMakePackageConfigHelpers)

install(FILES include/cugen.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY configs templates DESTINATION ${CMAKE_INSTALL_DATADIR}/cugen
        FILES_MATCHING PATTERN "*.lua" PATTERN "*.cu" PATTERN "*.cuh"
        PATTERN configs/devices EXCLUDE PATTERN configs/editor EXCLUDE PATTERN configs/portfolios EXCLUDE PATTERN bundle EXCLUDE)
install(DIRECTORY configs/devices DESTINATION ${CMAKE_INSTALL_DATADIR}/cugen)
install(FILES configs/editor/cugen.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/cugen/lua) # annotations of configs
install(FILES cli/completion/cugen.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cugen)
install(FILES cli/completion/cugen.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES cli/completion/_cugen DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
file(GLOB documents CONFIGURE_DEPENDS docs/*.md docs/*.svg)
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES README.md README.zh.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs) # where the pages link to
install(FILES docs/cugen.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
if(TARGET cugen)
  install(TARGETS cugen RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS cugen_worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cugen)
if(cugen_toolkit STREQUAL cugen_fetched_toolkit)
  # The program looks in ../lib/cugen/toolkit, whatever the name of the library folder.
  install(DIRECTORY ${cugen_fetched_toolkit} DESTINATION lib/cugen)
endif()

if(TARGET cugen_shared)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cugen)
  install(TARGETS cugen_shared cugen_static EXPORT cugen-targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT cugen-targets NAMESPACE cugen:: DESTINATION ${package})
  configure_package_config_file(tools/cmake/cugen-config.cmake.in ${CMAKE_BINARY_DIR}/generated/cugen-config.cmake
                                INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/cugen-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/generated/cugen-config.cmake
          ${CMAKE_BINARY_DIR}/generated/cugen-config-version.cmake DESTINATION ${package})
  file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(tools/cmake/cugen.pc.in generated/cugen.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/generated/cugen.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

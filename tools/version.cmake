# Writes build/generated/version.h at build time, so that a program knows the commit it was built from.
# A tree with uncommitted changes to tracked files is marked "-dirty". Outside git the commit is
# unknown, and in a folder of another repository, too.
set(COMMIT unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --show-prefix WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE folder RESULT_VARIABLE foreign OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE hash RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT foreign AND folder STREQUAL "" AND NOT failed)
    execute_process(COMMAND ${GIT} status --porcelain --untracked-files=no
      WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE changes ERROR_QUIET)
    set(COMMIT ${hash})
    if(changes)
      set(COMMIT ${hash}-dirty)
    endif()
  endif()
endif()
configure_file(${SOURCE_DIR}/core/version.h.in ${BINARY_DIR}/generated/version.h @ONLY)

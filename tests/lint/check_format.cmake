# Fails when clang-format 14 would change a file. Run as: cmake -D ROOT=<repo> -P check_format.cmake; fix with packaging/format.
find_program(formatter NAMES clang-format-14 clang-format)
if(NOT formatter)
    message(STATUS "skipped: no clang-format here")
    return()
endif()
file(GLOB_RECURSE sources "${ROOT}/app/*.h" "${ROOT}/app/*.cpp" "${ROOT}/engine/*.h" "${ROOT}/engine/*.cpp"
     "${ROOT}/ui/*.h" "${ROOT}/ui/*.cpp" "${ROOT}/tests/*.h" "${ROOT}/tests/*.cpp")
execute_process(COMMAND ${formatter} --dry-run -Werror --ferror-limit=1 ${sources} RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed)
    message(FATAL_ERROR "${said}\n  Run packaging/format.")
endif()

# Compiler cache and linker, where the machine has them. Both only save time: the result is the same.
find_program(MANTISSA_CCACHE ccache)
if(MANTISSA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Precompiled headers are cacheable only with this sloppiness and -fpch-preprocess (engine/CMakeLists.txt).
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${MANTISSA_CCACHE})
endif()
find_program(MANTISSA_MOLD mold)
if(MANTISSA_MOLD)
    add_link_options(-fuse-ld=mold)
endif()

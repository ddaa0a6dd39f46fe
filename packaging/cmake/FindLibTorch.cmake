# LibTorch for the CPU from the unpacked wheels: target LibTorch::LibTorch, variable LibTorch_FOUND.
# Links torch_cpu and c10 only: libtorch.so would pull in the CUDA libraries.
set(_cache "$ENV{XDG_CACHE_HOME}")
if(NOT _cache)
    set(_cache "$ENV{HOME}/.cache")
endif()
set(_root "${MANTISSA_TORCH_DIR}")
if(NOT _root AND DEFINED ENV{MANTISSA_TORCH_DIR})
    set(_root "$ENV{MANTISSA_TORCH_DIR}")
endif()
if(NOT _root)
    set(_pins "${CMAKE_CURRENT_LIST_DIR}/../libtorch.txt")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_pins}")
    file(STRINGS "${_pins}" _version REGEX "^torch==")
    string(REGEX REPLACE "^torch==([^ ]+).*" "\\1" _version "${_version}")
    set(_root "${_cache}/mantissa/libtorch-${_version}")
endif()

set(_torch "${_root}/torch")
set(_cuda "${_root}/nvidia/cu13/lib")
if(EXISTS "${_torch}/lib/libtorch_cpu.so" AND EXISTS "${_torch}/include/ATen/ATen.h")
    set(LibTorch_FOUND TRUE)
    set(LibTorch_LIBRARY_DIRS "${_torch}/lib" "${_cuda}")
    if(NOT TARGET LibTorch::LibTorch)
        add_library(LibTorch::LibTorch INTERFACE IMPORTED)
        target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
            "${_torch}/include" "${_torch}/include/torch/csrc/api/include")
        # --no-as-needed: the operators register themselves, so nothing seems to use the library.
        target_link_options(LibTorch::LibTorch INTERFACE
            "LINKER:--disable-new-dtags" "LINKER:-rpath,${_torch}/lib:${_cuda}" "LINKER:-rpath-link,${_cuda}")
        target_link_libraries(LibTorch::LibTorch INTERFACE
            "-L${_torch}/lib" "-L${_cuda}" -Wl,--no-as-needed -ltorch_cpu -lc10 -Wl,--as-needed)
    endif()
else()
    set(LibTorch_FOUND FALSE)
    message(STATUS "LibTorch not found in ${_root}: the window and the checks are built, the training engine is not. "
        "packaging/run fetches it.")
endif()

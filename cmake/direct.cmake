# The direct module, _C.abi3.so: csrc/direct/*.c against Python's stable ABI. It alone needs Python, and only its
# headers, of any version from 3.10 on. Without them the package is built without it, and says so when it is imported.

set(python_headers "")
set(reason "")
if(CMAKE_CROSSCOMPILING)
    set(reason "its headers are not those of ${CMAKE_SYSTEM_PROCESSOR}")
elseif(NOT Python3_EXECUTABLE)
    set(reason "there is no python3")
else()
    execute_process(COMMAND ${Python3_EXECUTABLE} -c
        "import sys, sysconfig as s; print(s.get_path('include'), s.get_config_var('Py_GIL_DISABLED') or 0, sys.version_info >= (3, 10), sep='\\n')"
        OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
    string(REGEX MATCH "^([^\n]*)\n([01])\n(True|False)" answer "${answer}")
    set(python_headers "${CMAKE_MATCH_1}")
    if(failed OR python_headers STREQUAL "")
        set(reason "${Python3_EXECUTABLE} does not run")
    elseif(CMAKE_MATCH_2 OR CMAKE_MATCH_3 STREQUAL "False")
        set(reason "${Python3_EXECUTABLE} is older than 3.10 or has no stable ABI")
    elseif(NOT EXISTS "${python_headers}/Python.h")
        set(reason "there is no ${python_headers}/Python.h: install python3-dev, or set Python3_EXECUTABLE")
    endif()
endif()

if(NOT reason STREQUAL "")
    message(STATUS "Direct module: left out, ${reason}")
    file(REMOVE ${CMAKE_BINARY_DIR}/_C.abi3.so)   # of an earlier build
    return()
endif()
message(STATUS "Direct module: ${python_headers}")
file(GLOB direct_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/csrc/direct/*.c)
add_library(direct MODULE ${direct_sources} ${runtime}/error.c ${runtime}/dtype.c)
set_target_properties(direct PROPERTIES
    OUTPUT_NAME _C PREFIX "" SUFFIX ".abi3.so" DEFINE_SYMBOL "" C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden SKIP_BUILD_RPATH ON)
# A call passes through most of its functions. Some compilers take the option and cannot link what they made by it.
include(CheckIPOSupported)
check_ipo_supported(RESULT joined OUTPUT unused LANGUAGES C)
set_target_properties(direct PROPERTIES INTERPROCEDURAL_OPTIMIZATION ${joined})
target_include_directories(direct PRIVATE ${runtime})
target_include_directories(direct SYSTEM PRIVATE ${python_headers})
target_compile_definitions(direct PRIVATE DIRECT_NAMESPACE="${namespace}")
target_compile_options(direct PRIVATE ${strict_flags} -Werror=implicit-function-declaration -fexceptions
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_link_libraries(direct PRIVATE -Wl,--no-as-needed torch_stub -Wl,--as-needed ${CMAKE_DL_LIBS})

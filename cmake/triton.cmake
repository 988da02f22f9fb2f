# Triton kernels: cmake/triton_compile.py compiles those of an operator to code for each architecture, which a generated
# C file embeds. Triton is a Python package, and needed here alone: the library does not know that it was there. It is
# asked for where CUDA code is built, and an operator asks for it; as with nvcc, what is built without it says so when
# it is called.

set(triton_oldest 3.6)   # the first one with the parameters that csrc/runtime/triton.c passes, that of PyTorch 2.10

# triton_find(<op>): sets OPS_TRITON to the version of Triton, or to "" where there is none.
function(triton_find op)
    if(DEFINED OPS_TRITON)
        return()
    endif()
    set(OPS_TRITON "")
    set(reason "there is no python3")
    if(Python3_EXECUTABLE)
        execute_process(COMMAND ${triton_python} -c "import triton; print(triton.__version__)"
            OUTPUT_VARIABLE version ERROR_VARIABLE text RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(failed)
            set(reason "${Python3_EXECUTABLE} has none")
        elseif(version VERSION_LESS triton_oldest)
            set(reason "${Python3_EXECUTABLE} has version ${version}, and ${triton_oldest} is the oldest that works")
        else()
            set(OPS_TRITON ${version})
        endif()
    endif()
    if(OPS_TRITON)
        message(STATUS "Triton: ${OPS_TRITON}, ${Python3_EXECUTABLE}")
    elseif(cuda STREQUAL "ON")
        message(FATAL_ERROR "${prefix}_CUDA is ON, and the operator ${op} needs Triton: ${reason}; install it by `python -m pip install \"triton>=${triton_oldest}\"`.")
    else()
        message(STATUS "Triton: ${reason}, so ${op} and what else it compiles have no CUDA part; `pip install \".[triton]\"` brings it")
    endif()
    set(OPS_TRITON "${OPS_TRITON}" PARENT_SCOPE)
endfunction()

# setup.py says where packages are that pip installed for this build.
set(triton_python ${Python3_EXECUTABLE})
if(NOT "$ENV{OPS_PYTHON_PATH}" STREQUAL "")
    set(triton_python ${CMAKE_COMMAND} -E env "PYTHONPATH=$ENV{OPS_PYTHON_PATH}" ${Python3_EXECUTABLE})
endif()

# triton_unit(<op> [ARCH <oldest>])
# Compiles what generated/cuda/<op>.json lists, for those of the architectures that are at least <oldest>, and defines
# <op>__triton, the table of the kernels, which is empty without CUDA or Triton.
macro(triton_unit op)
    if(nvcc)
        triton_find(${op})
    endif()
    triton_compile(${op} ${ARGN})
endmacro()

function(triton_compile op)
    cmake_parse_arguments(PARSE_ARGV 1 unit "" ARCH "")
    set(archs ${cuda_archs})
    list(TRANSFORM archs REPLACE "\\." "")
    if(unit_ARCH)
        foreach(arch IN LISTS archs)
            string(REGEX MATCH "^[0-9]+" number "${arch}")
            if(number LESS unit_ARCH)
                list(REMOVE_ITEM archs ${arch})
            endif()
        endforeach()
    endif()
    set(folder ${CMAKE_BINARY_DIR}/triton)
    set(table ${folder}/${op}.c)
    if(NOT OPS_TRITON OR NOT archs)
        set(table ${folder}/${op}_missing.c)
        set(images NULL)
        set(count 0)
        if(OPS_TRITON)   # built with it, and for no architecture that it runs on
            set(images "(triton_image[]){{.arch = 0}}")
        endif()
        file(CONFIGURE OUTPUT ${table} @ONLY CONTENT
"/* Written by CMake. */
#include \"triton.h\"

extern const triton_kernels ${op}__triton;
const triton_kernels ${op}__triton = {.images = ${images}, .count = 0};
")
        target_sources(operators PRIVATE ${table})
        return()
    endif()
    # nvcc has it beside itself, or beside that which it is a link to.
    file(REAL_PATH ${nvcc} real)
    cmake_path(GET real PARENT_PATH programs)
    find_program(OPS_FATBINARY fatbinary HINTS ${programs} ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin DOC "Packs GPU code")
    set(pack "")
    if(OPS_FATBINARY)
        set(pack --fatbinary ${OPS_FATBINARY})
    endif()
    set(manifest ${generated}/cuda/${op}.json)
    add_custom_command(OUTPUT ${table} ${folder}/${op}.images
        COMMAND ${triton_python} ${CMAKE_SOURCE_DIR}/cmake/triton_compile.py ${manifest} --root ${CMAKE_SOURCE_DIR}
                --into ${folder} --archs ${archs} ${pack}
        DEPENDS ${manifest} ${CMAKE_SOURCE_DIR}/cmake/triton_compile.py ${CMAKE_SOURCE_DIR}/csrc/${op}.py
                generated_is_current ${folder}/version.txt
        DEPFILE ${folder}/${op}.d COMMENT "Triton ${op}.py" VERBATIM)
    file(CONFIGURE OUTPUT ${folder}/version.txt @ONLY CONTENT "${OPS_TRITON}")   # another one compiles anew
    set_source_files_properties(${table} PROPERTIES OBJECT_DEPENDS ${folder}/${op}.images)
    target_sources(operators PRIVATE ${table})
endfunction()

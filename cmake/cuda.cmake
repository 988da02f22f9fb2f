# CUDA bodies: nvcc compiles device code only, to a fatbin for each unit of an operator, which a small C file embeds.
# CMake's own CUDA language is not used: it tests a host compiler and a runtime library that are not needed, for seconds.
#
#   <NAMESPACE>_CUDA      AUTO (default): build the CUDA part when there is an nvcc, in place when there is a GPU, too;
#                         ON: demand an nvcc; OFF
#   TORCH_CUDA_ARCH_LIST  as in PyTorch: "8.0;9.0+PTX", "9.0a", "native", "Hopper"
# Both are CMake variables; the environment gives their first value.

foreach(option ${prefix}_CUDA TORCH_CUDA_ARCH_LIST)
    if(NOT DEFINED ${option})
        set(${option} "$ENV{${option}}" CACHE STRING "See cmake/cuda.cmake")
    endif()
endforeach()
string(TOUPPER "${${prefix}_CUDA}" cuda)
if(cuda STREQUAL "")
    set(cuda AUTO)
elseif(NOT cuda MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${prefix}_CUDA is AUTO, ON or OFF, and not \"${${prefix}_CUDA}\".")
endif()

set(nvcc "")
if(cuda STREQUAL "OFF")
    message(STATUS "CUDA: switched off, only the CPU part is built")
else()
    # Last that of PyPI, in the active Python environment or, as setup.py says, in that of pip.
    set(of_python "")
    string(REPLACE ":" ";" folders "$ENV{OPS_PYTHON_PATH}")
    foreach(folder IN LISTS folders ITEMS "$ENV{VIRTUAL_ENV}/lib/python3*/site-packages")
        file(GLOB found "${folder}/nvidia/cu*/bin")
        list(APPEND of_python ${found})
    endforeach()
    find_program(OPS_NVCC nvcc NO_DEFAULT_PATH DOC "CUDA compiler"
        HINTS ENV CUDA_HOME ENV CUDA_PATH ENV PATH PATHS /usr/local/cuda ${of_python} PATH_SUFFIXES bin)
    if(NOT "$ENV{CUDACXX}" STREQUAL "")   # a path or a name, and it wins
        find_program(nvcc_named "$ENV{CUDACXX}" NO_CACHE)
        if(NOT nvcc_named)
            message(FATAL_ERROR "CUDACXX is $ENV{CUDACXX}, and there is no such program.")
        endif()
        set(OPS_NVCC ${nvcc_named})
    endif()
    if(OPS_NVCC)
        set(nvcc ${OPS_NVCC})
    elseif(cuda STREQUAL "ON")
        message(FATAL_ERROR "${prefix}_CUDA is ON, and no nvcc was found: set CUDA_HOME or CUDACXX, or install one by `python -m pip install -e \".[cuda]\"`.")
    else()
        message(STATUS "CUDA: no nvcc found (CUDACXX, CUDA_HOME, PATH, /usr/local/cuda, Python's packages), only the CPU part is built; `pip install \".[cuda]\"` brings one")
    endif()
endif()

# A build in place is for this machine, and nvcc takes most of its time: without a GPU it has no CUDA part unless asked.
set(gpus "")
if(nvcc AND (TORCH_CUDA_ARCH_LIST STREQUAL "" OR TORCH_CUDA_ARCH_LIST STREQUAL "native"))
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
        string(REGEX MATCHALL "[0-9]+\\.[0-9]+" gpus "${text}")
    endif()
    if(NOT gpus AND OPS_NATIVE AND NOT cuda STREQUAL "ON" AND TORCH_CUDA_ARCH_LIST STREQUAL "")
        message(STATUS "CUDA: no GPU here, only the CPU part is built; TORCH_CUDA_ARCH_LIST or ${prefix}_CUDA=ON build both")
        set(nvcc "")
    endif()
endif()

# The architectures that this nvcc knows, and those to build: cuda_archs holds entries such as 80, 90a and 90+PTX.
set(cuda_archs "")
if(nvcc)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE failed)
    string(REGEX MATCH "release ([0-9.]+)" text "${text}")
    set(nvcc_version ${CMAKE_MATCH_1})
    if(failed OR NOT nvcc_version OR nvcc_version VERSION_LESS 12.0)
        message(FATAL_ERROR "${namespace} needs CUDA 12.0 or newer, and ${nvcc} is version ${nvcc_version}: set CUDA_HOME, or ${prefix}_CUDA=OFF.")
    endif()
    if(CMAKE_SOURCE_DIR MATCHES "," OR CMAKE_BINARY_DIR MATCHES ",")   # nvcc takes paths apart there
        message(FATAL_ERROR "nvcc cannot compile in a folder with a comma in its path: move it, or ${prefix}_CUDA=OFF.")
    endif()
    execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE text)
    string(REGEX MATCHALL "[0-9]+" known "${text}")
    list(SORT known COMPARE NATURAL)
    list(GET known -1 newest)

    set(wanted "${TORCH_CUDA_ARCH_LIST}")
    string(REGEX REPLACE "[ ,]+" ";" wanted "${wanted}")
    if(wanted STREQUAL "native" OR wanted STREQUAL "")
        if(gpus)
            set(wanted ${gpus})
        elseif(OPS_NATIVE OR wanted STREQUAL "native")
            set(wanted 9.0)    # one architecture, which shows whether everything compiles
        else()                 # a binary for X.0 runs on every GPU of major version X, PTX on newer ones
            set(wanted ${known})
            list(FILTER wanted INCLUDE REGEX "^([89]|[0-9][0-9])0$")
            if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
                list(REMOVE_ITEM wanted 110)   # Jetson Thor, whose processor is an Arm
            endif()
            list(TRANSFORM wanted REPLACE "0$" ".0")
            list(TRANSFORM wanted APPEND +PTX AT -1)
        endif()
    endif()

    foreach(name_and_archs "Ampere=8.0 8.6+PTX" "Ada=8.9+PTX" "Hopper=9.0+PTX" "Blackwell=10.0 10.3 12.0 12.1+PTX")
        string(REPLACE "=" ";" name_and_archs "${name_and_archs}")
        list(GET name_and_archs 0 name)
        list(GET name_and_archs 1 archs)
        string(REPLACE " " ";" archs "${archs}")
        list(TRANSFORM wanted REPLACE "^${name}$" "${archs}")
    endforeach()
    foreach(arch IN LISTS wanted)
        if(NOT arch MATCHES "^([0-9]+)\\.([0-9])([af]?)(\\+PTX)?$")
            message(FATAL_ERROR "TORCH_CUDA_ARCH_LIST has \"${arch}\": expected entries such as 8.0, 9.0a, 9.0+PTX, Hopper or native.")
        endif()
        set(number ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
        set(suffix ${CMAKE_MATCH_3})
        set(ptx ${CMAKE_MATCH_4})
        if(NOT number IN_LIST known OR number LESS 80)
            list(JOIN known ", " text)
            message(FATAL_ERROR "${nvcc} ${nvcc_version} or ${namespace} cannot build for compute capability ${arch}: it knows ${text}, and 80 is the oldest here.")
        endif()
        list(APPEND cuda_archs ${number}${suffix}${ptx})
    endforeach()
    list(REMOVE_DUPLICATES cuda_archs)

    set(nvcc_archs "")
    foreach(arch IN LISTS cuda_archs)
        string(REPLACE "+PTX" "" number ${arch})
        list(APPEND nvcc_archs -gencode=arch=compute_${number},code=sm_${number})
        if(arch MATCHES "PTX")
            list(APPEND nvcc_archs -gencode=arch=compute_${number},code=compute_${number})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES nvcc_archs)
    # A mistake in a body is one for each choice of dtypes and params: of these errors the first four are enough.
    set(nvcc_command ${nvcc} -fatbin -std=c++17 -O3 --expt-relaxed-constexpr -Xcudafe --error_limit=4)
    if(nvcc_version VERSION_GREATER_EQUAL 13.0)
        # A fifth of the size; every driver for CUDA 13 can unpack it.
        list(APPEND nvcc_command --compress-mode=size)
        if(OPS_NATIVE)
            # The kernels of a unit side by side: an edited body is waited for. What comes of it is a little larger, and
            # not the same each time, as a wheel has to be.
            list(APPEND nvcc_command --split-compile=0)
        endif()
    endif()
    if(NOT "$ENV{CUDAHOSTCXX}" STREQUAL "")
        list(APPEND nvcc_command -ccbin $ENV{CUDAHOSTCXX})
    endif()

    # One trial, remembered: nvcc needs a C++ compiler that it accepts, if only for its preprocessor.
    set(trial "${nvcc_command};${nvcc_version}")
    if(NOT "${OPS_NVCC_WORKS}" STREQUAL "${trial}")
        file(WRITE ${CMAKE_BINARY_DIR}/cuda/trial.cu "#include <cuda_bf16.h>\n__global__ void trial() {}\n")
        execute_process(COMMAND ${nvcc_command} -arch=sm_${newest} -o trial.fatbin trial.cu
            WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/cuda RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
        if(failed)
            string(REGEX REPLACE "\n.*" "" text "${text}")
            message(FATAL_ERROR "${nvcc} ${nvcc_version} does not compile (${text}): set CUDAHOSTCXX to a C++ compiler that it accepts, or ${prefix}_CUDA=OFF.")
        endif()
        set(OPS_NVCC_WORKS "${trial}" CACHE INTERNAL "")
    endif()
    # The oldest driver that loads what was built, as NVIDIA's release notes have it: that of the first release with the
    # same major version ("minor version compatibility"). PTX needs one for the very release.
    string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" release "${nvcc_version}")
    set(driver "for CUDA ${CMAKE_MATCH_1}.0")
    set(driver_12 525.60.13)
    set(driver_13 580.65.06)
    if(DEFINED driver_${CMAKE_MATCH_1})
        set(driver ${driver_${CMAKE_MATCH_1}})
    endif()
    math(EXPR release "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
    # What was built, the architectures as TORCH_CUDA_ARCH_LIST writes them, for this line and for errors.
    list(TRANSFORM cuda_archs REPLACE "^([0-9]+)([0-9])" "\\1.\\2")
    list(JOIN cuda_archs " " text)
    message(STATUS "CUDA: ${nvcc} ${nvcc_version}, architectures ${text}, driver ${driver} or newer")
    set_source_files_properties(${runtime}/cuda_launch.c PROPERTIES COMPILE_DEFINITIONS
        "CUDA_ARCHITECTURES=\"${text}\";CUDA_RELEASE=${release};CUDA_OLDEST_DRIVER=\"${driver}\"")
endif()

# cuda_unit(<op> [FULL] [ARCH <oldest>] [<flag of nvcc>...])
# Compiles generated/cuda/<op>.cu once for each CUDA_UNIT in it, side by side, for those of the architectures that are at
# least <oldest>, and defines the hidden symbols <op>_fatbin_<unit>: their bytes, or 16 zeros without any. With FULL it
# has host code too: see cuda_full_unit.
function(cuda_unit op)
    cmake_parse_arguments(PARSE_ARGV 1 unit FULL ARCH "")
    set(archs "")
    foreach(arch IN LISTS nvcc_archs)
        string(REGEX MATCH "compute_([0-9]+)" number "${arch}")
        if(NOT unit_ARCH OR NOT CMAKE_MATCH_1 LESS unit_ARCH)
            list(APPEND archs ${arch})
        endif()
    endforeach()
    if(unit_FULL)
        cuda_full_unit(${op} "${archs}" "${unit_UNPARSED_ARGUMENTS}")
        return()
    endif()
    set(source ${CMAKE_SOURCE_DIR}/generated/cuda/${op}.cu)
    file(STRINGS ${source} units REGEX "^#if CUDA_UNIT == ")
    list(TRANSFORM units REPLACE "^#if CUDA_UNIT == " "")
    foreach(unit IN LISTS units)
        set(name ${op}_fatbin_${unit})
        set(embed ${CMAKE_BINARY_DIR}/cuda/${name}.c)
        set(text "/* Written by CMake. */\nextern const unsigned char ${name}[];\n")
        if(archs)
            set(fatbin ${CMAKE_BINARY_DIR}/cuda/${op}_${unit}.fatbin)
            add_custom_command(OUTPUT ${fatbin}
                COMMAND ${nvcc_command} ${archs} ${unit_UNPARSED_ARGUMENTS} -DCUDA_UNIT=${unit}
                        -I${CMAKE_SOURCE_DIR}/generated/cuda -I${CMAKE_SOURCE_DIR}/generated/c
                        -I${CMAKE_SOURCE_DIR}/csrc/device -MD -MF ${fatbin}.d -MT ${fatbin} -o ${fatbin} ${source}
                DEPENDS ${source} generated_is_current DEPFILE ${fatbin}.d COMMENT "nvcc ${op}.cu, unit ${unit}" VERBATIM)
            string(APPEND text "__asm__(\".section .rodata\\n.balign 16\\n.globl ${name}\\n.hidden ${name}\\n\"
        \".type ${name}, %object\\n${name}:\\n.incbin \\\"${fatbin}\\\"\\n\"
        \".size ${name}, . - ${name}\\n.previous\\n\");\n")
            set_source_files_properties(${embed} PROPERTIES OBJECT_DEPENDS ${fatbin})
        else()
            string(APPEND text "const unsigned char ${name}[16] = {0};\n")
        endif()
        file(CONFIGURE OUTPUT ${embed} CONTENT "${text}" @ONLY)
        target_sources(operators PRIVATE ${embed})
    endforeach()
endfunction()

# An operator with host code of its own: nvcc makes a whole object of generated/cuda/<op>.cu, which is linked with the
# static CUDA runtime. Nothing of that runtime is exported, so that it never meets the one that PyTorch has loaded. It
# leaves CUDA alone until it is called. Where there is nothing to compile for, <op>__full_cuda says so.
function(cuda_full_unit op archs flags)
    if(NOT archs)
        set(stub ${CMAKE_BINARY_DIR}/cuda/${op}_missing.c)
        file(CONFIGURE OUTPUT ${stub} @ONLY CONTENT
"/* Written by CMake. */
#include \"launch.h\"

bool ${op}__full_cuda(const cuda_context *ctx, const void *call);

bool ${op}__full_cuda(const cuda_context *ctx, const void *call) {
    (void)call;
    return custom_missing(ctx);
}
")
        target_sources(operators PRIVATE ${stub})
        return()
    endif()
    set(source ${CMAKE_SOURCE_DIR}/generated/cuda/${op}.cu)
    set(object ${CMAKE_BINARY_DIR}/cuda/${op}.o)
    string(REPLACE "-fatbin" "-c" command "${nvcc_command}")
    add_custom_command(OUTPUT ${object}
        COMMAND ${command} ${archs} ${flags} -cudart static
                -Xcompiler=-fPIC,-fvisibility=hidden,-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
                -I${CMAKE_SOURCE_DIR}/generated/cuda -I${CMAKE_SOURCE_DIR}/generated/c -I${CMAKE_SOURCE_DIR}/csrc/device
                -I${CMAKE_SOURCE_DIR}/csrc/runtime -MD -MF ${object}.d -MT ${object} -o ${object} ${source}
        DEPENDS ${source} generated_is_current DEPFILE ${object}.d COMMENT "nvcc ${op}.cu, with host code" VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    target_sources(operators PRIVATE ${object})
    get_property(linked TARGET operators PROPERTY CUDA_RUNTIME_LINKED)
    if(NOT linked)
        # nvcc may be a script or a link to the real one, which knows where its toolkit is.
        file(WRITE ${CMAKE_BINARY_DIR}/cuda/trial.cu "__global__ void trial() {}\n")
        execute_process(COMMAND ${nvcc} --dryrun trial.cu WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/cuda ERROR_VARIABLE text)
        string(REGEX MATCH "TOP=([^\n]+)" text "${text}")
        cmake_path(SET toolkit NORMALIZE "${CMAKE_MATCH_1}")
        find_library(OPS_CUDART libcudart_static.a NO_DEFAULT_PATH DOC "The static CUDA runtime"
            HINTS ${toolkit} ENV CUDA_HOME ENV CUDA_PATH
            PATH_SUFFIXES lib64 lib targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib targets/sbsa-linux/lib ../cuda_runtime/lib)
        if(NOT OPS_CUDART)
            message(FATAL_ERROR "The operator ${op} has host code (full_cuda), and there is no libcudart_static.a in ${toolkit}: install the CUDA runtime for development and set CUDA_HOME, or ${prefix}_CUDA=OFF.")
        endif()
        target_link_libraries(operators PRIVATE ${OPS_CUDART} stdc++ pthread rt)
        target_link_options(operators PRIVATE LINKER:--exclude-libs,libcudart_static.a)
        set_property(TARGET operators PROPERTY CUDA_RUNTIME_LINKED TRUE)
    endif()
endfunction()

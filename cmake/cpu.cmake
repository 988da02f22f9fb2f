# CPU bodies: csrc/<op>.c is compiled once per choice of dtypes and instruction-set level. The host function picks the
# best level of the running processor; CPU_HAVE_<LEVEL> tells it which ones are in this library.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(cpu_levels v2 v3 v4)   # the levels of the x86-64 psABI
    set(cpu_flags_v2 -march=x86-64-v2)
    set(cpu_flags_v3 -march=x86-64-v3)
    set(cpu_flags_v4 -march=x86-64-v4)
    if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 11)
       OR (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 12))
        message(FATAL_ERROR "${namespace} needs gcc 11 or clang 12, and ${CMAKE_C_COMPILER} is version ${CMAKE_C_COMPILER_VERSION}: set CC.")
    endif()
    if(OPS_NATIVE)
        file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
        if(flags MATCHES " avx512f" AND flags MATCHES " avx512bw" AND flags MATCHES " avx512cd"
           AND flags MATCHES " avx512dq" AND flags MATCHES " avx512vl")
            set(cpu_levels v4)
        elseif(flags MATCHES " avx2" AND flags MATCHES " bmi2" AND flags MATCHES " f16c" AND flags MATCHES " fma"
               AND flags MATCHES " movbe" AND flags MATCHES " abm")
            set(cpu_levels v3)
        else()
            set(cpu_levels v2)
        endif()
    endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(cpu_levels base)       # every aarch64 has the same vectors
    set(cpu_flags_base "")
else()
    message(FATAL_ERROR "${namespace} builds for x86-64 and aarch64, and this is ${CMAKE_SYSTEM_PROCESSOR}.")
endif()
list(JOIN cpu_levels ", " text)
message(STATUS "CPU: ${CMAKE_SYSTEM_PROCESSOR}, levels ${text}")

foreach(level IN LISTS cpu_levels)
    string(TOUPPER "CPU_HAVE_${level}" have)
    target_compile_definitions(operators PRIVATE ${have}=1)
endforeach()

# Bodies round alike under every compiler: products and sums are not contracted. Nobody reads errno after sqrt or the
# exception flags after floor, which otherwise keep these from being one instruction.
set(cpu_flags -ffp-contract=off -fno-math-errno -fno-trapping-math)

# cpu_unit(<op> <kernels> <choice>...)
# A choice names a dtype for each variable, "T=float32 I=int64". The kernels are the functions that the unit defines;
# each becomes <kernel>__float32_int64__v3, or <kernel>__v3 where there is no variable: then the one choice is empty.
function(cpu_unit op kernels)
    set(choices "${ARGN}")
    if(choices STREQUAL "")
        set(choices none)   # CMake drops an empty entry of a list
    endif()
    foreach(choice IN LISTS choices)
        string(REPLACE " " ";" pairs "${choice}")
        list(FILTER pairs INCLUDE REGEX "=")
        set(dtypes "")
        set(defines "")
        foreach(pair IN LISTS pairs)
            string(REPLACE "=" ";" pair "${pair}")
            list(GET pair 0 variable)
            list(GET pair 1 dtype)
            string(APPEND dtypes _${dtype})
            string(APPEND defines "#define ${variable}_DTYPE ${dtype}\n")
        endforeach()
        if(NOT dtypes STREQUAL "")
            set(dtypes _${dtypes})
        endif()
        foreach(level IN LISTS cpu_levels)
            set(unit ${CMAKE_BINARY_DIR}/cpu/${op}${dtypes}__${level}.c)
            file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT
"/* Written by CMake: ${kernels}. */
${defines}#define CPU_SYMBOL(kernel) kernel##${dtypes}__${level}
#include \"${op}.cpu.c\"
")
            set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS "${cpu_flags};${cpu_flags_${level}}")
            target_sources(operators PRIVATE ${unit})
        endforeach()
    endforeach()
endfunction()

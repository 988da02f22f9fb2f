# cmake -DROOT=<repository> -P check_generated.cmake
# Compares ops.yaml and every generated file with generated/SHA256SUMS, and fails with one line about the first that
# disagrees. A build never regenerates by itself: what is reviewed and what is built stay the same files.
function(refuse text)
    message("${text}")
    if(CMAKE_VERSION VERSION_LESS 3.29)
        message(FATAL_ERROR " ")   # the only way to fail there, and it adds a line of its own
    endif()
    cmake_language(EXIT 1)
endfunction()

macro(disagree text)
    refuse("${text}: run `make generate`")
endmacro()

if("${ROOT}" MATCHES "[][*?;\"\\]")   # CMake takes them for patterns and lists, also where it is given a path
    refuse("CMake cannot build in ${ROOT}: the path has one of [ ] * ? ; \" or a backslash; move the folder")
endif()

if(NOT EXISTS ${ROOT}/generated/SHA256SUMS)
    disagree("generated/SHA256SUMS is missing")
endif()
file(STRINGS ${ROOT}/generated/SHA256SUMS lines)
foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([0-9a-f]+) [ *](.+)$")
        disagree("generated/SHA256SUMS has a line that is no checksum")
    endif()
    set(expected ${CMAKE_MATCH_1})
    set(path ${CMAKE_MATCH_2})
    list(APPEND listed ${path})
    if(NOT EXISTS ${ROOT}/${path})
        disagree("${path} is missing")
    endif()
    file(SHA256 ${ROOT}/${path} actual)
    if(actual STREQUAL expected)
        continue()
    elseif(path STREQUAL "ops.yaml")
        disagree("ops.yaml has changed since generated/ was written")
    else()
        disagree("${path} is not what the generator wrote")
    endif()
endforeach()

# What is packaged must be listed too: a left-over module of a removed operator would be installed.
cmake_policy(SET CMP0009 NEW)   # not below links: those lead to modules that are written by hand
file(GLOB_RECURSE modules RELATIVE ${ROOT} ${ROOT}/generated/*.py)
list(REMOVE_ITEM modules ${listed})
list(FILTER modules EXCLUDE REGEX "^generated/[^/]+/_references\\.py$")   # tests/references.py, which the build puts there
if(modules)
    list(GET modules 0 path)
    disagree("${path} belongs to no operator")
endif()

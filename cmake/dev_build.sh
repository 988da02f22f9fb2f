#!/bin/sh
# The development build, for `make build` and `pip install -e .`: this machine's processor and GPU only, in build/dev,
# and the library put beside the Python files in generated/<namespace>, with links to those of python/. CMAKE and NINJA
# may name those programs.
set -eu
cd "$(dirname "$0")/.."
CMAKE=${CMAKE:-cmake}
NINJA=${NINJA:-ninja}
dir=build/dev

mkdir -p $dir
exec 9>build/dev.lock   # two builds at once take turns
flock 9

"$CMAKE" -DROOT="$PWD" -P cmake/check_generated.cmake

# Configure once, and again only when a setting changed. A new compiler, new flags or a moved checkout
# need a new folder. pip says gcc where the command line says nothing, and both are often one program.
set -- ${CC:-cc}
command -v "$1" >/dev/null || { echo "no C compiler: there is no $1; install gcc or clang, or set CC" >&2; exit 1; }
program=$(readlink -f "$(command -v "$1")")
shift
compiler="$PWD $program $* ${CFLAGS:-}"
if [ "$compiler" != "$(cat $dir/compiler.txt 2>/dev/null)" ]; then
    rm -rf $dir
    mkdir -p $dir
    echo "$compiler" >$dir/compiler.txt
fi
# What configured this folder goes on with it, as long as it exists: pip often finds another CMake than `make build` uses,
# and another version compiles everything again.
if [ -f $dir/settings.txt ]; then
    { read -r cmake && read -r ninja; } <$dir/settings.txt || true
    if [ -x "$cmake" ] && [ -x "$ninja" ]; then
        CMAKE=$cmake
        NINJA=$ninja
    fi
fi
namespace=$(sed -n 's/^set(OPS_NAMESPACE \(.*\))$/\1/p' generated/ops.cmake)
switch=$(echo "${namespace}_CUDA" | tr '[:lower:]' '[:upper:]')
cuda=$(printenv "$switch" || true)
settings="$CMAKE
$NINJA
$cuda ${TORCH_CUDA_ARCH_LIST:-} ${CUDACXX:-} ${CUDAHOSTCXX:-} ${CUDA_HOME:-} \
${CUDA_PATH:-} $(command -v nvcc || true) $(ls -d "${VIRTUAL_ENV:-}"/lib/python3*/site-packages/nvidia/cu*/bin 2>/dev/null || true) \
$(ls -d "${VIRTUAL_ENV:-}"/lib/python3*/site-packages/triton-*.dist-info 2>/dev/null || true)"
if [ ! -f $dir/build.ninja ] || [ "$settings" != "$(cat $dir/settings.txt 2>/dev/null)" ]; then
    rm -f $dir/settings.txt   # if configuring fails, the next build must try again
    "$CMAKE" -S . -B $dir -G Ninja -DCMAKE_MAKE_PROGRAM="$NINJA" -DOPS_NATIVE=ON \
        -D"$switch=$cuda" -DTORCH_CUDA_ARCH_LIST="${TORCH_CUDA_ARCH_LIST:-}" -UOPS_NVCC
    echo "$settings" >$dir/settings.txt
fi

"$NINJA" -C $dir ${MAX_JOBS:+-j "$MAX_JOBS"}

# Copied under another name and renamed: a killed build leaves no half of a library, and a running process keeps its own.
for library in "$namespace.so" _C.abi3.so; do
    place=generated/$namespace/$library
    if [ ! -e "$dir/$library" ]; then
        rm -f "$place"   # the direct module, where Python's headers are missing
    elif ! cmp -s "$dir/$library" "$place"; then
        cp "$dir/$library" "$place.new"
        mv "$place.new" "$place"
    fi
done

# Python modules that are written by hand stand beside the generated ones; a wheel takes them as pyproject.toml says.
for module in python/[a-z]*/; do
    [ -d "$module" ] && ln -sfn "../../${module%/}" "generated/$namespace/$(basename "$module")"
done
# So do the references that check_calls compares with.
[ -f tests/references.py ] && ln -sfn ../../tests/references.py "generated/$namespace/_references.py"
find "generated/$namespace" -maxdepth 1 -xtype l -delete   # links to what was removed

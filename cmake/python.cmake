# The Python whose headers the direct module takes, and in which Triton compiles kernels.
#
#   Python3_EXECUTABLE   without it that which runs pip, as setup.py says, that of the virtual environment, or python3 of
#                        PATH
if(NOT Python3_EXECUTABLE AND NOT "$ENV{OPS_PYTHON}" STREQUAL "")
    set(Python3_EXECUTABLE $ENV{OPS_PYTHON})
endif()
set(folders $ENV{VIRTUAL_ENV} $ENV{VENV})   # a hint that is empty would be /bin
list(TRANSFORM folders APPEND /bin)
find_program(Python3_EXECUTABLE NAMES python3 python HINTS ${folders})

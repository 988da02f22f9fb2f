/* Everything that a generated host function uses. */
#ifndef RUNTIME_HOST_H
#define RUNTIME_HOST_H

#include <math.h> /* pow and fabs of printed expressions */

#include "arith.h"
#include "boxed.h"
#include "cpu.h"
#include "cuda.h"
#include "dtype.h"
#include "error.h"
#include "tensor.h"

#endif

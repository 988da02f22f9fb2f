/* Everything that a generated host function uses.
 *
 * Each is cut into the same steps, in the order in which <op>_run takes them: check the arguments and give the names of
 * the spec their values, allocate outputs, copy inputs that lie otherwise than their body wants, stop when there is
 * nothing to do, then on one of the two devices prepare what depends on the hardware, plan every pass and run the
 * passes. <op>_boxed, which PyTorch calls, stands around that: it takes the arguments, releases them, hands results
 * back and, as its last act, raises. */
#ifndef RUNTIME_HOST_H
#define RUNTIME_HOST_H

#include <math.h> /* pow and fabs of printed expressions */

#include "argument.h"
#include "arith.h"
#include "boxed.h"
#include "cpu.h"
#include "cuda.h"
#include "custom.h"
#include "dtype.h"
#include "dynamic.h"
#include "elementwise.h"
#include "error.h"
#include "fill.h"
#include "layout.h"
#include "list.h"
#include "made_list.h"
#include "output.h"
#include "overlap.h"
#include "star.h"
#include "tensor.h"
#include "triton.h"
#include "values.h"
#include "written.h"

#endif

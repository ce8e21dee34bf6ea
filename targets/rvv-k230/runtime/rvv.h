// What kernels see: the vector intrinsics of the compiler, and what kernels of all families with
// functions see.
#pragma once
#include <riscv_vector.h>
#include "kernel.h"

// What kernels see: the vector intrinsics of the compiler, and what kernels of all families with
// functions see.
#pragma once
// Reading them takes longer than all else of a small kernel: those that name none do without.
#ifdef AUTOCOMP_WITH_RISCV_VECTOR_H
#include <riscv_vector.h>
#endif
#include "kernel.h"

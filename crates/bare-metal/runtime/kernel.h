/* What every kernel sees whose target brings no header of its own. */
#pragma once
#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

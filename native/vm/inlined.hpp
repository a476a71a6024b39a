// For lambdas in inner loops: what they share stays in registers only if all of them are part of the function around
// them.
#pragma once

#define INLINED __attribute__((always_inline))

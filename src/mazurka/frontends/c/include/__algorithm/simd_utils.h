// In place of libc++'s header of this name: algorithms look at one element after the other, as they are written.
#ifndef _LIBCPP___ALGORITHM_SIMD_UTILS_H
#define _LIBCPP___ALGORITHM_SIMD_UTILS_H

#define _LIBCPP_HAS_ALGORITHM_VECTOR_UTILS 0
#define _LIBCPP_VECTORIZE_ALGORITHMS 0

#endif

// RENAR_CLONES: the same plain loops, compiled once for each instruction set and chosen at run
// time.
//
//   RENAR_CLONES void add(Real* out, const Real* a, std::int64_t n) { for (...) out[i] += a[i]; }
//
// For elementwise loops this is all the SIMD they need; the compiler contracts no multiply-add
// (-ffp-contract=off), so every clone gives the same bits. Not under sanitizers, whose start-up
// comes after the loader has already chosen.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RENAR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define RENAR_CLONES
#endif

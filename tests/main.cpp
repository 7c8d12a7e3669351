// All doctest cases of tests/**/*_test.cpp in one program.
//
//   build/release/renar_tests [--test-case='*layer_norm*']
//
// A case that cannot run on this machine prints one line `SKIPPED <what>: <why>` and returns: make
// test counts those lines.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// Where the tests find the tree's data: beside the sources or, where the test program was carried
// to another machine (make dist), in the folder that the environment names.
#pragma once

#include <cstdlib>
#include <string>

namespace renar::test {

inline std::string source_dir() {
  const char* elsewhere = std::getenv("RENAR_SOURCE_DIR");
  return elsewhere != nullptr ? elsewhere : RENAR_SOURCE_DIR;
}

}  // namespace renar::test

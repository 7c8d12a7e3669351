// What every main shares: errors become one line on stderr and an exit status.
//   0 done, 1 the work failed, 2 the call was wrong, 130 stopped by the user
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <new>
#include <string>

#include "core/check.h"

namespace renar {

inline int guarded_main(const std::function<int()>& body) {
  try {
    return body();
  } catch (const UsageError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "error: out of memory: a smaller --batch or --hidden needs less\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

/// Parses the command line, then runs `work`. --help and --version print and return 0.
inline int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<int()>& work) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::string line = error.what();
    for (char& c : line) c = c == '\n' ? ' ' : c;
    throw UsageError(line + "; --help lists what is valid");
  }
  return work();
}

}  // namespace renar

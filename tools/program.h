// What every main shares: errors become one line on stderr and an exit status.
//   0 done, 1 the work failed, 2 the call was wrong, 130 stopped by the user
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/device.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/text.h"
#include "trainer/settings.h"

namespace renar {

constexpr int kStoppedByUser = 130;

/// Makes sure that all that was printed arrived: a full disk behind `> file` is an error.
inline void flush_out() {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  RENAR_CHECK(written, "cannot write to standard output");
}

/// Prints at once, for whoever waits.
inline void print_out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush_out();
}

/// A descriptor 0, 1 or 2 that was closed would be given to the next file that is opened, and what
/// is printed would go there.
inline void open_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) == -1) open("/dev/null", O_RDWR);  // takes the lowest that is free: fd
  }
}

/// Whether computing on a device of that name, as --device has it, takes a GPU.
inline bool takes_gpu(const std::string& device) {
  return device == "cuda" || (device == "auto" && find_device(device) == Device::kCuda);
}

/// Throws UsageError unless a file that is yet to be made can be written, if there is to be one:
/// better said now than after an hour's work.
inline void check_writable(const std::optional<std::string>& path, const char* flag) {
  if (!path) return;
  RENAR_USAGE(!path->empty(), "{} must not be empty", flag);
  try {
    check_replaceable(*path);
  } catch (const Error& error) {
    throw UsageError(message_of("{}: {}", flag, error.what()));
  }
}

/// What went wrong, in one line.
inline void print_error(const char* what) {
  std::fprintf(stderr, "error: %s\n", one_line(what).c_str());
}

inline int guarded_main(const std::function<int()>& body) {
  open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` is an error of write() then
  keep_freed_memory();
  try {
    const int status = body();
    flush_out();
    return status;
  } catch (const UsageError& error) {
    print_error(error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "error: %s\n", kOutOfMemory);
    return 1;
  } catch (const std::exception& error) {
    print_error(error.what());
    return 1;
  }
}

/// The subcommands of an app by name, and the long flags of an app with their hyphens.
inline std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}
inline std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The words of a call `program SUBCOMMAND --flag ..`, in CLI11's order (the last first), with
/// hyphens in flags where the reference writes underscores. Throws UsageError, with the nearest
/// match and all that is valid, for a subcommand or a flag that is not there.
inline std::vector<std::string> checked_words(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const CLI::App* command = &app;
  if (!words.empty() && !words[0].starts_with("-")) {
    const std::vector<std::string> names = subcommands_of(app);
    RENAR_USAGE(!names.empty(), "unexpected word \"{}\"; --help lists what is valid", words[0]);
    RENAR_USAGE(std::find(names.begin(), names.end(), words[0]) != names.end(),
                "unknown subcommand \"{}\"; did you mean {}? Valid: {}", words[0],
                nearest_match(words[0], names), join(names));
    command = app.get_subcommand(words[0]);
  }
  const std::vector<std::string> flags = flags_of(*command);
  for (std::string& word : words) {
    if (!word.starts_with("--")) continue;
    const std::string flag = with_hyphens(word.substr(0, word.find('=')));
    RENAR_USAGE(std::find(flags.begin(), flags.end(), flag) != flags.end(),
                "unknown flag {}; did you mean {}? Valid: {}", flag, nearest_match(flag, flags),
                join(flags));
    word.replace(0, flag.size(), flag);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

/// Parses the command line, then runs `work`. --help and --version print and return 0.
inline int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<int()>& work) {
  try {
    app.parse(checked_words(app, argc, argv));
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

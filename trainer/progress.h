// What a person sees while a run trains. On a terminal one live line on stderr, rewritten in place:
//
//   step 1250/10000  loss 3.214  val 0.853  12.5 steps/s  11 min 40 s left
//
// Not a terminal: the same as a plain line after each validation and every half minute. Quiet:
// nothing. The speed is the mean of the last 500 to 1000 steps, validations and saves included; it
// is not known before each length of training has had its step. After the steps the same for the
// tests. A stream that nobody reads any more, or a full one, stops nothing. Results go to stdout
// and are not this file's affair.
#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace renar {

/// A line on stderr, beside the result. What goes wrong with that stops no work.
void tell(std::string_view line);

/// "12 s", "3 min 20 s", "2 h 05 min", "3 d 4 h".
std::string human_time(double seconds);

/// What the line says.
struct ProgressState {
  int done = 0;   // steps, those of earlier calls included
  int total = 0;  // steps
  std::optional<double> loss = {};
  std::optional<double> val_score = {};
  double steps_per_second = 0;  // 0: not known yet
};

/// The line in at most `width` characters; what does not fit is left out, steps/s first.
std::string progress_line(const ProgressState& state, int width);

struct ProgressOptions {
  int first_step = 0;  // steps done before this call
  int total_steps = 0;
  int round = 1;  // steps that have each length of training once
  bool quiet = false;
  bool terminal = false;
  std::FILE* stream = stderr;
  std::function<double()> clock = {};  // seconds; empty: the system's steady clock
};

/// The options for this process: terminal where stderr is one.
ProgressOptions progress_on_stderr(int first_step, int total_steps, int round, bool quiet);

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  /// Ends the live line, so that what is printed next starts on its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After each step; `done` counts from 1. Draws at most ten times a second.
  void step(int done, double loss);
  /// After each validation.
  void validation(double score);
  /// While a test set is scored, `done` of its samples.
  void test(std::string_view algorithm, int length, int done, int samples);
  /// A line of its own, above the live line.
  void note(std::string_view text);
  /// Ends the live line and leaves it standing.
  void finish();

 private:
  struct Mark {
    int step;
    double time;
  };
  void measure(Mark now);
  void draw();
  void draw_if_due();
  std::string line(int width) const;
  void print_line(std::string_view text);
  void write(const std::string& text);

  ProgressOptions options_;
  ProgressState state_;
  std::string test_;   // what is said of the test set, once the tests have begun
  Mark since_, next_;  // the speed is the mean since the first; the next is to take its place
  double last_draw_ = 0;
  bool live_ = false;  // a live line stands on the terminal
};

}  // namespace renar

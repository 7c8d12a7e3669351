#include "trainer/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainLineSeconds = 30;
constexpr int kWindow = 500;  // steps
constexpr const char* kEraseLine = "\r\x1b[K";

int width_of(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

void tell(std::string_view line) {
  const std::string text = one_line(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string human_time(double seconds) {
  const long long s = std::llround(std::clamp(seconds, 0.0, 1e12));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
}

std::string progress_line(const ProgressState& state, int width) {
  std::vector<std::string> parts = {fmt::format("step {}/{}", state.done, state.total)};
  if (state.loss) parts.push_back(fmt::format("loss {:.4g}", *state.loss));
  if (state.val_score) parts.push_back(fmt::format("val {:.3f}", *state.val_score));
  const std::size_t speed = parts.size();
  if (state.steps_per_second > 0) {
    const double left = (state.total - state.done) / state.steps_per_second;
    parts.push_back(fmt::format("{:.3g} steps/s", state.steps_per_second));
    parts.push_back(human_time(left) + " left");
  }
  const auto fits = [&] { return join(parts, "  ").size() <= static_cast<std::size_t>(width); };
  if (!fits() && speed < parts.size()) parts.erase(parts.begin() + static_cast<long>(speed));
  while (!fits() && parts.size() > 1) parts.pop_back();
  return join(parts, "  ").substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

ProgressOptions progress_on_stderr(int first_step, int total_steps, int round, bool quiet) {
  return {.first_step = first_step,
          .total_steps = total_steps,
          .round = round,
          .quiet = quiet,
          .terminal = isatty(STDERR_FILENO) == 1};
}

Progress::Progress(ProgressOptions options) : options_(std::move(options)) {
  if (!options_.clock) options_.clock = seconds_now;
  state_.done = options_.first_step;
  state_.total = options_.total_steps;
  last_draw_ = options_.clock();
  since_ = next_ = {state_.done, last_draw_};
}

Progress::~Progress() { finish(); }

void Progress::step(int done, double loss) {
  state_.done = done;
  state_.loss = loss;
  measure({done, options_.clock()});
  draw_if_due();
}

// At the ends of rounds alone: a step with 16 nodes takes twenty times as long as one with 4.
void Progress::measure(Mark now) {
  if ((now.step - options_.first_step) % options_.round != 0 || now.time <= since_.time) return;
  state_.steps_per_second = (now.step - since_.step) / (now.time - since_.time);
  if (now.step - next_.step >= kWindow) since_ = std::exchange(next_, now);
}

void Progress::validation(double score) {
  state_.val_score = score;
  draw();
}

void Progress::note(std::string_view text) {
  if (options_.quiet) return;
  const bool redraw = live_;
  print_line(text);
  if (redraw) draw();
}

void Progress::test(std::string_view algorithm, int length, int done, int samples) {
  if (test_.empty()) finish();
  test_ = fmt::format("test of {}, n = {}  {}/{} samples", algorithm, length, done, samples);
  const bool begins = done == 0 && options_.terminal;
  begins ? draw() : draw_if_due();
}

void Progress::finish() {
  if (!live_) return;
  draw();
  write("\n");
  live_ = false;
}

void Progress::draw_if_due() {
  const double pause = options_.terminal ? kRedrawSeconds : kPlainLineSeconds;
  if (options_.clock() - last_draw_ >= pause) draw();
}

void Progress::draw() {
  if (options_.quiet) return;
  last_draw_ = options_.clock();
  if (!options_.terminal) {
    print_line(line(1000));
    return;
  }
  // One column stays free: a full line would make some terminals wrap.
  write(kEraseLine + line(width_of(options_.stream) - 1));
  live_ = true;
}

std::string Progress::line(int width) const {
  return test_.empty() ? progress_line(state_, width)
                       : test_.substr(0, static_cast<std::size_t>(std::max(width, 0)));
}

void Progress::print_line(std::string_view text) {
  write(fmt::format("{}{}\n", live_ ? kEraseLine : "", text));
  live_ = false;
}

// Whether it arrived is not asked.
void Progress::write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), options_.stream);
  std::fflush(options_.stream);
}

}  // namespace renar

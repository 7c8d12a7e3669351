// The progress line: its words, its width, and when it is printed.
#include "trainer/progress.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

namespace renar::progress_test {
namespace {

// What a Progress prints under a clock that the test moves.
struct Recorder {
  std::FILE* stream = std::tmpfile();
  double now = 100;

  ~Recorder() { std::fclose(stream); }
  ProgressOptions options(bool terminal) {
    return {.first_step = 10,
            .total_steps = 30,
            .terminal = terminal,
            .stream = stream,
            .clock = [this] { return now; }};
  }
  std::string text() const {
    std::string text(static_cast<std::size_t>(std::ftell(stream)), ' ');
    std::rewind(stream);
    text.resize(std::fread(text.data(), 1, text.size(), stream));
    return text;
  }
};

TEST_CASE("progress: times as people say them") {
  CHECK(human_time(0) == "0 s");
  CHECK(human_time(59.4) == "59 s");
  CHECK(human_time(59.6) == "1 min 00 s");
  CHECK(human_time(200) == "3 min 20 s");
  CHECK(human_time(7500) == "2 h 05 min");
  CHECK(human_time(3 * 86400 + 4 * 3600) == "3 d 4 h");
  CHECK(human_time(-1) == "0 s");
}

TEST_CASE("progress: the line fits the width and loses the least important first") {
  const ProgressState state = {
      .done = 1250, .total = 10000, .loss = 3.2141, .val_score = 0.8534, .steps_per_second = 12.5};
  CHECK(progress_line(state, 80) ==
        "step 1250/10000  loss 3.214  val 0.853  12.5 steps/s  11 min 40 s left");
  CHECK(progress_line(state, 60) == "step 1250/10000  loss 3.214  val 0.853  11 min 40 s left");
  CHECK(progress_line(state, 40) == "step 1250/10000  loss 3.214  val 0.853");
  CHECK(progress_line(state, 20) == "step 1250/10000");
  CHECK(progress_line(state, 6) == "step 1");
  CHECK(progress_line(state, 0).empty());
  CHECK(progress_line({.done = 0, .total = 5}, 80) == "step 0/5");
}

TEST_CASE("progress: a file gets a line a validation and one every half minute") {
  Recorder recorder;
  {
    Progress progress(recorder.options(/*terminal=*/false));
    for (int done = 11; done <= 14; ++done) {
      recorder.now += 10;
      progress.step(done, 2.5);
    }
    progress.validation(0.5);
    progress.note("saved");
  }
  CHECK(recorder.text() ==
        "step 13/30  loss 2.5  0.1 steps/s  2 min 50 s left\n"
        "step 14/30  loss 2.5  val 0.500  0.1 steps/s  2 min 40 s left\n"
        "saved\n");
}

TEST_CASE("progress: the speed is known after a round, and forgets what is long past") {
  Recorder recorder;
  {
    ProgressOptions options = recorder.options(/*terminal=*/false);
    options.total_steps = 3010;
    options.round = 2;
    Progress progress(options);
    const auto steps = [&](int from, int to, double shorter, double longer) {
      for (int done = from; done <= to; ++done) {
        recorder.now += done % 2 == 1 ? shorter : longer;
        progress.step(done, 1);
      }
    };
    steps(11, 11, 31, 0);  // one that is as if it were all
    steps(12, 12, 0, 9);
    progress.validation(0.5);
    steps(13, 1010, 0.01, 0.03);  // 20 s: nothing is due
    progress.validation(0.5);
    steps(1011, 1510, 0.01, 0.03);
    progress.validation(0.5);
  }
  CHECK(recorder.text() ==
        "step 11/3010  loss 1\n"
        "step 12/3010  loss 1  val 0.500  0.05 steps/s  16 h 39 min left\n"
        "step 1010/3010  loss 1  val 0.500  16.7 steps/s  2 min 00 s left\n"
        "step 1510/3010  loss 1  val 0.500  50 steps/s  30 s left\n");
}

TEST_CASE("progress: a terminal has one live line, rewritten") {
  Recorder recorder;
  {
    Progress progress(recorder.options(/*terminal=*/true));
    recorder.now += 1;
    progress.step(12, 2.5);
    recorder.now += 0.01;
    progress.step(13, 2.4);  // too soon after the last drawing
    progress.note("saved");
  }
  const std::string erase = "\r\x1b[K";
  CHECK(recorder.text() == erase + "step 12/30  loss 2.5  2 steps/s  9 s left" + erase + "saved\n" +
                               erase + "step 13/30  loss 2.4  2.97 steps/s  6 s left" + erase +
                               "step 13/30  loss 2.4  2.97 steps/s  6 s left\n");
}

TEST_CASE("progress: the tests after the last step") {
  Recorder terminal, file;
  for (Recorder* recorder : {&terminal, &file}) {
    Progress progress(recorder->options(recorder == &terminal));
    recorder->now += 31;
    progress.step(30, 2.5);
    recorder->now += 1;
    progress.test("dfs", 64, 0, 32);
    recorder->now += 30;
    progress.test("dfs", 64, 24, 32);
  }
  const std::string erase = "\r\x1b[K", step = "step 30/30  loss 2.5  0.645 steps/s  0 s left";
  CHECK(terminal.text() ==
        erase + step + erase + step + "\n" + erase + "test of dfs, n = 64  0/32 samples" + erase +
            "test of dfs, n = 64  24/32 samples" + erase + "test of dfs, n = 64  24/32 samples\n");
  CHECK(file.text() == step + "\ntest of dfs, n = 64  24/32 samples\n");
}

TEST_CASE("progress: a stream that takes nothing stops nothing") {
  Recorder recorder;
  std::FILE* const full = std::fopen("/dev/full", "w");
  REQUIRE(full != nullptr);
  for (const bool terminal : {false, true}) {
    ProgressOptions options = recorder.options(terminal);
    options.stream = full;
    Progress progress(options);
    recorder.now += 31;
    CHECK_NOTHROW(progress.step(12, 2.5));
    CHECK_NOTHROW(progress.note("saved"));
  }
  std::fclose(full);
}

TEST_CASE("progress: quiet prints nothing") {
  Recorder recorder;
  {
    ProgressOptions options = recorder.options(/*terminal=*/true);
    options.quiet = true;
    Progress progress(options);
    recorder.now += 100;
    progress.step(12, 2.5);
    progress.validation(0.5);
    progress.note("saved");
  }
  CHECK(recorder.text().empty());
}

}  // namespace
}  // namespace renar::progress_test

#include "trainer/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/files.h"
#include "core/json.h"
#include "trainer/metrics.h"

namespace renar {
namespace {

constexpr int kPictureWidth = 900, kPictureHeight = 640;
constexpr double kLeft = 76, kRight = 725;  // of both panels; the legend stands right of them
constexpr double kLossTop = 64, kLossBottom = 344;
constexpr double kScoreTop = 388, kScoreBottom = 580;
constexpr std::size_t kMostPoints = 600;  // a curve; more would not be seen
constexpr std::size_t kFewPoints = 40;    // up to here a score is marked by a dot

constexpr const char* kScoreColour = "#0072b2";
constexpr const char* kInk = "#222222";

// Okabe and Ito's colours, told apart by colour-blind readers too.
const char* colour(std::size_t i) {
  constexpr std::array kColours = {"#56b4e9", "#009e73", "#e69f00",
                                   "#d55e00", "#cc79a7", "#0072b2"};
  return kColours[i % kColours.size()];
}

struct Point {
  double x = 0;
  double y = 0;
};
using Line = std::vector<Point>;

// From a number to a place on the paper.
struct Axis {
  double low = 0;
  double high = 1;
  double from = 0;  // where low is drawn
  double to = 1;
  bool logarithmic = false;

  double operator()(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
};

// Means of neighbours, so that a long run makes no large file.
Line thinned(const Line& line) {
  const std::size_t stride = (line.size() + kMostPoints - 1) / kMostPoints;
  if (stride <= 1) return line;
  Line thin;
  for (std::size_t start = 0; start < line.size(); start += stride) {
    const std::size_t end = std::min(start + stride, line.size());
    Point mean;
    for (std::size_t i = start; i < end; ++i) {
      mean.x += line[i].x / static_cast<double>(end - start);
      mean.y += line[i].y / static_cast<double>(end - start);
    }
    thin.push_back(mean);
  }
  return thin;
}

// The geometric mean of a window round each point, 1/15 of the curve wide: on a logarithmic axis it
// runs through the middle of the single steps, where a trailing mean would lag behind them. At the
// start, where the loss falls fastest, the window is narrower.
Line smoothed(const Line& line) {
  const std::size_t widest = line.size() / 30;
  Line smooth;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::size_t reach = std::min(widest, i);
    const std::size_t start = i - reach, end = std::min(i + reach + 1, line.size());
    double sum = 0;
    for (std::size_t j = start; j < end; ++j) sum += std::log(line[j].y);
    smooth.push_back({line[i].x, std::exp(sum / static_cast<double>(end - start))});
  }
  return smooth;
}

// 1, 2 or 5 times a power of ten, so that about `count` of them make the span.
double tick_distance(double span, int count) {
  const double rough = span / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::vector<double> ticks(const Axis& axis) {
  std::vector<double> values;
  if (!axis.logarithmic) {
    const double distance = tick_distance(axis.high - axis.low, 6);
    for (double i = std::ceil(axis.low / distance); i * distance <= axis.high * (1 + 1e-9); ++i) {
      values.push_back(i * distance);
    }
    return values;
  }
  const bool wide = axis.high / axis.low > 1000;  // then powers of ten are enough
  for (double e = std::floor(std::log10(axis.low)); e <= std::log10(axis.high); ++e) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, e);
      const bool inside = value >= axis.low * (1 - 1e-9) && value <= axis.high * (1 + 1e-9);
      if (inside && (factor == 1 || !wide)) values.push_back(value);
    }
  }
  return values;
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

class Drawing {
 public:
  void text(double x, double y, const std::string& words, const std::string& attributes = "") {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes,
                        escaped(words));
  }
  void segment(Point a, Point b, const std::string& attributes) {
    svg_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", a.x,
                        a.y, b.x, b.y, attributes);
  }
  void curve(const Line& line, const Axis& x, const Axis& y, const std::string& attributes) {
    svg_ += "<polyline points=\"";
    for (const Point& p : line) svg_ += fmt::format("{:.1f},{:.1f} ", x(p.x), y(p.y));
    svg_ += fmt::format("\" fill=\"none\" {}/>\n", attributes);
  }
  void dots(const Line& line, const Axis& x, const Axis& y, const char* fill) {
    for (const Point& p : line) {
      svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x(p.x),
                          y(p.y), fill);
    }
  }
  // The frame of a panel: a grid line and a label at every tick.
  void panel(const Axis& x, const Axis& y, const std::string& y_title) {
    for (const double value : ticks(y)) {
      segment({x.from, y(value)}, {x.to, y(value)}, "stroke=\"#e4e4e4\"");
      text(x.from - 8, y(value) + 4, fmt::format("{:.4g}", value), "text-anchor=\"end\"");
    }
    for (const double value : ticks(x)) {
      segment({x(value), y.from}, {x(value), y.from + 5}, fmt::format("stroke=\"{}\"", kInk));
      text(x(value), y.from + 19, fmt::format("{:.10g}", value), "text-anchor=\"middle\"");
    }
    segment({x.from, y.from}, {x.to, y.from}, fmt::format("stroke=\"{}\"", kInk));
    segment({x.from, y.from}, {x.from, y.to}, fmt::format("stroke=\"{}\"", kInk));
    const double middle = (y.from + y.to) / 2;
    text(22, middle, y_title,
         fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 22 {:.1f})\"", middle));
  }
  // A coloured dash and its meaning, right of the panels.
  void legend(double y, const char* stroke, const std::string& words, bool dashed) {
    segment({kRight + 18, y - 4}, {kRight + 42, y - 4},
            fmt::format("stroke=\"{}\" stroke-width=\"2.5\"{}", stroke,
                        dashed ? " stroke-dasharray=\"6 4\"" : ""));
    text(kRight + 50, y, words);
  }
  std::string svg() const {
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
               "height=\"{1}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
               "fill=\"{2}\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
               kPictureWidth, kPictureHeight, kInk) +
           svg_ + "</svg>\n";
  }

 private:
  std::string svg_;
};

void draw_losses(const Curves& curves, const Axis& x, Drawing& drawing) {
  std::map<int, Line> lines;  // by training length
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const LossPoint& point : curves.losses) {
    constexpr double kLeast = 1e-30, kMost = 1e30;  // what a logarithm's axis has a place for
    if (!(point.loss >= kLeast && point.loss <= kMost)) continue;
    lines[point.nodes].push_back({static_cast<double>(point.step), point.loss});
    low = std::min(low, point.loss);
    high = std::max(high, point.loss);
  }
  if (lines.empty()) low = 0.1, high = 10;
  const Axis y = {low / 1.15, high * 1.15, kLossBottom, kLossTop, /*logarithmic=*/true};
  drawing.panel(x, y, "training loss");
  if (lines.empty()) drawing.text(360, 200, "no steps yet");

  std::size_t i = 0;
  for (const auto& [nodes, line] : lines) {
    drawing.curve(thinned(line), x, y, fmt::format("stroke=\"{}\" opacity=\"0.3\"", colour(i++)));
  }
  i = 0;
  for (const auto& [nodes, line] : lines) {  // the means lie over all of the single steps
    const Line means = smoothed(thinned(line));
    drawing.curve(means, x, y, fmt::format("stroke=\"{}\" stroke-width=\"2\"", colour(i)));
    if (line.size() == 1) drawing.dots(line, x, y, colour(i));
    drawing.legend(kLossTop + 12 + 20 * static_cast<double>(i), colour(i),
                   nodes > 0 ? fmt::format("n = {}", nodes) : "mean of all", /*dashed=*/false);
    ++i;
  }
}

void draw_scores(const Curves& curves, const Axis& x, Drawing& drawing) {
  const Axis y = {0, 1, kScoreBottom, kScoreTop};
  drawing.panel(x, y, "score");
  double legend_y = kScoreTop + 12;
  Line line;
  for (const ScorePoint& point : curves.validation) {
    if (std::isfinite(point.score)) line.push_back({static_cast<double>(point.step), point.score});
  }
  if (!line.empty()) {
    drawing.curve(thinned(line), x, y,
                  fmt::format("stroke=\"{}\" stroke-width=\"2\"", kScoreColour));
    if (line.size() <= kFewPoints) drawing.dots(line, x, y, kScoreColour);
    drawing.legend(legend_y, kScoreColour,
                   curves.val_length > 0 ? fmt::format("validation, n = {}", curves.val_length)
                                         : "validation, mean of all",
                   /*dashed=*/false);
    legend_y += 20;
  }
  std::size_t i = 3;  // vermilion first; the sixth colour is the validation's
  for (const TestScore& test : curves.tests) {
    const char* test_colour = colour(i++ % 5);
    drawing.segment(
        {x.from, y(test.score)}, {x.to, y(test.score)},
        fmt::format("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"6 4\"", test_colour));
    drawing.legend(legend_y, test_colour,
                   fmt::format("test, n = {}: {:.3f}", test.nodes, test.score),
                   /*dashed=*/true);
    legend_y += 20;
  }
  drawing.text((x.from + x.to) / 2, kScoreBottom + 44, "step", "text-anchor=\"middle\"");
}

}  // namespace

Curves read_curves(const std::string& metrics_path) {
  Curves curves;
  const auto number = [](const Json& value) {  // NaN is written as null
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  };
  const std::vector<Json> lines = read_metrics(metrics_path);
  const auto is_mean = [](const auto& line) { return line.value("algo", "") == kMeanOfAll; };
  const bool several = std::any_of(lines.begin(), lines.end(), is_mean);
  std::map<int, std::vector<double>> losses_of_step;
  for (const Json& line : lines) {
    const int step = line["step"].get<int>();
    if (line.contains("loss")) {
      if (several) losses_of_step[step].push_back(number(line["loss"]));
      if (!several) curves.losses.push_back({step, line.value("nodes", 0), number(line["loss"])});
    }
    if (line.contains("val_score") && is_mean(line) == several) {
      curves.validation.push_back({step, number(line["val_score"])});
    }
  }
  for (const auto& [step, losses] : losses_of_step) {
    const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
    curves.losses.push_back({step, 0, sum / static_cast<double>(losses.size())});
  }
  return curves;
}

std::string curves_svg(const Curves& curves) {
  int last = 9;
  if (!curves.losses.empty()) last = std::max(last, curves.losses.back().step);
  if (!curves.validation.empty()) last = std::max(last, curves.validation.back().step);
  const Axis x = {0, last + 1.0, kLeft, kRight};  // steps count from 0
  Drawing drawing;
  drawing.text(kLeft, 34, curves.title, "font-size=\"18\" font-weight=\"bold\"");
  draw_losses(curves, x, drawing);
  draw_scores(curves, x, drawing);
  return drawing.svg();
}

void write_curves(const std::string& path, const Curves& curves) {
  write_file_atomically(path, curves_svg(curves));
}

}  // namespace renar

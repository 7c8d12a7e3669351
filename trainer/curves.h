// curves.svg: a run at a glance. Above, the training loss on a logarithmic axis, a colour a
// training length, every step lightly and its running mean boldly; below, the validation score and,
// once the run is finished, the test scores as levels.
#pragma once

#include <string>
#include <vector>

namespace renar {

struct LossPoint {
  int step = 0;
  int nodes = 0;  // 0: the mean over the step's algorithms
  double loss = 0;
};

struct ScorePoint {
  int step = 0;
  double score = 0;
};

struct TestScore {
  int nodes = 0;
  double score = 0;
};

struct Curves {
  std::string title;
  int val_length = 0;  // nodes of the validation set; 0: several sets
  std::vector<LossPoint> losses;
  std::vector<ScorePoint> validation;
  std::vector<TestScore> tests;
};

/// The losses and validation scores of a metrics.jsonl: training lines have step, algo, nodes and
/// loss, validation lines step, algo and val_score. Where there are several algorithms they are
/// averaged. Throws renar::Error as read_metrics does.
Curves read_curves(const std::string& metrics_path);

/// The picture, an SVG of 900 x 640.
std::string curves_svg(const Curves& curves);

/// Writes the picture, whole or not at all. Throws renar::Error.
void write_curves(const std::string& path, const Curves& curves);

}  // namespace renar

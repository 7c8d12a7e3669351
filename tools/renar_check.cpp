// renar_check: is this build right? `golden` compares with the field's reference, `fingerprint`
// pins the arithmetic.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/check.h"
#include "core/tensor.h"
#include "core/text.h"
#include "core/version.h"
#include "tools/numbers.h"
#include "tools/program.h"
#include "trainer/fingerprint.h"
#include "trainer/golden.h"

namespace renar {
namespace {

/// Prints one case; true where it passes. Throws where it cannot be run.
bool check_case(const std::string& path, const std::string& manifest,
                const GoldenTolerance& tolerance, Device device) {
  const GoldenReport r = run_golden_nearby(path, manifest, tolerance, device);
  const bool ok = passes(r, tolerance);
  fmt::print("{:6} {:<22} loss {:.1e}  gradient {:.1e} ({})  prediction {:.1e} ({})  score {:.1e}",
             ok ? "ok" : "FAILED", r.name, r.loss, r.gradient, r.worst_gradient, r.prediction,
             r.worst_prediction, r.score);
  if (r.permutation_gradient > 0) {
    fmt::print("  permutation decoders: gradient {:.1e}", r.permutation_gradient);
  }
  if (r.train_steps > 0) {
    fmt::print("  {} steps: loss {:.1e}, parameters {:.1e}", r.train_steps, r.train_loss,
               r.train_parameter);
  }
  if (r.moved > 0) {
    const GoldenReport exact = run_golden(path, manifest, 0, device);
    fmt::print(
        "\n       with parameters moved by less than a rounding; as they are: loss {:.1e}, "
        "gradient {:.1e}, {} steps' loss {:.1e}",
        exact.loss, exact.gradient, exact.train_steps, exact.train_loss);
  }
  fmt::print("\n");
  for (const std::string& flip : r.flipped)
    fmt::print("       another choice at a tie: {}\n", flip);
  return ok;
}

int golden(const std::string& path, const std::string& manifest, double tolerance, Device device) {
  GoldenTolerance limits = golden_tolerance();
  if (tolerance > 0) {
    limits.gradient = limits.permutation_gradient = limits.prediction = tolerance;
  }
  int failed = 0;
  const std::vector<std::string> cases = golden_cases(path);
  for (const std::string& file : cases) {
    try {
      failed += check_case(file, manifest, limits, device) ? 0 : 1;
    } catch (const std::exception& error) {  // the others are run all the same
      fmt::print("FAILED {:<22} {}\n", std::filesystem::path(file).stem().string(),
                 one_line(error.what()));
      ++failed;
    }
  }
  fmt::print("{} of {} cases within loss {:.0e}, gradient {:.0e}, prediction {:.0e} ({}, {})\n",
             cases.size() - static_cast<std::size_t>(failed), cases.size(), limits.loss,
             limits.gradient, limits.prediction, sizeof(Real) == 8 ? "double" : "float",
             name_of(device));
  return failed == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("Checks this build of renar against the field's reference.", "renar_check");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);

  std::string path, manifest, device = "cpu";
  double tolerance = 0;
  CLI::App* check = app.add_subcommand(
      "golden", "loss, gradients, predictions and score of a golden case, or of a folder of them");
  check
      ->add_option("FILE", path,
                   "an .npz of ../shared/golden/model or tests/golden/model, or a folder")
      ->required();
  check->add_option("--manifest", manifest, "default: manifest.json beside the file");
  check->add_option("--device", device, "simt: the CUDA kernels thread by thread on the CPU")
      ->check(CLI::IsMember({"cpu", "cuda", "simt"}));
  add_values(*check, "--tolerance", tolerance, {.low = 0, .high = 1e9, .open_low = true},
             "of gradients and predictions; default: docs/model.md 11");
  CLI::App* fingerprint = app.add_subcommand(
      "fingerprint",
      "loss bits of 100 fixed steps: the same on every machine with AVX2 or AVX-512");

  return parse_and_run(app, argc, argv, [&] {
    if (!takes_gpu(device)) fail_beyond_physical_memory();
    if (fingerprint->parsed()) {
      fmt::print("{}\n", fingerprint_text());
      return 0;
    }
    return golden(path, manifest, tolerance, find_device(device));
  });
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}

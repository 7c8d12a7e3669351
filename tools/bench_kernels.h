// `renar_bench kernels`: a training step's kernels, what they move and compute and where that puts
// them below the roofline. On a GPU they run and are timed; on fibers they are only counted, at
// sizes that would take fibers hours.
//
// They are launched one by one and, so that a GPU's times are its own, faster than it runs them
// (GpuPace): in training a graph is played.
#pragma once

#include <fmt/core.h>

#include "core/check.h"
#include "core/json.h"
#include "core/profiler.h"
#include "core/roofline.h"
#include "core/simt.h"
#include "tools/bench_model.h"
#include "tools/program.h"

namespace renar {

struct KernelsOptions : ModelOptions {
  KernelsOptions() { device = "auto"; }
  bool json = false;
};

/// Throws renar::Error where there are neither fibers nor a GPU.
inline Machine machine_of_kernels(const KernelsOptions& o) {
  std::string why_cpu;
  const bool is_auto = o.device == "auto";
  const bool on_gpu = is_auto && find_device(o.device, &why_cpu) == Device::kCuda;
  RENAR_CHECK(!is_auto || on_gpu || !built_with_cuda(),
              "kernels are counted on a GPU ({}) or in a build without CUDA (cmake "
              "-DRENAR_CUDA=OFF)",
              why_cpu);
  return machine_of(is_auto && !on_gpu ? "simt" : o.device, 1, o.config.precision);
}

inline int bench_kernels(const KernelsOptions& o) {
  const Machine machine = machine_of_kernels(o);
  const bool on_gpu = machine.device == Device::kCuda;
  simt::leave_out_kernels(!on_gpu);
  BenchedModel model(o, machine);
  const int updates = on_gpu ? 5 : 1;
  for (int i = 0; i < updates; ++i) model.update();
  Profiler profiler(machine.device, GpuPace::kBehind);
  for (int i = 0; i < updates; ++i) {
    {
      const ProfileRange range("update");
      model.update();
    }
    profiler.collect();
  }
  const Card card = card_of(machine.device);
  const std::vector<KernelPlace> places = kernel_places(profiler.tracks(), card);
  const int steps_t = steps_of(model.batch().frames);
  if (!o.json) {
    fmt::print("{} n = {}, batch {}, {}, {}, hidden {}: T = {} steps; an update, {}\n", o.algo,
               model.length(), o.batch, model.config().method, model.config().processor,
               model.config().hidden, steps_t, on_gpu ? text_of(machine) : "counted and not run");
    fmt::print("{}", roofline_text(places, card, updates, on_gpu));
    return 0;
  }
  Json kernels = Json::array();
  for (const KernelPlace& place : places) {
    kernels.push_back({{"kernel", place.kernel},
                       {"phase", name_of(place.phase)},
                       {"launches", static_cast<double>(place.work.launches) / updates},
                       {"bytes", static_cast<double>(place.work.bytes) / updates},
                       {"flop", static_cast<double>(place.work.flops) / updates},
                       {"least_s", place.least / updates}});
    if (on_gpu) kernels.back()["measured_s"] = place.measured / updates;
  }
  const Json out = {{"algo", o.algo},           {"method", model.config().method},
                    {"nodes", model.length()},  {"batch", o.batch},
                    {"steps_T", steps_t},       {"card", card.name},
                    {"card_flops", card.flops}, {"card_bytes_per_s", card.bytes},
                    {"kernels", kernels}};
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace renar

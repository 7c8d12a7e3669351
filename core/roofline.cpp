#include "core/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/cuda.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr double kMega = 1e6, kMicroseconds = 1e6, kMilliseconds = 1e3, kTera = 1e12;

void add(const KernelPlace& place, KernelPlace& sum) {
  sum.work += place.work;
  sum.least += place.least;
  sum.measured += place.measured;
}

// What was started between two marks.
KernelPlace place_of(const ProfileMark& before, const ProfileMark& end, const Card& card) {
  const KernelWork work = end.work - before.work;
  const double moving = static_cast<double>(work.bytes) / card.bytes;
  const double computing = static_cast<double>(work.flops) / card.flops;
  return {without_namespaces(end.op), end.phase, work, std::max(moving, computing),
          end.queue - before.queue};
}

std::string row(const std::string& name, const KernelPlace& place, int updates, bool is_measured) {
  const auto launches = static_cast<double>(place.work.launches);
  std::string text =
      fmt::format("{:<42}{:>9.1f}{:>10.3f}{:>10.2f}{:>10.2f}{:>10.3f}", name, launches / updates,
                  static_cast<double>(place.work.bytes) / kMega / launches,
                  static_cast<double>(place.work.flops) / kMega / launches,
                  place.least * kMicroseconds / launches, place.least * kMilliseconds / updates);
  if (is_measured) {
    text +=
        fmt::format("{:>10.2f}{:>10.3f}{:>6.0f}%", place.measured * kMicroseconds / launches,
                    place.measured * kMilliseconds / updates, 100 * place.least / place.measured);
  }
  return text + '\n';
}

}  // namespace

Card card_of(Device device) {
  if (device != Device::kCuda) return {"an H100 (SXM)", 66.9e12, 3.35e12};
  const CudaPeaks peaks = cuda_peaks();
  return {model_of(device), peaks.flops, peaks.bytes};
}

std::vector<KernelPlace> kernel_places(std::span<const ProfileTrack> tracks, const Card& card) {
  std::map<std::pair<std::string, ProfilePhase>, KernelPlace> sums;
  bool is_measured = false;
  for (const ProfileTrack& track : tracks) {
    is_measured = is_measured || track.queues;
    for (std::size_t i = 1; i < track.marks.size(); ++i) {
      const ProfileMark& mark = track.marks[i];
      if (mark.kind != ProfileMark::Kind::kOp) continue;
      const KernelPlace place = place_of(track.marks[i - 1], mark, card);
      if (place.work.launches == 0) continue;
      const auto [at, is_new] = sums.try_emplace({place.kernel, place.phase}, place);
      if (!is_new) add(place, at->second);
    }
  }
  std::vector<KernelPlace> places;
  for (auto& entry : sums) places.push_back(std::move(entry.second));
  const auto time = is_measured ? &KernelPlace::measured : &KernelPlace::least;
  std::stable_sort(places.begin(), places.end(),
                   [&](const KernelPlace& a, const KernelPlace& b) { return a.*time > b.*time; });
  return places;
}

std::string roofline_text(std::span<const KernelPlace> places, const Card& card, int updates,
                          bool is_measured) {
  std::string text = fmt::format("{:<32} {:<9}{:>9}{:>10}{:>10}{:>10}{:>10}", "kernel", "phase",
                                 "launches", "MB each", "MFLOP", "least us", "least ms");
  if (is_measured) text += fmt::format("{:>10}{:>10}{:>7}", "us each", "ms", "least");
  text += '\n';
  KernelPlace all{"all", ProfilePhase::kForward, {}};
  for (const KernelPlace& place : places) {
    const std::string name = fmt::format("{:<32} {}", place.kernel, name_of(place.phase));
    text += row(name, place, updates, is_measured);
    add(place, all);
  }
  if (all.work.launches > 0) text += row("all kernels of an update", all, updates, is_measured);
  return text + fmt::format("least: at {:.1f} TFLOP/s and {:.2f} TB/s, as {} has\n",
                            card.flops / kTera, card.bytes / kTera, card.name);
}

}  // namespace renar

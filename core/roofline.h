// Where kernels stand below the roofline: what they move and compute, and the least time that a
// card needs for the one or the other.
//
// Bytes are those that a kernel says it touches (core/collected.h), each once a launch: a gradient
// that is added to counts as written, and what a card keeps in its L2 counts as if it came from
// memory. Operations are those of products and of the triplet maximum. The least time of some
// launches is the sum of each one's larger time, as if none ran beside another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/profiler.h"

namespace renar {

/// What a card can do in a second.
struct Card {
  std::string name;
  double flops;  ///< float32, a multiply-add is two
  double bytes;  ///< of its memory
};
/// The GPU of kCuda, by its clocks as they can be; an H100 (SXM) for other devices.
Card card_of(Device device);

/// All launches of a kernel in one phase.
struct KernelPlace {
  std::string kernel;
  ProfilePhase phase;
  KernelWork work;
  double least = 0;     ///< seconds
  double measured = 0;  ///< seconds of the queue; of waits what the Profiler's pace leaves
};
/// The longest first: by time measured where a GPU was, else by the least.
std::vector<KernelPlace> kernel_places(std::span<const ProfileTrack> tracks, const Card& card);

/// A line for each of them and one for all, of a profile of so many updates. `is_measured`: their
/// times are a GPU's, and stand beside the least.
std::string roofline_text(std::span<const KernelPlace> places, const Card& card, int updates,
                          bool is_measured);

}  // namespace renar

// Whether collected kernels (core/collected.h) touch what they say they touch, and no more: on
// fibers this can be seen.
#pragma once

#include <functional>
#include <span>

#include "core/collected.h"

namespace renar::simt {

/// While on, every collected launch is run twice (run_watched).
void watch_touched(bool on);
bool watches_touched();

/// Runs the launch, and again with all memory of the device spoiled but what it says it reads or
/// writes. Throws renar::Error with its name if it then writes other numbers, if it has written
/// anything that it did not say, or if it says more than the device's memory.
void run_watched(const char* name, std::span<const Stretch> reads, std::span<const Stretch> writes,
                 const std::function<void()>& run);

}  // namespace renar::simt

// What the settings of open sets may be, from the tables of algos and nn.
#pragma once

#include "algos/registry.h"
#include "nn/processor.h"
#include "trainer/config.h"

namespace renar {

inline ValidNames valid_names() {
  ValidNames valid{{}, {}, processor_kinds()};
  for (const Algorithm& algorithm : algorithms()) {
    valid.algorithms.push_back(algorithm.name);
    if (algorithm.in_clrs30) valid.all.push_back(algorithm.name);
  }
  return valid;
}

}  // namespace renar

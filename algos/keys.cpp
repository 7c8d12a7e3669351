#include "algos/keys.h"

#include <cmath>

#include "core/check.h"

namespace renar {

void check_keys(std::string_view algorithm, const std::vector<double>& keys) {
  RENAR_CHECK(!keys.empty(), "[{}] {} keys, expected at least one", algorithm, keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    RENAR_CHECK(std::isfinite(keys[i]), "[{}] key {} is {}, expected a finite number", algorithm, i,
                keys[i]);
  }
}

}  // namespace renar

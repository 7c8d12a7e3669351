#include "algos/strings/strings.h"

#include "algos/trace.h"
#include "core/check.h"

namespace renar {

Mask string_ids(int n, int m) {
  Mask ids(n, 0);
  ids.insert(ids.end(), m, 1);
  return ids;
}

std::vector<double> string_positions(int n, int m) {
  std::vector<double> pos = positions(n);
  const std::vector<double> second = positions(m);
  pos.insert(pos.end(), second.begin(), second.end());
  return pos;
}

std::vector<int> string_predecessors(int n, int m) {
  std::vector<int> pred = predecessors(self_pointers(n + m));
  if (m > 0) pred[n] = n;
  return pred;
}

std::vector<int> letters_of(const std::vector<int>& first, const std::vector<int>& second) {
  std::vector<int> letters(first);
  letters.insert(letters.end(), second.begin(), second.end());
  for (const int letter : letters) {
    RENAR_CHECK(letter >= 0 && letter < kAlphabet, "[strings] letter {} of an alphabet of {}",
                letter, kAlphabet);
  }
  return letters;
}

void check_pattern(std::string_view algorithm, const std::vector<int>& text,
                   const std::vector<int>& pattern) {
  RENAR_CHECK(!pattern.empty() && pattern.size() <= text.size(),
              "[{}] a needle of {} letters in a haystack of {}, give at least one and no more than "
              "the haystack has",
              algorithm, pattern.size(), text.size());
}

}  // namespace renar

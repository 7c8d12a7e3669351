#include "algos/strings/strings.h"

#include "algos/trace.h"
#include "core/check.h"

namespace renar {

std::vector<double> string_ids(int n, int m) {
  std::vector<double> ids(n, 0);
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

std::vector<double> string_keys(const std::vector<int>& first, const std::vector<int>& second) {
  std::vector<int> letters(first);
  letters.insert(letters.end(), second.begin(), second.end());
  return one_hot_rows(letters, kAlphabet);
}

void check_pattern(std::string_view algorithm, const std::vector<int>& text,
                   const std::vector<int>& pattern) {
  RENAR_CHECK(!pattern.empty() && pattern.size() <= text.size(),
              "[{}] a needle of {} letters in a haystack of {}, give at least one and no more than "
              "the haystack has",
              algorithm, pattern.size(), text.size());
}

}  // namespace renar

#include "core/text.h"

#include <algorithm>
#include <vector>

namespace renar {
namespace {

constexpr std::size_t kLongestShown = 60;

}  // namespace

std::string join(std::span<const std::string> words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += separator;
    text += word;
  }
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // cost[i][j] turns the first i letters of a into the first j letters of b.
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string nearest_match(std::string_view word, std::span<const std::string> candidates) {
  word = word.substr(0, kLongestShown);
  const auto nearest = std::min_element(candidates.begin(), candidates.end(),
                                        [&](const std::string& a, const std::string& b) {
                                          return edit_distance(word, a) < edit_distance(word, b);
                                        });
  return nearest == candidates.end() ? "" : *nearest;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), is_control, '?');
  return line;
}

std::string shortened(std::string_view text) {
  return std::string(text.substr(0, kLongestShown)) + (text.size() > kLongestShown ? ".." : "");
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char letter : word) letter == '\'' ? quoted += "'\\''" : quoted += letter;
  return quoted + "'";
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return hash;
}

std::string without_namespaces(std::string_view function) {
  std::string name;
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (!function.substr(i).starts_with("::")) {
      name += function[i];
      continue;
    }
    if (name.ends_with("<unnamed>")) name.resize(name.size() - 9);
    const std::size_t start = name.find_last_of("<, ");
    name.resize(start == std::string::npos ? 0 : start + 1);
    ++i;
  }
  return name;
}

std::string type_in(std::string_view pretty_function) {
  const std::size_t begin = pretty_function.find("T = ") + 4;
  const std::size_t end = pretty_function.find_first_of(";]", begin);
  return without_namespaces(pretty_function.substr(begin, end - begin));
}

}  // namespace renar

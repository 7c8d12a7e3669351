// collected: kernels join those that are like them, and find what they would find without.
#include "core/collected.h"

#include <doctest/doctest.h>

#include <string>

#include "core/check.h"

namespace renar::collected_test {
namespace {

// Kernels that only write down their names: "a+b" is a launch of two.
std::string started;

struct Names {
  char name[8];
  int count;
};
void start_names(const void* given) {
  const auto& names = *static_cast<const Names*>(given);
  if (!started.empty()) started += ' ';
  for (int i = 0; i < names.count; ++i) {
    if (i > 0) started += '+';
    started += names.name[i];
  }
}
constexpr CollectedKind kSmall{"small", start_names}, kCapital{"capital", start_names};

struct Memory {
  double at[4] = {};  // what the kernels below are about
};

/// A kernel of the kind that its name is written in.
void add(char name, const Touched& touched, bool joins_where_both_write = false) {
  const bool capital = name >= 'A' && name <= 'Z';
  Names& names =
      collect<Names>(capital ? kCapital : kSmall, touched, [&](const Names& others, bool meets) {
        return others.count < 8 && (!meets || joins_where_both_write);
      });
  names.name[names.count++] = name;
}

Touched reads(const double& from, const double& to) {
  return Touched().reads(&from, 1).writes(&to, 1);
}
Touched writes(const double& to) { return Touched().writes(&to, 1); }

std::string start_all() {
  started.clear();
  start_collected();
  return started;
}

TEST_CASE("collected: what is alike is one launch, whatever else is asked for in between") {
  const Memory m;
  add('a', writes(m.at[0]));
  add('B', writes(m.at[1]));
  add('c', writes(m.at[2]));
  add('D', writes(m.at[3]));
  CHECK(start_all() == "a+c B+D");
  CHECK(start_all().empty());
}

TEST_CASE("collected: a kernel comes after those whose results it reads") {
  const Memory m;
  add('a', writes(m.at[0]));
  add('B', reads(m.at[0], m.at[1]));
  add('c', reads(m.at[1], m.at[2]));
  add('d', writes(m.at[3]));
  CHECK(start_all() == "a+d B c");
}

TEST_CASE("collected: and after those that read, or write, what it writes") {
  const Memory m;
  add('a', reads(m.at[0], m.at[1]));
  add('B', reads(m.at[1], m.at[2]));
  add('c', writes(m.at[1]));  // B is to read what a wrote
  CHECK(start_all() == "a B c");
  add('a', writes(m.at[0]));
  add('B', writes(m.at[0]));
  add('c', writes(m.at[0]));
  CHECK(start_all() == "a B c");
}

TEST_CASE("collected: the first that can be joined is, so that what follows can stand early, too") {
  const Memory m;
  add('a', writes(m.at[0]));
  add('B', reads(m.at[0], m.at[1]));
  add('c', reads(m.at[1], m.at[2]));
  add('d', writes(m.at[3]));
  add('E', reads(m.at[3], m.at[3]));
  CHECK(start_all() == "a+d B+E c");
}

TEST_CASE("collected: two that add to the same may say that they can join, but none behind") {
  const Memory m;
  add('a', writes(m.at[0]));
  add('b', writes(m.at[0]), true);
  CHECK(start_all() == "a+b");
  add('a', writes(m.at[0]));
  add('B', reads(m.at[0], m.at[1]));
  add('c', writes(m.at[0]), true);
  CHECK(start_all() == "a B c");
}

TEST_CASE("collected: stretches that only touch do not meet, parts of one do") {
  const Memory m;
  add('a', Touched().writes(m.at, 2));
  add('b', Touched().writes(m.at + 2, 2));
  CHECK(start_all() == "a+b");
  add('a', Touched().writes(m.at, 4));
  add('b', Touched().writes(m.at + 1, 1));
  CHECK(start_all() == "a b");
  add('a', Touched().writes(m.at, 0));
  add('b', Touched().writes<double>(nullptr, 4));
  CHECK(start_all() == "a+b");
}

TEST_CASE("collected: work at the end of the last kernel that it needs") {
  const Memory m;
  const auto at_end_of = [&](const CollectedKind& kind, const Touched& touched) {
    const auto has_one = [](const Names& names) { return names.count == 1; };
    Names* names = end_collected<Names>(kind, touched, has_one);
    if (names != nullptr) names->name[names->count++] = '!';
    return names != nullptr;
  };
  add('a', writes(m.at[0]));
  add('B', writes(m.at[1]));
  CHECK(at_end_of(kSmall, writes(m.at[0])));
  CHECK_FALSE(at_end_of(kSmall, writes(m.at[0])));  // it may not: there are two now
  CHECK_FALSE(at_end_of(kSmall, writes(m.at[1])));  // another kind
  CHECK_FALSE(at_end_of(kSmall, writes(m.at[2])));  // nobody has it
  CHECK(start_all() == "a+! B");

  add('a', writes(m.at[0]));
  CHECK(at_end_of(kSmall, Touched().reads(&m.at[3], 1).writes(&m.at[0], 1)));
  add('b', writes(m.at[3]));  // must not be written before it was read
  CHECK(start_all() == "a+! b");
}

TEST_CASE("collected: when too much waits the first of it is started, and the rest can be joined") {
  const Memory m;
  started.clear();
  for (int i = 0; i < 128; ++i) add(i % 2 == 0 ? 'a' : 'B', writes(m.at[0]));
  CHECK(started.empty());
  add('a', writes(m.at[0]));
  const std::string first = started;
  CHECK(first.size() == 2 * 64 - 1);
  CHECK(first.substr(0, 7) == "a B a B");
  add('b', writes(m.at[1]));  // joins the first small one that still waits
  const std::string rest = start_all();
  CHECK(rest.size() == 2 * (129 - 64) - 1 + 2);
  CHECK(rest.substr(0, 9) == "a+b B a B");
}

TEST_CASE("collected: what waits behind a kernel that fails is given up") {
  static const CollectedKind fails{"fails", [](const void*) { throw Error("planted"); }};
  const Memory m;
  started.clear();
  add('a', writes(m.at[0]));
  collect<Names>(fails, writes(m.at[0]), [](const Names&, bool) { return false; });
  add('b', writes(m.at[0]));
  CHECK_THROWS_WITH(start_collected(), "planted");
  CHECK(started == "a");
  CHECK(start_all().empty());
}

TEST_CASE("collected: a kernel says what it touches in at most 32 arrays") {
  const Memory m;
  Touched touched;
  for (int i = 0; i < 32; ++i) touched.reads(m.at, 1);
  CHECK_THROWS_AS(touched.reads(m.at, 1), Error);
}

}  // namespace
}  // namespace renar::collected_test

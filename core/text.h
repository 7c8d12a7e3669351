// Small helpers for texts: lists, the valid word that a misspelt one most likely meant, a hash, the
// names that compilers give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace renar {

/// The words with the separator between them.
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

/// How many letters must be inserted, removed, replaced or swapped with a neighbour to turn one
/// word into the other (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to the word, by its first 60 letters, the first of equals; empty if there
/// is no candidate.
std::string nearest_match(std::string_view word, std::span<const std::string> candidates);

/// The text on one line, whatever was in it: control characters become question marks.
std::string one_line(std::string_view text);

/// A text that a message shows: its first 60 bytes and "..", or all of it.
std::string shortened(std::string_view text);

/// A word as a POSIX shell must be given it: in quotes where it has to be.
std::string shell_quoted(std::string_view word);

/// The 64-bit FNV-1a hash: the same number for the same text on every machine.
std::uint64_t fnv1a(std::string_view text);

/// "pointwise<Relu>" of "pointwise<renar::{anonymous}::Relu>", as compilers call a function.
std::string without_namespaces(std::string_view name);

/// A type's name, so: "Softmax". It lives as long as the process.
std::string type_in(std::string_view pretty_function);
template <class T>
const char* name_of_type() {
  static const std::string name = type_in(__PRETTY_FUNCTION__);
  return name.c_str();
}

}  // namespace renar

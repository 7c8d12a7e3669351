// linear:       y[r] = sum over terms x_t[r] W_t + biases                      (.., O)
// edge_linear:  y[b,i,j] = send[b,i] + recv[b,j] + sum over terms x_t[b,i,j] W_t + biases
//               (B,N,N,O)
//
// A term is x (.., K) with W (K, O); the terms of one sum differ in K. So [node_fts, hidden] W is
// the two terms {node_fts, first rows of W} and {hidden, last rows of W} and nothing is
// concatenated; a feature S V (nn/features.h) is the term {S, V W}. relu may follow. send and recv
// (B,N,O) may be absent.
#pragma once

#include <array>
#include <initializer_list>

#include "core/tape.h"
#include "kernels/products.h"

namespace renar {

struct Term {
  Tensor x;
  Tensor w;
};

enum class Activation { kNone, kRelu };

/// A short list kept in place, so that a closure can hold it.
template <class T, int kCapacity>
class ShortList {
 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> items) {
    for (const T& item : items) add(item);
  }
  void add(const T& item) { items_.at(static_cast<std::size_t>(size_++)) = item; }
  int size() const { return size_; }
  const T& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, kCapacity> items_{};
  int size_ = 0;
};
using Terms = ShortList<Term, kMaxTerms>;
using Biases = ShortList<Tensor, kMaxTerms>;

/// Throws renar::Error where extents do not fit.
Tensor linear(Tape& tape, const Terms& terms, const Biases& biases,
              Activation activation = Activation::kNone);

/// `send` is indexed by the first node axis, `recv` by the second.
Tensor edge_linear(Tape& tape, Tensor send, Tensor recv, const Terms& terms, const Biases& biases,
                   Activation activation = Activation::kNone);

}  // namespace renar

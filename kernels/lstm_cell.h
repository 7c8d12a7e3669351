// lstm_cell: one step of an LSTM at every node, from the numbers before its gates.
//
//   gates (..,4H) = [i, g, f, o], the linear of [x, hidden];  old cell, new cell and hidden (..,H)
//   cell   = sigmoid(f + 1) old + sigmoid(i) tanh(g)
//   hidden = sigmoid(o) tanh(cell)
//
// The 1 lets a fresh cell keep what it holds (Jozefowicz et al. 2015). Sources: Hochreiter and
// Schmidhuber 1997; haiku's LSTM, whose order of gates this is.
#pragma once

#include "core/tape.h"

namespace renar {

struct LstmState {
  Tensor hidden;
  Tensor cell;
};

LstmState lstm_cell(Tape& tape, Tensor gates, Tensor old);

}  // namespace renar

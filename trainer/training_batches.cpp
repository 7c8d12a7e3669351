#include "trainer/training_batches.h"

#include "trainer/batch.h"

namespace renar {

void WholeTrajectories::next(Batch& batch) {
  const int task = static_cast<int>(stream_.drawn() % net_.tasks().size());
  fill_batch(net_.spec(task), stream_.next(), batch);
  batch.task = task;
}

}  // namespace renar

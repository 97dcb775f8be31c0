// trainer/neftune.h — NEFTune: uniform noise on the embeddings of training rows.  Jain et al. 2023, arXiv:2310.05914
#pragma once

#include <vector>

#include "nn/model.h"

namespace rote {

// While it lives, each Embedding of the model that is called with a batch's main input in training mode gives y + U(-m, m), m = alpha / √(T·C).
// The draws are keyed by sample and module path, and T is the longest row of the whole window, so that the split into micro-batches moves no bit.
class Neftune {
 public:
  // Throws ArgumentError for a model without an Embedding.
  Neftune(nn::Model& model, double alpha);
  ~Neftune();
  Neftune(const Neftune&) = delete;
  Neftune& operator=(const Neftune&) = delete;

  // Before each micro-batch: `main` [B,T] goes into the model, the longest row of its window has `longest` places.
  void expect(const Tensor& main, int64_t longest);

 private:
  Tensor noisy(const Tensor& y) const;

  struct Hook {
    nn::Module* module;
    int64_t id;
  };
  double alpha_;
  Tensor main_;
  int64_t longest_ = 0;
  std::vector<Hook> hooks_;
};

}  // namespace rote

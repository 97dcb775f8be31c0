// tests/weighted_loss_test.cpp — docs/examples/weighted_loss.cpp learns, and its loss is that of the page beside it.
#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "tensor/file.h"
#include "tests/app.h"

namespace rote::testing {

TEST_CASE("weighted loss: the program trains, and evaluates by its own loss") {
  const AppFolder app;
  std::string rows = "text\tlabel\n";
  for (int i = 0; i < 12; ++i) rows += std::string(i % 3 == 0 ? "good film" : i % 3 == 1 ? "bad plot" : "dull cast") + "\t" + (i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c") + "\n";
  app.folder.file("rows.tsv", rows);
  const auto eval_loss = [&](const std::string& more) {
    const CommandResult result = run_command("cd '" + app.folder.path() + "' && '" + build_folder() + "/examples/weighted_loss' model rows.tsv --disable_tqdm true --output_dir out " + more);
    REQUIRE_MESSAGE(result.status == 0, result.output);
    const size_t at = result.output.rfind("eval_loss");
    REQUIRE_MESSAGE(at != std::string::npos, result.output);
    return std::stod(result.output.substr(result.output.find('=', at) + 1));
  };
  const double untrained = eval_loss("--num_train_epochs 0");
  CHECK(eval_loss("--num_train_epochs 60 --learning_rate 3e-2 --lr_scheduler_type constant") < 0.5 * untrained);
  CHECK(run_command("'" + build_folder() + "/examples/weighted_loss'").output == "weighted_loss: give a model folder and a TSV file with the columns text and label.\n");
}

TEST_CASE("weighted loss: the numbers of the page") {
  const Tensor logits = from_values({3, 3}, std::vector<float>{1, 2, 3, 0, 1, 0, 2, -1, 0.5f}), weight = from_values({3}, std::vector<float>{1, 2, 3});
  const Tensor labels = from_values({3}, std::vector<int64_t>{0, 2, 1});
  CHECK(cross_entropy(logits, labels, {.weight = weight}).item() == doctest::Approx(2.2574271166).epsilon(1e-6));
  CHECK(cross_entropy(logits, labels).item() == doctest::Approx(2.4001206583).epsilon(1e-6));
  const Tensor more = cat({logits, full({1, 3}, 5)}, 0), ignored = from_values({4}, std::vector<int64_t>{0, 2, 1, -100});
  CHECK(cross_entropy(more, ignored, {.weight = weight}).item() == cross_entropy(logits, labels, {.weight = weight}).item());
}

}  // namespace rote::testing

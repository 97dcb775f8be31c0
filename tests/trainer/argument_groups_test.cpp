// tests/trainer/argument_groups_test.cpp — grouped setters: what each sets, that the rest of its group goes back to the default, what contradicts itself.
#include <doctest/doctest.h>

#include "kernels/check.h"
#include "trainer/argument_groups.h"

using namespace rote;

TEST_CASE("grouped setters: each sets its fields and returns the arguments") {
  TrainingArguments args{.weight_decay = 0.1, .gradient_accumulation_steps = 4, .max_grad_norm = 0.5};
  args.set_training({.learning_rate = 1e-4, .batch_size = 16}).set_evaluate({.strategy = IntervalStrategy::epoch, .batch_size = 32}).set_testing({.batch_size = 64});
  CHECK(args.learning_rate == 1e-4);
  CHECK(args.per_device_train_batch_size == 16);
  CHECK(args.weight_decay == 0.0);
  CHECK(args.gradient_accumulation_steps == 1);
  CHECK(args.max_grad_norm == 0.5);
  CHECK(args.do_train);
  CHECK(args.do_eval);
  CHECK(args.do_predict);
  CHECK(args.eval_delay == 0);  // the reference leaves it absent, and the run then fails
  CHECK(args.per_device_eval_batch_size == 64);
  CHECK(resolve(args).empty());
  args.set_training({.gradient_checkpointing = true}).set_evaluate({.accumulation_steps = 2, .loss_only = true});
  CHECK(args.checkpointed_layers() == 1);
  CHECK(args.prediction_loss_only);
  CHECK(*args.eval_accumulation_steps == 2);
  CHECK_FALSE(args.set_testing({}).prediction_loss_only);
  CHECK(args.set_training({}).checkpointed_layers() == 0);
}

TEST_CASE("grouped setters: saving, logging, optimizer, schedule, loading") {
  TrainingArguments args;
  args.set_save({.strategy = SaveStrategy::steps, .steps = 50, .total_limit = 2})
      .set_logging({.steps = 10, .first_step = true})
      .set_optimizer({.name = "sgd", .learning_rate = 0.1, .args = "momentum=0.9"})
      .set_lr_scheduler({.name = "cosine", .max_steps = 100, .warmup_steps = 0.1})
      .set_dataloader({.train_batch_size = 4, .drop_last = true, .auto_find_batch_size = true, .sampler_seed = 7});
  CHECK(args.save_steps == 50);
  CHECK(args.save_total_limit == 2);
  CHECK(args.logging_steps == 10);
  CHECK(args.logging_nan_inf_filter);  // the reference turns it off here
  CHECK(args.report_to.empty());
  CHECK(args.optim == "sgd");
  CHECK(*args.optim_args == "momentum=0.9");
  CHECK(args.lr_scheduler_type == "cosine");
  CHECK(args.get_warmup_steps(100) == 10);
  CHECK(args.dataloader_drop_last);
  CHECK(args.auto_find_batch_size);
  CHECK(args.sampler_seed() == 7);
  CHECK(resolve(args).empty());
}

TEST_CASE("grouped setters: a strategy by steps needs steps") {
  TrainingArguments args;
  CHECK_THROWS_WITH_AS(args.set_evaluate({.strategy = IntervalStrategy::steps, .steps = 0}),
                       "set_evaluate: steps is 0 with the strategy steps; give a number of steps, or another strategy.", ArgumentError);
  CHECK_THROWS_AS(args.set_save({.steps = 0}), ArgumentError);
  CHECK_FALSE(args.set_evaluate({}).do_eval);
}

TEST_CASE("set_push_to_hub: refused in one sentence; nothing is set") {
  TrainingArguments args;
  const ValueMap before = to_map(args);
  CHECK_THROWS_WITH_AS(args.set_push_to_hub({.model_id = "me/film", .strategy = HubStrategy::end}),
                       "set_push_to_hub: me/film cannot be pushed from here; save_model() writes a folder that the hub's own client uploads as it is.", ArgumentError);
  CHECK(to_map(args) == before);
}

TEST_CASE("main_process_first: one process waits for nobody, whatever its rank is called") {
  TrainingArguments args;
  int done = 0;
  for (const int64_t rank : {-1, 0}) {
    args.local_rank = rank;
    const auto first = args.main_process_first();
    ++done;
  }
  CHECK(done == 2);
}

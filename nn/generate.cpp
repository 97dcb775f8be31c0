#include "nn/generate.h"

#include <algorithm>
#include <cmath>

#include "autograd/mode.h"
#include "autograd/ops.h"
#include "nn/attention.h"
#include "nn/beam_search.h"
#include "nn/logits_process.h"

namespace rote::nn {

namespace {

// [B,n] and one more column.
Tensor with_column(const Tensor& x, const std::vector<int64_t>& column) { return cat({x, from_values({x.size(0), 1}, column)}, 1); }

Tensor last_columns(const Tensor& x, int64_t n) { return contiguous(slice(x, 1, x.size(1) - n, x.size(1))); }

Tensor select_rows(const Tensor& x, const std::vector<int64_t>& rows) {
  return index_select(x, 0, from_values({static_cast<int64_t>(rows.size())}, rows));
}

bool holds(const std::vector<int64_t>& ids, int64_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

// Places of the tokens that are not padding, from 0 on; padding has any.
Tensor places_of(const Tensor& mask) {
  const Tensor kept = contiguous(mask), places = empty(kept.shape(), {.dtype = DType::i64});
  const int64_t T = kept.size(1);
  for (int64_t row = 0; row < kept.size(0); ++row) {
    int64_t next = 0;
    for (int64_t i = row * T; i < (row + 1) * T; ++i) places.data<int64_t>()[i] = kept.data<int64_t>()[i] != 0 ? next++ : 0;
  }
  return places;
}

class EvalMode {
 public:
  explicit EvalMode(Model& model) : model_(model), before_(model.training()) { model_.eval(); }
  ~EvalMode() { model_.train(before_); }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  Model& model_;
  bool before_;
};

// What is given, and what follows from it before the first token.
struct Task {
  Tensor start;                               // i64 [B,P]: what sequences begin with
  Tensor input_ids, mask;                     // mask none where nothing is padding
  bool has_encoder = false;
  std::vector<std::vector<int64_t>> encoded;  // of each prompt, without padding
  std::vector<int64_t> padding;               // before the first token of each prompt of a decoder-only model
  int64_t max_length = 0;
};

Task task_of(Model& model, const Batch& prompt, const GenerationConfig& config) {
  Task task;
  const Config* own = model.config();
  const std::optional<int64_t> start = own != nullptr ? own->decoder_start() : std::nullopt;
  task.has_encoder = start.has_value();
  task.input_ids = contiguous(converted(prompt.at("input_ids"), DType::i64));
  const int64_t B = task.input_ids.size(0), T = task.input_ids.size(1);
  task.mask = prompt.find("attention_mask");
  if (task.mask.defined()) task.mask = contiguous(converted(task.mask, DType::i64));
  for (int64_t row = 0; row < B; ++row) {
    const auto is_kept = [&](int64_t i) { return !task.mask.defined() || task.mask.data<int64_t>()[row * T + i] != 0; };
    std::vector<int64_t> tokens;
    int64_t padding = 0;
    for (int64_t i = 0; i < T; ++i) {
      if (is_kept(i)) tokens.push_back(task.input_ids.data<int64_t>()[row * T + i]);
      else if (tokens.empty()) ++padding;
    }
    ROTE_CHECK(task.has_encoder || T == 0 || is_kept(T - 1), ArgumentError, "generate: row ", row,
               " ends in padding, after which this model would go on; pad prompts of decoder-only models on the left.");
    task.encoded.push_back(std::move(tokens));
    task.padding.push_back(task.has_encoder ? 0 : padding);
  }
  task.start = task.has_encoder ? full({B, 1}, static_cast<double>(config.decoder_start_token_id.value_or(start.value_or(0))), {.dtype = DType::i64}) : task.input_ids;
  const int64_t P = task.start.size(1);
  ROTE_CHECK(P > 0, ArgumentError, "generate: the prompts have no tokens; each needs one at least.");
  task.max_length = check_generation(model, config, P);
  return task;
}

// The model's scores of the next token of each row, f32 [rows, V].
class NextScores {
 public:
  NextScores(Model& model, const Task& task, bool use_cache)
      : model_(model), has_encoder_(task.has_encoder), use_cache_(use_cache), input_ids_(task.input_ids), mask_(task.mask) {
    if (!has_encoder_ && !mask_.defined()) mask_ = full(input_ids_.shape(), 1, {.dtype = DType::i64});
  }

  // ids [rows, T]: sequences so far, a token longer than at the call before.
  Tensor operator()(const Tensor& ids) {
    const int64_t T = ids.size(1), fed = use_cache_ && started_ ? 1 : T;
    Batch in;
    if (has_encoder_) {
      if (encoded_.defined()) in.set("encoder_outputs", encoded_);
      else in.set("input_ids", input_ids_);
      if (mask_.defined()) in.set("attention_mask", mask_);
      in.set("decoder_input_ids", last_columns(ids, fed));
    } else {
      while (mask_.size(1) < T) mask_ = with_column(mask_, std::vector<int64_t>(static_cast<size_t>(mask_.size(0)), 1));
      in.set("input_ids", last_columns(ids, fed));
      in.set("attention_mask", mask_);
      in.set("position_ids", last_columns(places_of(mask_), fed));
    }
    in.cache = use_cache_ ? &cache_ : nullptr;
    const ModelOutput out = model_(in);
    encoded_ = out.encoder_last_hidden_state;
    started_ = true;
    return contiguous(converted(select(out.logits, 1, out.logits.size(1) - 1), DType::f32));
  }

  // Row i goes on from what was row rows[i], a row of the same prompt. `spread`: each prompt had one row, and has several now.
  void select_from(const std::vector<int64_t>& rows, bool spread) {
    cache_.select(rows, spread);
    if (!spread) return;
    if (mask_.defined()) mask_ = select_rows(mask_, rows);
    if (encoded_.defined()) encoded_ = select_rows(encoded_, rows);
  }

 private:
  Model& model_;
  const bool has_encoder_, use_cache_;
  Tensor input_ids_, mask_, encoded_;
  KeyValueCache cache_;
  bool started_ = false;
};

// The scores [rows, V] of ids [rows, T] as the settings change them; each prompt has equally many rows.
class Processing {
 public:
  Processing(const GenerationConfig& config, const Task& task) : config_(config), task_(task) {}

  void operator()(const Tensor& ids, const Tensor& scores) {
    const int64_t rows = ids.size(0), T = ids.size(1), V = scores.size(1), each = rows / static_cast<int64_t>(task_.encoded.size());
    if (!listed_) list_ = logits_processors(config_, task_.start.size(1), task_.max_length, V);
    listed_ = true;
    for (int64_t row = 0; row < rows; ++row) {
      const size_t prompt = static_cast<size_t>(row / each), padding = static_cast<size_t>(task_.padding[prompt]);
      const std::span<const int64_t> all(ids.data<int64_t>() + row * T, static_cast<size_t>(T));
      const std::span<float> own(scores.data<float>() + row * V, static_cast<size_t>(V));
      const ScoreRow given{.ids = all.subspan(padding), .encoded = task_.encoded[prompt], .length = T, .scores = own};
      for (const LogitsProcessor& process : list_) process(given);
      ROTE_CHECK(std::none_of(own.begin(), own.end(), [](float score) { return std::isnan(score); }), NonFiniteError, "generate: a score of row ", row,
                 " after ", T, " tokens is NaN; look at the model's weights, or set remove_invalid_values to true.");
    }
  }

 private:
  const GenerationConfig& config_;
  const Task& task_;
  std::vector<LogitsProcessor> list_;
  bool listed_ = false;
};

Generated greedy(NextScores& next_scores, const Task& task, const GenerationConfig& config) {
  const int64_t B = task.start.size(0), pad = config.pad_token_id.value_or(config.eos_token_id.empty() ? 0 : config.eos_token_id[0]);
  Processing process(config, task);
  Tensor ids = task.start;
  std::vector<bool> ended(static_cast<size_t>(B));
  while (ids.size(1) < task.max_length && std::find(ended.begin(), ended.end(), false) != ended.end()) {
    const Tensor scores = next_scores(ids);
    process(contiguous(ids), scores);
    const Tensor best = argmax(scores);
    std::vector<int64_t> next;
    for (size_t row = 0; row < ended.size(); ++row) {
      next.push_back(ended[row] ? pad : best.data<int64_t>()[row]);
      ended[row] = ended[row] || holds(config.eos_token_id, next.back());
    }
    ids = with_column(ids, next);
  }
  return {ids, {}};
}

// The rows of beams to be returned, behind the prompts.
Generated best_of(const std::vector<BeamSearch>& searches, const Task& task, const GenerationConfig& config) {
  const int64_t each = config.num_return_sequences, rows = task.start.size(0) * each, P = task.start.size(1);
  const int64_t end = config.eos_token_id.empty() ? 0 : config.eos_token_id[0], pad = config.pad_token_id.value_or(0);
  static const BeamSearch::Text none{{}, -1e9f};
  const auto text = [&](int64_t row) -> const BeamSearch::Text& {
    const std::vector<BeamSearch::Text>& finished = searches[static_cast<size_t>(row / each)].finished();
    return row % each < static_cast<int64_t>(finished.size()) ? finished[static_cast<size_t>(row % each)] : none;
  };
  size_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) longest = std::max(longest, text(row).tokens.size());
  const int64_t T = P + static_cast<int64_t>(longest);
  const Generated out{full({rows, T}, static_cast<double>(pad != 0 ? pad : end), {.dtype = DType::i64}), empty({rows})};
  for (int64_t row = 0; row < rows; ++row) {
    int64_t* to = std::copy_n(task.start.data<int64_t>() + row / each * P, P, out.sequences.data<int64_t>() + row * T);
    std::copy(text(row).tokens.begin(), text(row).tokens.end(), to);
    out.sequences_scores.data<float>()[row] = text(row).score;
  }
  return out;
}

Generated by_beams(NextScores& next_scores, const Task& task, const GenerationConfig& config) {
  const int64_t B = task.start.size(0), beams = config.num_beams, P = task.start.size(1);
  std::vector<BeamSearch> searches(static_cast<size_t>(B), BeamSearch({.num_beams = beams,
                                                                       .length_penalty = config.length_penalty,
                                                                       .early_stopping = config.early_stopping,
                                                                       .eos_token_id = config.eos_token_id,
                                                                       .most_tokens = task.max_length - P}));
  std::vector<int64_t> spread;  // all beams of a prompt begin as one row
  for (int64_t row = 0; row < B * beams; ++row) spread.push_back(row / beams);
  Processing process(config, task);
  Tensor ids = task.start;
  while (std::any_of(searches.begin(), searches.end(), [](const BeamSearch& one) { return !one.is_done(); })) {
    Tensor scores = log_softmax(next_scores(ids));
    if (ids.size(0) < B * beams) {
      scores = select_rows(scores, spread);
      ids = select_rows(ids, spread);
      next_scores.select_from(spread, true);
    }
    scores = contiguous(scores);
    process(contiguous(ids), scores);
    const int64_t V = scores.size(1);
    std::vector<int64_t> from, next;
    for (int64_t prompt = 0; prompt < B; ++prompt) {
      BeamSearch& search = searches[static_cast<size_t>(prompt)];
      const bool goes_on = !search.is_done();
      if (goes_on) search.step({scores.data<float>() + prompt * beams * V, static_cast<size_t>(beams * V)});
      for (int64_t beam = 0; beam < beams; ++beam) {
        from.push_back(prompt * beams + (goes_on ? search.parents()[static_cast<size_t>(beam)] : beam));
        next.push_back(goes_on ? search.running()[static_cast<size_t>(beam)].tokens.back() : 0);  // what follows a finished search is not looked at
      }
    }
    next_scores.select_from(from, false);
    ids = with_column(select_rows(ids, from), next);
  }
  return best_of(searches, task, config);
}

}  // namespace

int64_t check_generation(Model& model, const GenerationConfig& config, int64_t prompt_length) {
  config.check();
  const InputLimits limits = model.config() != nullptr ? model.config()->limits() : InputLimits();
  const bool has_encoder = model.config() != nullptr && model.config()->decoder_start();
  constexpr int64_t kUsual = 20;
  int64_t max_length = prompt_length + kUsual;
  if (limits.length && !has_encoder) max_length = std::min(max_length, *limits.length);
  max_length = config.max_new_tokens ? prompt_length + *config.max_new_tokens : config.max_length.value_or(max_length);
  ROTE_CHECK(max_length > prompt_length, ArgumentError, "generate: max_length is ", max_length, " and the prompt has ", prompt_length,
             " tokens already; raise it, or give max_new_tokens.");
  // The last token is not fed.
  ROTE_CHECK(!limits.length || max_length - 1 <= *limits.length, ArgumentError, "generate: sequences of ", max_length, " tokens need ", max_length - 1,
             " positions, the model has ", *limits.length, "; lower max_length or max_new_tokens.");
  if (limits.vocabulary) logits_processors(config, prompt_length, max_length, *limits.vocabulary);
  return max_length;
}

Generated generate(Model& model, const Batch& prompt, const GenerationConfig& config) {
  const NoGrad no_grad;
  const EvalMode eval(model);
  const Task task = task_of(model, prompt, config);
  NextScores next_scores(model, task, config.use_cache);
  return config.num_beams == 1 ? greedy(next_scores, task, config) : by_beams(next_scores, task, config);
}

}  // namespace rote::nn

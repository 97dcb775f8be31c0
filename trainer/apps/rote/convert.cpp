// trainer/apps/rote/convert.cpp — `rote convert`: a model from any place and form that can be read, as a folder of config.json and safetensors.
#include <cstdio>
#include <filesystem>

#include "nn/auto.h"
#include "nn/gguf.h"
#include "trainer/apps/rote/verbs.h"
#include "trainer/parser.h"
#include "trainer/text/gguf_tokenizer.h"
#include "trainer/text/tokenizer.h"

namespace rote::app {

namespace fs = std::filesystem;

namespace {

struct ConvertArguments {
  std::string dtype = "auto";
  int64_t max_shard_size = nn::SavePretrainedOptions().max_shard_size;
  std::string revision = "main";
  std::string cache_dir;

  static const ArgumentTable<ConvertArguments>& table();
};

const ArgumentTable<ConvertArguments>& ConvertArguments::table() {
  using A = ConvertArguments;
  static const ArgumentTable<A> rows = {
      "arguments",
      {
          field(&A::dtype, {.name = "dtype", .help = "of the saved weights: float32, bfloat16, float16, or auto: as they are stored"}),
          field(&A::max_shard_size, {.name = "max_shard_size", .help = "bytes of weights in a file; more are split, with an index"}),
          field(&A::revision, {.name = "revision", .help = "branch, tag or commit of a model of the hub's cache"}),
          field(&A::cache_dir, {.name = "cache_dir", .help = "the hub's cache; empty: as HF_HUB_CACHE or HF_HOME say"}),
      },
  };
  return rows;
}

// What stands beside the weights: tokenizer, preprocessor, generation settings.
void copy_companions(const fs::path& from, const fs::path& to) {
  for (const fs::directory_entry& one : fs::directory_iterator(from)) {
    const std::string name = one.path().filename().string(), end = one.path().extension().string();
    const bool is_text = end == ".json" || end == ".txt" || end == ".model" || end == ".jinja";
    if (!is_text || name == "config.json" || name == "model.safetensors.index.json" || !fs::is_regular_file(one.path())) continue;
    fs::copy_file(one.path(), to / name, fs::copy_options::overwrite_existing);
  }
}

}  // namespace

int convert(int argc, char** argv) {
  auto parsed = parse_command(argc, argv, Usage{"rote convert", "Writes the model FROM (a folder, a .gguf file, or a name in the hub's cache) as a folder TO of config.json and safetensors.", "FROM TO"},
                              ConvertArguments{});
  const ConvertArguments& args = std::get<0>(parsed.values);
  ROTE_CHECK(parsed.positional.size() == 2, ArgumentError, parsed.positional.size(), " paths; give a model and the folder to write.");
  nn::PretrainedOptions options;
  options.dtype = args.dtype;
  options.revision = args.revision;
  options.cache_dir = args.cache_dir;
  const std::string from = nn::model_place(parsed.positional[0], options), to = parsed.positional[1];
  std::error_code failed;
  ROTE_CHECK(!fs::equivalent(from, to, failed), ArgumentError, to, " is the model itself; name another folder to write.");
  const nn::Loaded<nn::Model> loaded = nn::load_model("", from, options);
  const std::vector<std::string> fresh = loaded.report.fresh();
  ROTE_CHECK(fresh.empty(), IoError, "read ", from, ": ", loaded.report.text(), "; a model is converted whole or not at all.");
  std::fputs(loaded.report.table().c_str(), stderr);
  std::optional<text::Tokenizer> tokenizer;  // read before anything is written
  if (nn::is_gguf(from) && text::has_tokenizer(GgufFile::open(from))) tokenizer = text::Tokenizer::from_folder(from);
  nn::save_pretrained(*loaded.model, to, {.max_shard_size = args.max_shard_size});
  if (fs::is_directory(from)) copy_companions(from, to);
  if (tokenizer) tokenizer->save(to);
  std::printf("%s: %s, %lld numbers, %s\n", to.c_str(), loaded.model->class_name().c_str(), static_cast<long long>(loaded.model->num_parameters()),
              loaded.model->config()->dtype.c_str());
  return 0;
}

}  // namespace rote::app

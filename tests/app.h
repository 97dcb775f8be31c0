// tests/app.h — running the built `rote` on a tiny model, both streams apart.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/place.h"
#include "tests/trainer/tiny_model.h"

namespace rote::testing {

struct AppResult {
  int status = 0;
  std::string out, err;
};

// A folder with model/, train.tsv and test.tsv, in which commands run.
struct AppFolder {
  TempFolder folder;

  AppFolder() {
    write_tiny_model(folder.file("model"));
    folder.file("train.tsv", tiny_rows(22));
    folder.file("test.tsv", tiny_rows(9));
  }
  std::string file(const std::string& name) const { return folder.file(name); }

  // `rote WORDS` by the shell, WORDS as typed. `before`: what the shell does first.
  AppResult rote(const std::string& words, const std::string& before = "true") const {
    const std::string command = "cd '" + folder.path() + "' && " + before + " && exec '" + build_folder() + "/rote' " + words + " >'" + file("stdout") + "' 2>'" + file("stderr") + "'";
    const int status = run_command("(" + command + ")").status;
    return {status, read_text(file("stdout")), read_text(file("stderr"))};
  }
  // A short training into OUT; `more` adds arguments.
  AppResult train(const std::string& out, const std::string& more = "", const std::string& before = "true") const {
    return rote(
        "train --model_name_or_path model --train_file train.tsv --max_seq_length 16 --per_device_train_batch_size 4 --num_train_epochs 2 --learning_rate 1e-2 "
        "--warmup_steps 0.1 --save_strategy no --output_dir " + out + " " + more,
        before);
  }
  std::string hash(const std::string& path) const { return rote("hash " + path).out.substr(0, 64); }
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace rote::testing

// trainer/trackers/trackio.h — --report_to trackio: a row of metrics for each log, to a trackio server or as CSV.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensor/file.h"
#include "trainer/callback.h"
#include "trainer/trackers/trackio_server.h"

namespace rote {

// To the server of TRACKIO_SERVER_URL (http://HOST:PORT, with ?write_token=… or TRACKIO_WRITE_TOKEN), else OUTPUT_DIR/trackio/RUN.csv, which
// trackio.import_csv reads. The project is --project, the run --run_name or one that is made up. Sums of the whole run are left out, as in the reference.
class TrackioCallback : public TrainerCallback {
 public:
  // Throws ArgumentError for an address that cannot be used.
  TrackioCallback();

  void on_train_begin(const CallbackContext& context, TrainerControl&) override;
  void on_log(const CallbackContext& context, TrainerControl&) override;
  void on_predict(const CallbackContext& context, TrainerControl&) override;
  void on_train_end(const CallbackContext& context, TrainerControl&) override;

 private:
  void attempt(const std::function<void()>& work);
  void open(const CallbackContext& context);
  void log(ValueMap row);
  std::string line(size_t number) const;
  void append_to_table(const ValueMap& row);

  std::optional<HttpAddress> address_;
  std::string write_token_, run_, table_path_;
  std::unique_ptr<TrackioServer> server_;
  std::unique_ptr<AppendFile> table_;
  std::vector<std::string> columns_;
  std::vector<ValueMap> rows_;
  bool failed_ = false;
};

}  // namespace rote

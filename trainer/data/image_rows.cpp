#include "trainer/data/image_rows.h"

#include <algorithm>
#include <filesystem>

#include "kernels/check.h"
#include "tensor/file.h"
#include "trainer/data/labelled_rows.h"
#include "trainer/text/unicode.h"

namespace rote::data {

namespace fs = std::filesystem;

namespace {

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

bool is_picture(const fs::path& path) {
  std::string suffix = path.extension().native();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg";
}

std::vector<fs::path> pictures_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
    if (is_hidden(at->path())) {
      if (at->is_directory()) at.disable_recursion_pending();
    } else if (is_picture(at->path()) && at->is_regular_file()) {
      found.push_back(at->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> class_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && !is_hidden(entry.path())) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

class ImageDataset : public Dataset {
 public:
  ImageDataset(std::vector<std::string> paths, std::vector<int64_t> classes, ImageProcessor processor)
      : paths_(std::move(paths)), classes_(std::move(classes)), processor_(std::move(processor)) {}
  int64_t size() const override { return static_cast<int64_t>(paths_.size()); }
  Example at(int64_t row) const override {
    const std::string& path = paths_[static_cast<size_t>(row)];
    const Image image = read_image(path, processor_.colors());
    try {
      return {{"pixel_values", processor_.pixel_values(image)}, {"label", Feature::single(classes_[static_cast<size_t>(row)])}};
    } catch (const ArgumentError& fault) {
      throw ArgumentError(str(path, ": ", fault.text));
    }
  }

 private:
  const std::vector<std::string> paths_;
  const std::vector<int64_t> classes_;
  const ImageProcessor processor_;
};

}  // namespace

std::vector<LabelledFile> image_folder(const std::string& folder) {
  std::error_code none;
  ROTE_CHECK(fs::is_directory(folder, none), ArgumentError, folder, ": is no folder; one that holds a folder of pictures for each class is needed.");
  std::vector<LabelledFile> files;
  try {
    for (const fs::path& one : class_folders(folder)) {
      const std::string label = one.filename().native();
      ROTE_CHECK(text::to_valid_utf8(label) == label, ArgumentError, one.native(), ": the name of a class folder must be UTF-8, as the label that it becomes.");
      const std::vector<fs::path> pictures = pictures_below(one);
      ROTE_CHECK(!pictures.empty(), ArgumentError, one.native(), ": holds no .png, .jpg or .jpeg file; a class folder has at least one.");
      for (const fs::path& picture : pictures) files.push_back({picture.native(), label, picture.native()});
    }
  } catch (const fs::filesystem_error& fault) {
    throw IoError(str(fault.path1().native(), ": cannot be read (", fault.code().message(), ")."));
  }
  ROTE_CHECK(!files.empty(), ArgumentError, folder, ": holds no class folder; pictures must lie in folders whose names are their labels.");
  return files;
}

std::vector<LabelledFile> image_table(const Table& table, const std::string& image_column, const std::string& label_column) {
  const size_t image = table.column(image_column), label = table.column(label_column);
  const fs::path folder = fs::path(table.source).parent_path();
  std::vector<LabelledFile> files;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string path = (folder / table.rows[row][image]).native();
    ROTE_CHECK(is_file(path), ArgumentError, table.place(row), ": ", path, " is no file; column ", image_column, " must name pictures, relative to the table's folder.");
    ROTE_CHECK(!table.rows[row][label].empty(), ArgumentError, table.place(row), ": the label in column ", label_column, " is empty; every row needs one.");
    files.push_back({path, table.rows[row][label], table.place(row)});
  }
  return files;
}

std::unique_ptr<Dataset> images(const std::vector<LabelledFile>& files, const std::vector<std::string>& labels, const ImageProcessor& processor) {
  std::vector<std::string> paths;
  std::vector<int64_t> classes;
  for (const LabelledFile& file : files) {
    paths.push_back(file.path);
    classes.push_back(class_of(file.label, labels, file.place));
  }
  return std::make_unique<ImageDataset>(std::move(paths), std::move(classes), processor);
}

}  // namespace rote::data

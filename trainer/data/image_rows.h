// trainer/data/image_rows.h — rows of a picture and its class: from folders of classes or from a table of paths. Pictures are read when a row is asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/image_processor.h"
#include "trainer/data/table.h"

namespace rote::data {

struct LabelledFile {
  std::string path;
  std::string label;
  std::string place;  // for error texts: the path, or the line of the table
};

// The pictures (.png .jpg .jpeg) below the folders of `folder`, at any depth, by name; the folder's own name is the label. What begins with a dot
// is passed over. Throws ArgumentError where there is no class folder, or one without pictures or with a name that is not UTF-8.
std::vector<LabelledFile> image_folder(const std::string& folder);

// One a row of the table; paths are relative to the table's file. Throws ArgumentError for a column or a file that is not there.
std::vector<LabelledFile> image_table(const Table& table, const std::string& image_column, const std::string& label_column);

// Rows of pixel_values and label. Any thread may ask; what is wrong with a picture is thrown then, by its name.
// Throws ArgumentError for a label that `labels` lacks, naming the place.
std::unique_ptr<Dataset> images(const std::vector<LabelledFile>& files, const std::vector<std::string>& labels, const ImageProcessor& processor);

}  // namespace rote::data

// trainer/data/resample.h — an image at another size, with the bits of Pillow 13's Image.resize. No files, no floats in the result.
#pragma once

#include "trainer/data/image.h"

namespace rote::data {

enum class Filter { nearest = 0, bilinear = 2, bicubic = 3 };  // numbers as preprocessor_config.json has them

// Each pixel of the result is the weighted mean of those that it covers, along rows and along columns, rounded to a byte after each; the weights are
// those of the filter, stretched where the image shrinks, as fixed-point numbers of 22 bits after the point. Columns come first where more than
// twice as many rows as columns fall away; versions before 13 never begin with them, and differ by a step then. nearest takes the pixel in the middle.
//  REQUIRES: height, width > 0.
Image resized(const Image& image, int64_t height, int64_t width, Filter filter);

}  // namespace rote::data

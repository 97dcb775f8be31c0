// trainer/plots.h — curves drawn: as characters for a terminal, as an SVG file's text. Reads nothing and writes no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/curves.h"

namespace rote {

inline constexpr int64_t kLeastPlotWidth = 40;

// `width` characters a line, 16 lines of curves, each in a letter of its own, the axes with their ticks, and a legend. REQUIRES: width >= kLeastPlotWidth.
std::string text_plot(const std::vector<Curve>& curves, int64_t width);

// One picture of 800 by 480: lines, grid, ticks, axis titles, legend. Needs no font but the viewer's sans-serif.
std::string svg_plot(const std::vector<Curve>& curves);

}  // namespace rote

#include "trainer/plots.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "trainer/python_text.h"
#include "trainer/text/unicode.h"

namespace rote {

namespace {

// --- for a terminal ---

constexpr int64_t kRows = 16;
constexpr char kMarks[] = "*o+x#@%&";

struct Cell {
  int64_t column = 0, row = 0;
};

int64_t nearest(double share, int64_t cells) {
  return std::clamp<int64_t>(static_cast<int64_t>(std::lround(share * static_cast<double>(cells - 1))), 0, cells - 1);
}

// Every cell that the line from a to b passes.
template <class F>
void along(Cell a, Cell b, const F& mark) {
  const int64_t columns = b.column - a.column, rows = b.row - a.row, steps = std::max(std::abs(columns), std::abs(rows));
  for (int64_t i = 0; i <= steps; ++i) {
    const double share = steps == 0 ? 0 : static_cast<double>(i) / static_cast<double>(steps);
    mark(a.column + std::lround(share * static_cast<double>(columns)), a.row + std::lround(share * static_cast<double>(rows)));
  }
}

std::string without_end(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

// --- for SVG ---

constexpr double kWidth = 820, kHeight = 480, kLeft = 70, kRight = 780, kTop = 20, kBottom = 400;
// Okabe and Ito's eight colours, told apart by the colour-blind too; from the ninth curve on the lines are dashed.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"};
constexpr size_t kColourCount = std::size(kColours);

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text::to_valid_utf8(text)) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20) out += ' ';
    else out += c;
  }
  return out;
}

std::string fixed(double x) { return fixed_float(x, 1); }

std::string line_of(double x1, double y1, double x2, double y2, const char* colour) {
  return "<line x1=\"" + fixed(x1) + "\" y1=\"" + fixed(y1) + "\" x2=\"" + fixed(x2) + "\" y2=\"" + fixed(y2) + "\" stroke=\"" + colour + "\"/>\n";
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>\n";
}

// Attributes of the curve's line.
std::string stroke(size_t curve) {
  return std::string("stroke=\"") + kColours[curve % kColourCount] + "\" stroke-width=\"1.8\"" + (curve < kColourCount ? "" : " stroke-dasharray=\"6 3\"");
}

}  // namespace

std::string text_plot(const std::vector<Curve>& curves, int64_t width) {
  const Axes axes = axes_of(curves, std::max<int64_t>(width / 16, 2), 5);
  std::vector<std::string> labels(kRows);  // of the lines, top first
  size_t margin = 0;
  for (int64_t i = 0; i <= axes.y.count; ++i) {
    const std::string label = axes.y.label(i);
    labels[static_cast<size_t>(kRows - 1 - nearest(axes.y.share(axes.y.at(i)), kRows))] = label;
    margin = std::max(margin, label.size());
  }
  const int64_t columns = width - static_cast<int64_t>(margin) - 2;
  std::vector<std::string> cells(kRows, std::string(static_cast<size_t>(columns), ' '));
  for (size_t c = 0; c < curves.size(); ++c) {
    const char mark = kMarks[c % (sizeof kMarks - 1)];
    const auto put = [&](int64_t column, int64_t row) { cells[static_cast<size_t>(row)][static_cast<size_t>(column)] = mark; };
    const auto cell = [&](const std::pair<double, double>& point) {
      return Cell{nearest(axes.x.share(point.first), columns), kRows - 1 - nearest(axes.y.share(point.second), kRows)};
    };
    const auto& points = curves[c].points;
    for (size_t i = 0; i < points.size(); ++i) along(cell(points[i == 0 ? 0 : i - 1]), cell(points[i]), put);
  }
  std::string text;
  for (size_t row = 0; row < cells.size(); ++row)
    text += without_end(std::string(margin - labels[row].size(), ' ') + labels[row] + " |" + cells[row]) + "\n";
  text += std::string(margin + 1, ' ') + "+" + std::string(static_cast<size_t>(columns), '-') + "\n";
  std::string ticks(static_cast<size_t>(width), ' ');
  size_t free = 0;  // up to here other labels stand
  for (int64_t i = 0; i <= axes.x.count; ++i) {
    const std::string label = axes.x.label(i);
    const size_t middle = margin + 2 + static_cast<size_t>(nearest(axes.x.share(axes.x.at(i)), columns));
    const size_t begin = std::min(middle - std::min(middle, label.size() / 2), ticks.size() - label.size());
    if (begin < free) continue;
    ticks.replace(begin, label.size(), label);
    free = begin + label.size() + 1;
  }
  text += without_end(ticks) + "\n";
  for (size_t c = 0; c < curves.size(); ++c) text += std::string(margin + 2, ' ') + kMarks[c % (sizeof kMarks - 1)] + " " + curves[c].name + "\n";
  return text;
}

std::string svg_plot(const std::vector<Curve>& curves) {
  const Axes axes = axes_of(curves, 8, 6);
  const auto x_of = [&](double x) { return kLeft + axes.x.share(x) * (kRight - kLeft); };
  const auto y_of = [&](double y) { return kBottom - axes.y.share(y) * (kBottom - kTop); };
  const double foot = kBottom + 62 + 18 * static_cast<double>((curves.size() - 1) / 2), height = std::max(kHeight, foot + 18);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + fixed(kWidth) + " " + fixed(height) + "\" font-family=\"sans-serif\" font-size=\"13\">\n";
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  for (int64_t i = 0; i <= axes.y.count; ++i) {
    const double y = y_of(axes.y.at(i));
    svg += line_of(kLeft, y, kRight, y, i == 0 ? "#333333" : "#dddddd") + text_at(kLeft - 8, y + 4, "end", axes.y.label(i));
  }
  for (int64_t i = 0; i <= axes.x.count; ++i) {
    const double x = x_of(axes.x.at(i));
    svg += line_of(x, kTop, x, kBottom, i == 0 ? "#333333" : "#dddddd") + text_at(x, kBottom + 18, "middle", axes.x.label(i));
  }
  svg += text_at((kLeft + kRight) / 2, kBottom + 38, "middle", "step");
  for (size_t c = 0; c < curves.size(); ++c) {
    const auto& points = curves[c].points;
    if (points.size() == 1) {
      svg += "<circle cx=\"" + fixed(x_of(points[0].first)) + "\" cy=\"" + fixed(y_of(points[0].second)) + "\" r=\"3\" fill=\"" + kColours[c % kColourCount] + "\"/>\n";
    } else {
      svg += "<polyline fill=\"none\" " + stroke(c) + " points=\"";
      for (size_t i = 0; i < points.size(); ++i) svg += (i == 0 ? "" : " ") + fixed(x_of(points[i].first)) + "," + fixed(y_of(points[i].second));
      svg += "\"/>\n";
    }
    const double x = kLeft + static_cast<double>(c % 2) * (kRight - kLeft) / 2, y = kBottom + 62 + 18 * static_cast<double>(c / 2);
    svg += "<line x1=\"" + fixed(x) + "\" y1=\"" + fixed(y - 4) + "\" x2=\"" + fixed(x + 24) + "\" y2=\"" + fixed(y - 4) + "\" " + stroke(c) + "/>\n" +
           text_at(x + 32, y, "start", curves[c].name);
  }
  return svg + "</svg>\n";
}

}  // namespace rote

// tests/trainer/plots_test.cpp — curves as characters and as SVG, by their exact texts.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "trainer/plots.h"

using namespace rote;

namespace {

const std::vector<Curve> kFalling = {{"loss", {{0, 1}, {10, 0.5}, {20, 0.25}, {40, 0}}}, {"eval_loss", {{20, 0.5}, {40, 0.5}}}};

int64_t count(const std::string& text, const std::string& part) {
  int64_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("text plot: curves, ticks and legend stand where their numbers say") {
  CHECK(text_plot(kFalling, 40) ==
        "1.0 |*\n"
        "    | *\n"
        "    |  **\n"
        "0.8 |    *\n"
        "    |     *\n"
        "    |      **\n"
        "0.6 |        *\n"
        "    |         *       oooooooooooooooooo\n"
        "    |          **\n"
        "0.4 |            **\n"
        "    |              **\n"
        "    |                ****\n"
        "0.2 |                    ****\n"
        "    |                        ****\n"
        "    |                            ****\n"
        "  0 |                                ***\n"
        "    +-----------------------------------\n"
        "     0               20               40\n"
        "     * loss\n"
        "     o eval_loss\n");
}

TEST_CASE("text plot: no line is longer than the width, whatever is drawn") {
  for (const int64_t width : {kLeastPlotWidth, int64_t{80}, int64_t{233}}) {
    for (const double scale : {1e-12, 1.0, 1e12}) {
      std::vector<Curve> curves;
      for (int64_t c = 0; c < 11; ++c) curves.push_back({"c", {{1.0 + static_cast<double>(c), scale}, {1e6 * scale, -3 * scale}, {1e6 * scale + 1, 7 * scale}}});
      std::istringstream lines(text_plot(curves, width));
      int64_t n = 0;
      for (std::string line; std::getline(lines, line); ++n) CHECK(static_cast<int64_t>(line.size()) <= width);
      CHECK(n == 16 + 2 + 11);
    }
  }
}

TEST_CASE("text plot: one point is one mark") {
  const std::string plot = text_plot({{"eval", {{5, 0.5}}}}, 60);
  CHECK(count(plot, "*") == 2);  // and the legend's
}

TEST_CASE("svg plot: the text of a small picture") {
  CHECK(svg_plot({{"a<b", {{0, 0}, {10, 1}}}}) == R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820.0 480.0" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#ffffff"/>
<line x1="70.0" y1="400.0" x2="780.0" y2="400.0" stroke="#333333"/>
<text x="62.0" y="404.0" text-anchor="end">0</text>
<line x1="70.0" y1="324.0" x2="780.0" y2="324.0" stroke="#dddddd"/>
<text x="62.0" y="328.0" text-anchor="end">0.2</text>
<line x1="70.0" y1="248.0" x2="780.0" y2="248.0" stroke="#dddddd"/>
<text x="62.0" y="252.0" text-anchor="end">0.4</text>
<line x1="70.0" y1="172.0" x2="780.0" y2="172.0" stroke="#dddddd"/>
<text x="62.0" y="176.0" text-anchor="end">0.6</text>
<line x1="70.0" y1="96.0" x2="780.0" y2="96.0" stroke="#dddddd"/>
<text x="62.0" y="100.0" text-anchor="end">0.8</text>
<line x1="70.0" y1="20.0" x2="780.0" y2="20.0" stroke="#dddddd"/>
<text x="62.0" y="24.0" text-anchor="end">1.0</text>
<line x1="70.0" y1="20.0" x2="70.0" y2="400.0" stroke="#333333"/>
<text x="70.0" y="418.0" text-anchor="middle">0</text>
<line x1="212.0" y1="20.0" x2="212.0" y2="400.0" stroke="#dddddd"/>
<text x="212.0" y="418.0" text-anchor="middle">2</text>
<line x1="354.0" y1="20.0" x2="354.0" y2="400.0" stroke="#dddddd"/>
<text x="354.0" y="418.0" text-anchor="middle">4</text>
<line x1="496.0" y1="20.0" x2="496.0" y2="400.0" stroke="#dddddd"/>
<text x="496.0" y="418.0" text-anchor="middle">6</text>
<line x1="638.0" y1="20.0" x2="638.0" y2="400.0" stroke="#dddddd"/>
<text x="638.0" y="418.0" text-anchor="middle">8</text>
<line x1="780.0" y1="20.0" x2="780.0" y2="400.0" stroke="#dddddd"/>
<text x="780.0" y="418.0" text-anchor="middle">10</text>
<text x="425.0" y="438.0" text-anchor="middle">step</text>
<polyline fill="none" stroke="#0072b2" stroke-width="1.8" points="70.0,400.0 780.0,20.0"/>
<line x1="70.0" y1="458.0" x2="94.0" y2="458.0" stroke="#0072b2" stroke-width="1.8"/>
<text x="102.0" y="462.0" text-anchor="start">a&lt;b</text>
</svg>
)");
}

TEST_CASE("svg plot: every curve has its line and its name; single points are dots; names are escaped") {
  std::vector<Curve> curves = kFalling;
  for (int64_t c = 0; c < 8; ++c) curves.push_back({"run \"" + std::to_string(c) + "\" & more", {{1, 0.1}, {3, 0.2}}});
  curves.push_back({"dot\xff", {{2, 0.3}}});
  const std::string svg = svg_plot(curves);
  CHECK(count(svg, ">dot\xef\xbf\xbd</text>") == 1);  // no UTF-8
  CHECK(count(svg, "<polyline") == 10);
  CHECK(count(svg, "<circle") == 1);
  CHECK(count(svg, "&quot;7&quot; &amp; more</text>") == 1);
  CHECK(count(svg, "stroke-dasharray") == 5);  // lines 9 and 10, and three in the legend
  CHECK(count(svg, "<") == count(svg, ">"));
  CHECK(svg.find("viewBox=\"0 0 820.0 570.0\"") != std::string::npos);  // taller: six rows of names
}

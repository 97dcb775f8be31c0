// trainer/trackers/http.h — one request to an http:// address over a plain socket, for trackers that run beside the training. No TLS.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rote {

struct HttpAddress {
  std::string host, port, path, query;  // path without a slash at its end
};
// Throws ArgumentError for what is no http:// address; `who` begins the text.
HttpAddress parse_address(const std::string& url, const std::string& who);

struct HttpAnswer {
  int status = 0;
  std::string body;
};
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// POSTs JSON to address.path + path. Throws IoError where there is no connection, no answer within some seconds, or one that is no HTTP.
HttpAnswer post_json(const HttpAddress& address, const std::string& path, const HttpHeaders& headers, const std::string& json);

}  // namespace rote

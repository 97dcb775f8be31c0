#include "trainer/trackers/http.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "kernels/check.h"

namespace rote {

namespace {

constexpr int kSeconds = 10;  // for each of connecting and sending, and for the answer as a whole
constexpr size_t kMostAnswer = 16u << 20;

// Of an answer that is sent in chunks, the bytes in them.
std::string unchunked(const std::string& body, const std::string& who) {
  std::string whole;
  for (size_t at = 0;;) {
    const size_t end = body.find("\r\n", at);
    size_t size = 0;
    const bool is_number = end != std::string::npos && std::from_chars(body.data() + at, body.data() + end, size, 16).ec == std::errc();
    ROTE_CHECK(is_number && size <= body.size() - end - 2, IoError, who, ": the answer broke off.");
    if (size == 0) return whole;
    whole.append(body, end + 2, size);
    at = std::min(body.size(), end + 2 + size + 2);
  }
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// The length that the fields of an answer's head give its body; none: it ends with the connection.
std::optional<size_t> length_of(const std::string& head) {
  const std::string key = "\r\ncontent-length: ", fields = lower_case(head);
  const size_t at = fields.find(key);
  size_t length = 0;
  const bool is_number = at != std::string::npos && std::from_chars(fields.data() + at + key.size(), fields.data() + fields.size(), length).ec == std::errc();
  return is_number ? std::optional(length) : std::nullopt;
}

// A server may leave the connection open behind it.
bool is_whole(const std::string& answer) {
  const size_t head = answer.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  const std::optional<size_t> length = length_of(answer.substr(0, head));
  return length && answer.size() - head - 4 >= *length;
}

struct Socket {
  int fd = -1;
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
};

void connect(Socket& socket, const HttpAddress& to, const std::string& who) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found);
  ROTE_CHECK(fault == 0, IoError, who, ": ", ::gai_strerror(fault), ".");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  int last = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Socket tried{::socket(one->ai_family, one->ai_socktype, one->ai_protocol)};
    if (tried.fd < 0) continue;
    const timeval limit = {kSeconds, 0};
    ::setsockopt(tried.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    ::setsockopt(tried.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (::connect(tried.fd, one->ai_addr, one->ai_addrlen) == 0) {
      socket.fd = std::exchange(tried.fd, -1);
      return;
    }
    last = errno;
  }
  throw IoError(str(who, ": ", std::strerror(last), "."));
}

}  // namespace

HttpAddress parse_address(const std::string& url, const std::string& who) {
  constexpr const char* kScheme = "http://";
  ROTE_CHECK(!url.starts_with("https://"), ArgumentError, who, ": ", url, " wants TLS, which this build has not; give an http:// address, of a server on this machine for example.");
  ROTE_CHECK(url.starts_with(kScheme), ArgumentError, who, ": ", url, " is no http:// address.");
  HttpAddress address;
  std::string rest = url.substr(std::strlen(kScheme));
  if (const size_t mark = rest.find('?'); mark != std::string::npos) address.query = rest.substr(mark + 1), rest.resize(mark);
  if (const size_t slash = rest.find('/'); slash != std::string::npos) address.path = rest.substr(slash), rest.resize(slash);
  while (address.path.ends_with('/')) address.path.pop_back();
  const size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string::npos && rest.find(']', colon) == std::string::npos;
  address.host = rest.substr(0, has_port ? colon : std::string::npos);
  address.port = has_port ? rest.substr(colon + 1) : "80";
  if (address.host.starts_with('[') && address.host.ends_with(']')) address.host = address.host.substr(1, address.host.size() - 2);
  int port = 0;
  const auto [end, fault] = std::from_chars(address.port.data(), address.port.data() + address.port.size(), port);
  ROTE_CHECK(!address.host.empty() && fault == std::errc() && end == address.port.data() + address.port.size() && port > 0 && port < 65536, ArgumentError, who, ": ", url,
             " names no host and port; http://127.0.0.1:7860 does.");
  return address;
}

HttpAnswer post_json(const HttpAddress& address, const std::string& path, const HttpHeaders& headers, const std::string& json) {
  const std::string who = str("http://", address.host, ":", address.port, address.path, path);
  Socket socket;
  connect(socket, address, who);
  std::string request = str("POST ", address.path, path, " HTTP/1.1\r\nHost: ", address.host, ":", address.port,
                            "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ", json.size(), "\r\n");
  for (const auto& [name, value] : headers) request += name + ": " + value + "\r\n";
  request += "\r\n" + json;
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t n = ::send(socket.fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    ROTE_CHECK(n > 0, IoError, who, ": ", std::strerror(errno), ".");
    sent += static_cast<size_t>(n);
  }
  std::string answer;
  char part[16384];
  const auto begun = std::chrono::steady_clock::now();
  for (ssize_t n; !is_whole(answer) && (n = ::recv(socket.fd, part, sizeof part, 0)) != 0;) {
    ROTE_CHECK(n > 0, IoError, who, ": ", std::strerror(errno), ".");
    answer.append(part, static_cast<size_t>(n));
    ROTE_CHECK(answer.size() <= kMostAnswer, IoError, who, ": the answer is longer than ", kMostAnswer, " bytes.");
    ROTE_CHECK(std::chrono::steady_clock::now() - begun <= std::chrono::seconds(kSeconds), IoError, who, ": the answer takes longer than ", kSeconds, " s.");
  }
  const size_t head = answer.find("\r\n\r\n");
  HttpAnswer result;
  ROTE_CHECK(answer.starts_with("HTTP/1.") && head != std::string::npos && answer.size() > 12 &&
                 std::from_chars(answer.data() + 9, answer.data() + 12, result.status).ec == std::errc(),
             IoError, who, ": the answer is no HTTP.");
  result.body = answer.substr(head + 4);
  if (const std::optional<size_t> length = length_of(answer.substr(0, head))) ROTE_CHECK(result.body.size() >= *length, IoError, who, ": the answer broke off.");
  if (lower_case(answer.substr(0, head)).find("\r\ntransfer-encoding: chunked") != std::string::npos) result.body = unchunked(result.body, who);
  return result;
}

}  // namespace rote

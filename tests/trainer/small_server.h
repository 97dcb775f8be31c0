// tests/trainer/small_server.h — a server on this machine that answers each request as a test has it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "kernels/check.h"

namespace rote::testing {

class SmallServer {
 public:
  // answer(path, body of the request) -> all bytes of the answer. By the server's own thread, one request at a time.
  using Answer = std::function<std::string(const std::string& path, const std::string& request)>;

  explicit SmallServer(Answer answer) : answer_(std::move(answer)), fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ROTE_CHECK(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(fd_, 8) == 0 &&
                   ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0,
               IoError, "test: no port of this machine can be listened on.");
    url = str("http://127.0.0.1:", ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~SmallServer() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }

  static std::string json(const std::string& body, int status = 200) {
    return str("HTTP/1.1 ", status, " Said\r\nContent-Type: application/json\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
  }

  std::string url;
  std::atomic<bool> leaves_open = false;  // until the client closes

 private:
  void serve() {
    for (int client; (client = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(client)) {
      std::string request;
      size_t body = std::string::npos;
      char part[4096];
      for (ssize_t n; !is_whole(request, body) && (n = ::recv(client, part, sizeof part, 0)) > 0;) request.append(part, static_cast<size_t>(n));
      const size_t begin = request.find(' ') + 1;
      const std::string said = answer_(request.substr(begin, request.find(' ', begin) - begin), request.substr(body));
      ::send(client, said.data(), said.size(), MSG_NOSIGNAL);
      while (leaves_open && ::recv(client, part, sizeof part, 0) > 0) {}
    }
  }
  static bool is_whole(const std::string& request, size_t& body) {
    const size_t head = request.find("\r\n\r\n"), length = request.find("Content-Length: ");
    if (head == std::string::npos) return false;
    body = head + 4;
    return length == std::string::npos || request.size() - body >= std::stoul(request.substr(length + 16));
  }

  const Answer answer_;
  const int fd_;
  std::thread thread_;
};

}  // namespace rote::testing

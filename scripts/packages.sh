# scripts/packages.sh — sourced by the other scripts: finds which Debian packages are missing and installs those. No builds, no downloads.

missing_packages=()

# need PACKAGE COMMAND…: the package is missing unless the command succeeds.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing_packages+=("$package")
}

has_static_library() { c++ -print-file-name="$1" | grep -q /; }
has_header() { echo "#include <$1>" | c++ -E -x c++ -; }

need_build_packages() {
  need g++ command -v c++
  need make command -v make
  need cmake command -v cmake
  need python3 command -v python3
  need nlohmann-json3-dev has_header nlohmann/json.hpp
  need libutf8proc-dev has_static_library libutf8proc.a
  need libpng-dev has_static_library libpng.a
  need zlib1g-dev has_static_library libz.a
  need libjpeg-dev has_static_library libjpeg.a
  need libyaml-cpp-dev has_static_library libyaml-cpp.a
}

# Root installs; an ordinary user does where sudo asks nothing, and is told the command otherwise.
install_missing_packages() {
  ((${#missing_packages[@]})) || return 0
  local as_root=() log
  if ((EUID != 0)); then
    as_root=(sudo -n)
    if ! sudo -n true 2>/dev/null; then
      echo "$0: packages are missing; install them first: apt-get install --no-install-recommends ${missing_packages[*]}" >&2
      exit 2
    fi
  fi
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get -qq update &&
         "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing_packages[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "$0: apt-get could not install: ${missing_packages[*]}" >&2
    exit 2
  fi
  rm -f "$log"
  missing_packages=()
}

# quietly COMMAND…: its output is shown only if it fails, which then ends the script.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    echo "$0: failed: $*" >&2
    exit 1
  fi
  rm -f "$log"
}

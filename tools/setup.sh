#!/usr/bin/env bash
# Sets up what a make target needs: Debian/Ubuntu packages and a virtual environment in .venv. Says what it installs;
# does nothing the second time. Usage: tools/setup.sh demo|test
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?usage: tools/setup.sh demo|test}

# command -> the package that brings it
needed=(
    "arm-none-eabi-gcc:gcc-arm-none-eabi"
    "qemu-system-arm:qemu-system-arm"
    "gcc:gcc"
)
[ "$target" = demo ] || needed+=("clang:clang" "cmake:cmake")

missing=()
for entry in "${needed[@]}"; do
    command -v "${entry%%:*}" >/dev/null || missing+=("${entry#*:}")
done
printf '#include <string.h>\n' | arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -E - >/dev/null 2>&1 || missing+=(libnewlib-arm-none-eabi)
printf 'int main(void){return 0;}\n' | gcc -x c - -o /dev/null >/dev/null 2>&1 || missing+=(libc6-dev)
if [ "$target" != demo ]; then
    printf 'int main(void){return 0;}\n' | clang -fsanitize=address,undefined -x c - -o /dev/null >/dev/null 2>&1 || missing+=("libclang-rt-dev")
fi
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)

if [ "${#missing[@]}" -gt 0 ]; then
    packages=$(printf '%s\n' "${missing[@]}" | sort -u | tr '\n' ' ')
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        if sudo -n true 2>/dev/null || { [ -t 0 ] && command -v sudo >/dev/null; }; then
            as_root="sudo"
        else
            echo "These packages are missing and this user may not install them. Please run:" >&2
            echo "    apt-get install -y --no-install-recommends $packages" >&2
            exit 3
        fi
    fi
    if ! command -v apt-get >/dev/null; then
        echo "Please install what Debian calls: $packages" >&2
        exit 3
    fi
    echo "installing Debian packages: $packages"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    # Debian names the sanitizer runtime by clang's version
    case "$packages" in
    *libclang-rt-dev*)
        version=$(clang --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -1)
        [ -n "$version" ] || version=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\).*/\1/p' | head -1)
        packages=${packages/libclang-rt-dev/libclang-rt-$version-dev}
        ;;
    esac
    # shellcheck disable=SC2086  # a list of words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

extras=demo
[ "$target" = demo ] || extras=dev
stamp=.venv/.tinydeploy-$extras-$(sha256sum pyproject.toml | cut -c1-16)
if [ ! -e "$stamp" ] && { [ "$extras" != demo ] || [ ! -e "${stamp/-demo-/-dev-}" ]; }; then
    [ -x .venv/bin/python ] || { echo "making a virtual environment in .venv"; python3 -m venv .venv; }
    echo "installing tinydeploy[$extras] and what it needs into .venv (a minute or more, nothing is shown)"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[$extras]"
    rm -f .venv/.tinydeploy-"$extras"-*
    touch "$stamp"
fi

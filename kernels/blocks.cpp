// kernels/blocks.cpp — where the sizes of blocks.h live.
#include "kernels/blocks.h"

namespace rote {

GemmBlocks gemm_blocks;

}  // namespace rote

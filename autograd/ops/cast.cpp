#include "autograd/ops/cast.h"

#include "autograd/boxed.h"

namespace rote {

void Cast::forward(Call& call) {
  for (int i = 0; i < kDTypes; ++i)
    if (call.word(0) == kDTypeInfo[i].name) {
      call.out[0] = empty(call.in[0].shape(), {.dtype = static_cast<DType>(i)});
      copy_elements(call.out[0], call.in[0]);
      return;
    }
  std::string known;
  for (const DTypeInfo& one : kDTypeInfo) known += str(known.empty() ? "" : " ", one.name);
  throw DTypeError(str("cast: \"", call.word(0), "\" is not a dtype; known are ", known, "."));
}

void Cast::backward(Call& call) { call.din[0] = to(call.dout[0], call.in_dtypes[0]); }

std::vector<Composition> cast_compositions() {
  return {
      {"to.dtype", [](const Arguments& a) -> Value {
         a.ignore("copy"), a.ignore("non_blocking"), a.ignore("memory_format");
         return to(a.tensor("self"), *a.dtype("dtype"));
       }},
      {"detach", [](const Arguments& a) -> Value { return detach(a.tensor("self")); }},
      {"item", [](const Arguments& a) -> Value {
         const Tensor x = a.tensor("self");
         if (is_floating(x.dtype())) return x.item();
         if (x.dtype() == DType::boolean) return x.item_i64() != 0;
         return x.item_i64();
       }},
  };
}

}  // namespace rote

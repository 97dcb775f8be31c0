#include "autograd/ops/cast.h"

#include "autograd/boxed.h"
#include "autograd/ops/view.h"

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
      {"to.dtype; to.device; to.dtype_layout; to.other; type_as", [](const Arguments& a) -> Value {
         a.ignore("non_blocking"), a.ignore("memory_format"), a.ignore("device");
         const Tensor x = a.tensor("self");
         const Tensor y = to(x, a.given("other") ? a.tensor("other").dtype() : a.dtype("dtype").value_or(x.dtype()));
         return a.given("copy") && a.flag("copy") && y.storage() == x.storage() ? clone(y) : y;
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

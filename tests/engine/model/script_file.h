#pragma once

#include "engine/model/model.h"

// Qt and LibTorch both have a word `slots`.
#pragma push_macro("slots")
#undef slots
#include <torch/csrc/jit/api/module.h>
#pragma pop_macro("slots")

#include <string>

namespace mantissa {

/// A network of two layers as a TorchScript file, made without Python.
inline std::string makeScriptFile(const std::string& file, bool drops = false)
{
    torch::jit::Module module("Net");
    auto generator = at::make_generator<at::CPUGeneratorImpl>(std::uint64_t{8});
    const auto weight = [&](std::int64_t out, std::int64_t in) {
        return at::randn({out, in}, generator).mul_(0.1).set_requires_grad(true);
    };
    module.register_parameter("w1", weight(48, 64), false);
    module.register_parameter("b1", at::zeros({48}).set_requires_grad(true), false);
    module.register_parameter("w2", weight(10, 48), false);
    module.register_attribute("training", c10::BoolType::get(), true);
    module.define("def forward(self, x):\n"
                  "    h = torch.relu(torch.linear(x, self.w1, self.b1))\n"
                  + std::string(drops ? "    h = torch.dropout(h, 0.5, self.training)\n" : "")
                  + "    return torch.linear(h, self.w2)\n");
    module.save(file);
    return file;
}

} // namespace mantissa

#include "engine/core/thrown_error.h"
#include "engine/model/layers.h"
#include "engine/tensor/guarded_torch.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <mutex>

namespace mantissa {
namespace {

constexpr std::uint64_t kScriptStream = 4;

torch::jit::Module load(const std::string& file)
{
    try {
        return torch::jit::load(file, at::kCPU);
    } catch (const c10::Error& error) {
        const std::string words = plainWords(error);
        throw ThrownError(
            {ErrorCode::InvalidSetup,
             file + " is no TorchScript file that can be read: " + words.substr(0, words.find('\n')),
             "Write it with torch.jit.save, and check model.init_args.file."});
    }
}

bool drawsIn(const torch::jit::Block& block)
{
    return std::any_of(block.nodes().begin(), block.nodes().end(), [](const torch::jit::Node* node) {
        const auto inner = node->blocks();
        return node->isNondeterministic()
            || std::any_of(inner.begin(), inner.end(),
                           [](const torch::jit::Block* part) { return drawsIn(*part); });
    });
}

bool drawsRandomNumbers(const torch::jit::Module& module)
{
    for (const auto& part : module.modules()) {
        for (const auto& method : part.get_methods()) {
            if (drawsIn(*method.graph()->block()))
                return true;
        }
    }
    return false;
}

/// A tensor of the script, and the module and attribute that hold it.
struct Slot {
    torch::jit::Module owner;
    std::string attribute;
};

Slot slotOf(torch::jit::Module module, const std::string& name)
{
    std::size_t begin = 0;
    for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
        module = module.attr(name.substr(begin, dot - begin)).toModule();
        begin = dot + 1;
    }
    return {module, name.substr(begin)};
}

/// LibTorch's own generator for scripts is one for all threads: a rank borrows it for a forward pass, with
/// the state that it left last time.
class BorrowedGenerator {
public:
    explicit BorrowedGenerator(at::Generator& own) : m_lock(mutex()), m_own(own)
    {
        theirs().set_state(m_own.get_state());
    }
    ~BorrowedGenerator() { m_own.set_state(theirs().get_state()); }
    BorrowedGenerator(const BorrowedGenerator&) = delete;
    BorrowedGenerator& operator=(const BorrowedGenerator&) = delete;

private:
    static std::mutex& mutex()
    {
        static std::mutex guardOfTheirs; // as global as what it guards
        return guardOfTheirs;
    }
    static at::Generator theirs() { return at::globalContext().defaultGenerator(at::kCPU); }

    std::unique_lock<std::mutex> m_lock;
    at::Generator& m_own;
};

/// A network out of a TorchScript file. Its weights are handed out like anybody's and put back into the
/// script's places for each forward pass; it is one unit.
class Script final : public Model {
public:
    Script(const ScriptPlan& plan, std::uint64_t seed)
        : m_plan(plan), m_module(load(plan.file)), m_generator(at::make_generator<at::CPUGeneratorImpl>(seed))
    {
        for (const auto& parameter : m_module.named_parameters())
            addParameter(parameter.name, parameter.value);
        for (const auto& buffer : m_module.named_buffers())
            m_bufferSlots.emplace_back(buffer.name, slotOf(m_module, buffer.name));
        if (m_specs.empty())
            throw ThrownError({ErrorCode::InvalidSetup, plan.file + " has no weights that can be trained.",
                               "Save a network with parameters, and check model.init_args.file."});
        m_draws = drawsRandomNumbers(m_module);
    }

    const std::vector<ParameterSpec>& parameters() const override { return m_specs; }
    int unitCount() const override { return 1; }
    std::string unitName(int) const override { return "script"; }

    const std::vector<at::Tensor>& stored() const { return m_stored; }

    std::vector<std::pair<std::string, at::Tensor>> buffers() const override
    {
        std::vector<std::pair<std::string, at::Tensor>> buffers;
        for (const auto& [name, slot] : m_bufferSlots)
            buffers.emplace_back(name, slot.owner.attr(slot.attribute).toTensor());
        return buffers;
    }
    void convertBuffers(at::ScalarType type) override
    {
        for (auto& [name, slot] : m_bufferSlots)
            convert(slot, type);
        for (auto& slot : m_frozen)
            convert(slot, type);
    }

    at::Tensor generatorState() const override { return m_draws ? m_generator.get_state() : at::Tensor(); }
    void setGeneratorState(const at::Tensor& state) override { m_generator.set_state(state); }

    at::Tensor forward(const at::Tensor& input, WeightAccess& weights, bool training) override
    {
        const auto handed = weights.enter(0);
        for (std::size_t i = 0; i < handed.size(); ++i) {
            for (auto& slot : m_slots[i])
                slot.owner.setattr(slot.attribute, handed[i]);
        }
        if (m_module.is_training() != training)
            m_module.train(training);
        const auto output = run(input, training);
        if (!output.isTensor() || output.toTensor().dim() < 2)
            throw ThrownError({ErrorCode::InvalidSetup,
                               m_plan.file + " does not return one tensor of scores, a row each.",
                               "Save a network whose forward returns the scores alone."});
        const at::Tensor scores = output.toTensor();
        return weights.leave(0, scores.reshape({-1, scores.size(-1)}));
    }

private:
    torch::jit::IValue run(const at::Tensor& input, bool training)
    {
        // The optimizing executor learns from the first passes and then computes in another order.
        const torch::jit::GraphOptimizerEnabledGuard plain(false);
        std::optional<BorrowedGenerator> borrowed;
        if (m_draws && training)
            borrowed.emplace(m_generator);
        return m_module.forward({input});
    }

    void addParameter(const std::string& name, const at::Tensor& value)
    {
        const Slot slot = slotOf(m_module, name);
        if (!value.requires_grad()) {
            m_frozen.push_back(slot);
            return;
        }
        for (std::size_t i = 0; i < m_stored.size(); ++i) {
            if (m_stored[i].is_same(value)) { // tied: one weight under two names
                m_slots[i].push_back(slot);
                return;
            }
        }
        m_specs.push_back({name, value.sizes().vec(), 0});
        m_stored.push_back(value);
        m_slots.push_back({slot});
    }

    static void convert(Slot& slot, at::ScalarType type)
    {
        const at::Tensor value = slot.owner.attr(slot.attribute).toTensor();
        if (value.is_floating_point())
            slot.owner.setattr(slot.attribute, value.detach().to(type));
    }

    ScriptPlan m_plan;
    torch::jit::Module m_module;
    at::Generator m_generator;
    std::vector<ParameterSpec> m_specs;
    std::vector<at::Tensor> m_stored; ///< As the file has them.
    std::vector<std::vector<Slot>> m_slots; ///< Of each weight.
    std::vector<Slot> m_frozen;
    std::vector<std::pair<std::string, Slot>> m_bufferSlots;
    bool m_draws = false;
};

} // namespace

std::unique_ptr<Model> makeScript(const ScriptPlan& plan, std::uint64_t seed, int rank)
{
    return std::make_unique<Script>(plan, streamSeed(seed, kScriptStream, static_cast<std::uint64_t>(rank)));
}

std::vector<at::Tensor> scriptWeights(const ScriptPlan& plan)
{
    const Script script(plan, 0);
    std::vector<at::Tensor> weights;
    for (const auto& value : script.stored())
        weights.push_back(value.detach().to(at::kFloat).clone());
    return weights;
}

} // namespace mantissa

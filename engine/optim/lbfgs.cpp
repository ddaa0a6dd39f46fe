#include "engine/optim/arithmetic.h"
#include "engine/optim/line_search.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <deque>

namespace mantissa {
namespace {

/// How the gradient changed over an update of the weights.
struct Pair {
    at::Tensor change; ///< Of the gradient.
    at::Tensor move; ///< Of the weights.
    double inverse = 0.0; ///< 1 / (change · move)
};

/// L-BFGS (Nocedal and Wright, algorithm 7.5), with the stopping rules of PyTorch's class. Vectors are this
/// rank's part, laid end to end; products and maxima go over all shards, so that every rank takes the same
/// way.
class Lbfgs final : public Optimizer {
public:
    using Optimizer::Optimizer;

    std::vector<std::string> stateNames() const override
    {
        if (m_iterations == 0)
            return {};
        std::vector<std::string> names = {"d", "prev_flat_grad"};
        for (std::size_t i = 0; i < m_pairs.size(); ++i) {
            names.push_back("old_dirs." + std::to_string(i));
            names.push_back("old_stps." + std::to_string(i));
        }
        return names;
    }

    OptimizerState state() const override
    {
        OptimizerState state;
        if (!m_direction.defined())
            return state;
        state.emplace_back("d", cut(m_direction));
        state.emplace_back("prev_flat_grad", cut(m_lastGradient));
        for (std::size_t i = 0; i < m_pairs.size(); ++i) {
            state.emplace_back("old_dirs." + std::to_string(i), cut(m_pairs[i].change));
            state.emplace_back("old_stps." + std::to_string(i), cut(m_pairs[i].move));
        }
        return state;
    }

    std::uint64_t stateBytes() const override
    {
        const auto vectors = m_direction.defined() ? 2 + 2 * m_pairs.size() : 0;
        return vectors * (m_direction.defined() ? m_direction.nbytes() : 0);
    }

    void restore(const std::string& name, const std::vector<at::Tensor>& values) override
    {
        const auto dot = name.find('.');
        if (name == "d")
            m_direction = joined(values);
        else if (name == "prev_flat_grad")
            m_lastGradient = joined(values);
        else if (name.starts_with("old_dirs."))
            pair(name.substr(dot + 1)).change = joined(values);
        else if (name.starts_with("old_stps."))
            pair(name.substr(dot + 1)).move = joined(values);
        setHasState();
    }

    std::string stateDict() const override
    {
        auto json = nlohmann::json::parse(Optimizer::stateDict());
        json["iterations"] = m_iterations;
        json["length"] = m_length;
        json["diagonal"] = m_diagonal;
        json["inverses"] = nlohmann::json::array();
        for (const auto& pair : m_pairs)
            json["inverses"].push_back(pair.inverse);
        return json.dump();
    }

    void loadStateDict(const std::string& text) override
    {
        Optimizer::loadStateDict(text);
        const auto json = nlohmann::json::parse(text);
        m_iterations = json.at("iterations").get<std::int64_t>();
        m_length = json.at("length").get<double>();
        m_diagonal = json.at("diagonal").get<double>();
        const auto inverses = json.at("inverses").get<std::vector<double>>();
        for (std::size_t i = 0; i < inverses.size(); ++i)
            pair(std::to_string(i)).inverse = inverses[i];
    }

    void stepWith(const Evaluation& evaluation) override;

private:
    void update(Active&, const StepScaling&, bool) override
    {
        throw std::logic_error("LBFGS makes its step with a closure alone");
    }

    Pair& pair(const std::string& index)
    {
        const auto at = static_cast<std::size_t>(std::stoull(index));
        if (at >= m_pairs.size())
            m_pairs.resize(at + 1);
        return m_pairs[at];
    }

    at::Tensor joined(const std::vector<at::Tensor>& tensors) const
    {
        std::vector<at::Tensor> flat;
        for (std::size_t i = 0; i < tensors.size(); ++i)
            flat.push_back(
                (tensors[i].defined() ? tensors[i] : at::zeros_like(parameters()[i])).detach().reshape({-1}));
        return at::cat(flat);
    }
    at::Tensor gradient() const
    {
        std::vector<at::Tensor> gradients;
        for (const auto& parameter : parameters())
            gradients.push_back(parameter.grad());
        const at::Tensor flat = joined(gradients);
        return plan().maximize ? -flat : flat;
    }
    std::vector<at::Tensor> cut(const at::Tensor& flat) const
    {
        std::vector<at::Tensor> tensors;
        std::int64_t first = 0;
        for (const auto& parameter : parameters()) {
            tensors.push_back(flat.narrow(0, first, parameter.numel()).view_as(parameter));
            first += parameter.numel();
        }
        return tensors;
    }
    void move(double length, const at::Tensor& direction)
    {
        const auto parts = cut(direction);
        for (std::size_t i = 0; i < parts.size(); ++i)
            parameters()[i].detach().add_(parts[i], length);
    }

    double product(const at::Tensor& a, const at::Tensor& b) const
    {
        return m_evaluation->sumOverShards(at::dot(a, b).item<double>());
    }
    double largest(const at::Tensor& a) const
    {
        return m_evaluation->maxOverShards(a.numel() == 0 ? 0.0 : a.abs().max().item<double>());
    }

    void remember(const at::Tensor& now);
    at::Tensor newDirection(const at::Tensor& now) const;
    double measure();
    /// Moves along the direction; true where the loss was evaluated at the end.
    bool advance(double slope, bool last);
    bool searchAlong(double slope);

    const Evaluation* m_evaluation = nullptr; ///< During a step.
    std::deque<Pair> m_pairs;
    at::Tensor m_direction;
    at::Tensor m_gradient; ///< Where the weights are now.
    at::Tensor m_lastGradient;
    double m_loss = 0.0;
    double m_lastLoss = 0.0;
    double m_length = 0.0;
    double m_diagonal = 1.0;
    std::int64_t m_iterations = 0; ///< Of all steps.
    std::int64_t m_evaluations = 0; ///< Of this step.
};

double Lbfgs::measure()
{
    ++m_evaluations;
    m_loss = m_evaluation->loss();
    m_gradient = gradient();
    return m_loss;
}

void Lbfgs::remember(const at::Tensor& now)
{
    Pair pair{now.sub(m_lastGradient), m_direction.mul(m_length), 0.0};
    const double curvature = product(pair.change, pair.move);
    if (!(curvature > 1e-10)) // The loss does not curve upwards here: nothing to learn from.
        return;
    if (m_pairs.size() >= static_cast<std::size_t>(plan().lbfgs.historySize))
        m_pairs.pop_front();
    pair.inverse = 1.0 / curvature;
    m_diagonal = curvature / product(pair.change, pair.change);
    m_pairs.push_back(std::move(pair));
}

at::Tensor Lbfgs::newDirection(const at::Tensor& now) const
{
    at::Tensor direction = now.neg();
    std::vector<double> shares(m_pairs.size());
    for (std::size_t i = m_pairs.size(); i-- > 0;) {
        shares[i] = product(m_pairs[i].move, direction) * m_pairs[i].inverse;
        direction.add_(m_pairs[i].change, -shares[i]);
    }
    direction.mul_(m_diagonal);
    for (std::size_t i = 0; i < m_pairs.size(); ++i) {
        const double back = product(m_pairs[i].change, direction) * m_pairs[i].inverse;
        direction.add_(m_pairs[i].move, shares[i] - back);
    }
    return direction;
}

bool Lbfgs::searchAlong(double slope)
{
    std::vector<at::Tensor> origin;
    for (const auto& parameter : parameters())
        origin.push_back(parameter.detach().clone());
    const auto moveTo = [&](double length) {
        for (std::size_t i = 0; i < origin.size(); ++i)
            parameters()[i].detach().copy_(origin[i]);
        move(length, m_direction);
    };
    const LinePoint start{0.0, m_loss, m_gradient, slope};
    const LineSearchPlan search{plan().lbfgs.toleranceChange, largest(m_direction), 25};
    const auto report = searchLine(start, m_length, search, [&](double length) {
        moveTo(length);
        const double loss = measure();
        return LinePoint{length, loss, m_gradient, product(m_gradient, m_direction)};
    });
    m_length = report.found.length;
    m_loss = report.found.loss;
    m_gradient = report.found.gradient;
    moveTo(m_length);
    return true;
}

bool Lbfgs::advance(double slope, bool last)
{
    if (plan().lbfgs.strongWolfe)
        return searchAlong(slope);
    move(m_length, m_direction);
    if (last)
        return false; // The next step evaluates there.
    measure();
    return true;
}

void Lbfgs::stepWith(const Evaluation& evaluation)
{
    const at::NoGradGuard noGrad;
    m_evaluation = &evaluation;
    m_evaluations = 0;
    const auto& limits = plan().lbfgs;
    measure();
    for (std::int64_t iteration = 1; largest(m_gradient) > limits.toleranceGradient; ++iteration) {
        if (m_iterations++ > 0)
            remember(m_gradient);
        m_direction = newDirection(m_gradient);
        m_lastGradient = m_gradient.clone();
        m_lastLoss = m_loss;
        const double size = m_evaluation->sumOverShards(m_gradient.abs().sum().item<double>());
        m_length = m_iterations == 1 ? std::min(1.0, 1.0 / size) * learningRate() : learningRate();
        const double slope = product(m_gradient, m_direction);
        if (!(slope <= -limits.toleranceChange)) // Not downhill, or no number.
            break;
        const bool measured = advance(slope, iteration == limits.maxIterations);
        if (!measured || iteration == limits.maxIterations || m_evaluations >= limits.maxEvaluations)
            break;
        if (largest(m_direction) * m_length <= limits.toleranceChange
            || std::abs(m_loss - m_lastLoss) < limits.toleranceChange)
            break;
    }
    at::_foreach_add_(steps(), 1);
    setHasState();
    m_evaluation = nullptr;
}

} // namespace

std::unique_ptr<Optimizer> makeLbfgs(const OptimizerPlan& plan, std::vector<at::Tensor> parameters,
                                     std::vector<ParameterGroup> groups)
{
    return std::make_unique<Lbfgs>(plan, std::move(parameters), std::move(groups));
}

} // namespace mantissa

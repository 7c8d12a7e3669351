#include "nn/layers.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace renar {
namespace {

// FNV-1a, so that a parameter's numbers depend on its name and not on its neighbours.
std::uint32_t hash_of(const std::string& name) {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

Param make_weight(const Builder& builder, const std::string& name, std::int64_t in,
                  std::int64_t out, const LinearInit& init) {
  const std::string full = builder.prefix + name;
  const Param weight = builder.parameters.add(full + "/w", {in, out});
  const double stddev = init.stddev > 0 ? init.stddev : 1 / std::sqrt(static_cast<double>(in));
  CounterRng rng(builder.seed, Purpose::kInitialisation, hash_of(full), 0);
  Real* w = builder.parameters.at(weight);
  std::generate_n(w, in * out, [&] { return static_cast<Real>(stddev * rng.truncated_normal()); });
  return weight;
}

Linear make_linear(const Builder& builder, const std::string& name, std::int64_t in,
                   std::int64_t out, const LinearInit& init) {
  const Param weight = make_weight(builder, name, in, out, init);
  const Linear layer{weight, builder.parameters.add(builder.prefix + name + "/b", {out})};
  std::fill_n(builder.parameters.at(layer.b), out, init.bias);
  return layer;
}

LayerNorm make_layer_norm(const Builder& builder, const std::string& name, std::int64_t hidden) {
  const std::string full = builder.prefix + name;
  const LayerNorm layer{builder.parameters.add(full + "/scale", {hidden}),
                        builder.parameters.add(full + "/offset", {hidden})};
  std::fill_n(builder.parameters.at(layer.scale), hidden, Real{1});
  return layer;
}

}  // namespace renar

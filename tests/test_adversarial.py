"""Adversarial training against autograd; the bounds of Chapter 6 along exactly measured runs."""

from functools import partial
from math import ceil, sqrt

import numpy as np
import pytest
import sympy
import torch
from scipy.optimize import brentq
from torch.nn.functional import leaky_relu, softplus

from runproofs.adversarial.margin_attacks import clean, pgd
from runproofs.adversarial.training import (
    adversarial_training,
    attack_of_half_threshold,
    attack_of_theorem_16,
    mistake_driven_training,
)
from runproofs.adversarial.worst_case import beta_robust_error, level, robust_error, worst_case
from runproofs.bounds import robust as bounds
from runproofs.bounds.robust import Setting
from runproofs.networks.two_layer import TwoLayerNetwork, input_gradient, margin

NU, GAMMA, R = 0.15, 0.4, 1.0


def twelve_points():
    """Separable by e_1 with margin exactly GAMMA, inside the disc of radius R."""
    rng = np.random.default_rng(0)
    first = np.concatenate([[GAMMA], rng.uniform(GAMMA, 0.8, 11)])
    second = rng.uniform(-1, 1, 12) * np.sqrt(R**2 - first**2)
    Y = np.where(np.arange(12) % 2, 1.0, -1.0)
    return np.stack([Y * first, second], 1), Y


X, Y = twelve_points()


def start(alpha=0.7, m=5, runs=3, size=1.5, seed=1):
    """Networks that point the wrong way, W_1 = -size V_*, with ||a|| = 1 and |a_r| = kappa."""
    a = np.random.default_rng(seed).choice([-1, 1], (runs, m)) / sqrt(m)
    return TwoLayerNetwork(-size * a[..., None] * np.array([1.0, 0.0]), a, alpha)


def run(
    net, train=adversarial_training, rounds=150, step_size=None, attack=worst_case, seed=0, eps=NU
):
    step_size = Setting(R, GAMMA, NU, 1).largest_step if step_size is None else step_size
    sample = np.random.default_rng(seed)
    return train(net, X, Y, eps, rounds=rounds, step_size=step_size, attack=attack, sample=sample)


def weights_of(result):
    return 1 / (1 + np.exp(result.margins))


# ---------------------------------------------------------------- the algorithms


def torch_run(net, result, attack, loss, step):
    """Algorithm 6 for one run, by autograd, on the samples that `result` drew."""
    W, a = torch.tensor(net.W), torch.tensor(net.a)
    for (i,) in result.indices:
        current = TwoLayerNetwork(W.detach().numpy(), net.a, net.alpha)
        u = torch.tensor(attack(current, X[i], Y[i], NU).point)
        W.requires_grad_()
        z = Y[i] * (leaky_relu(u @ W.T, float(net.alpha)) @ a)
        if loss(z) is not None:
            (g,) = torch.autograd.grad(loss(z), W)
            W = W.detach() - step * g
        W = W.detach()
    return W.numpy()


@pytest.mark.parametrize(
    ("train", "loss"),
    [
        (adversarial_training, lambda z: softplus(-z)),
        (mistake_driven_training, lambda z: -z if z <= 0 else None),
    ],
)
def test_training_is_autograd_with_the_attack_held_fixed(train, loss):
    batch = start(runs=1)
    net = TwoLayerNetwork(batch.W[0], batch.a[0], batch.alpha)
    attack = partial(pgd, step_size=0.5, visits=6)
    result = run(batch, train, rounds=12, step_size=0.4, attack=attack)
    expected = torch_run(net, result, attack, loss, 0.4)
    np.testing.assert_allclose(result.weights[-1, 0], expected, atol=1e-10)
    assert np.abs(result.weights[-1] - result.weights[0]).max() > 0.1


def test_training_repeats_itself_and_runs_do_not_meet():
    first, again, other = (run(start(), rounds=30, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert (first.weights != other.weights).any()
    net = start()
    for i in range(3):
        alone = TwoLayerNetwork(net.W[i : i + 1], net.a[i : i + 1], net.alpha)
        order = iter(first.indices[:, i : i + 1])
        single = adversarial_training(
            alone, X, Y, NU, rounds=30, step_size=Setting(R, GAMMA, NU, 1).largest_step,
            attack=worst_case, sample=lambda _, order=order: next(order),
        )  # fmt: skip
        np.testing.assert_allclose(single.weights[:, 0], first.weights[:, i], atol=1e-13)


def test_plain_training_attacks_nothing():
    result = run(start(), rounds=5, attack=clean)
    expected = margin(start(), X[result.indices[0]], Y[result.indices[0]])
    np.testing.assert_allclose(result.margins[0], expected, atol=1e-14)


def test_size_of_the_top_layer_is_a_unit():
    """Proposition 7, and its control: the step must be matched too."""
    lam, net, attack = 1e-3, start(), partial(pgd, step_size=0.5, visits=6)
    scaled = TwoLayerNetwork(net.W / lam, lam * net.a, net.alpha)
    plain = run(net, rounds=60, step_size=0.5, attack=attack)
    matched = run(scaled, rounds=60, step_size=0.5 / lam**2, attack=attack)
    np.testing.assert_allclose(lam * matched.weights, plain.weights, rtol=1e-9, atol=1e-12)
    unmatched = run(scaled, rounds=60, step_size=0.5, attack=attack)
    assert np.abs(lam * unmatched.weights - plain.weights).max() > 1
    errors = [
        beta_robust_error(result.networks(network), X, Y, NU, beta)
        for result, network, beta in ((plain, net, 0.02), (matched, scaled, 0.02 * lam))
    ]
    np.testing.assert_array_equal(*errors)


# ---------------------------------------------------------------- Theorem 16 and Lemma 19


def test_theorem_16_holds_exactly_along_runs():
    error, net, setting = 0.2, start(), Setting(R, GAMMA, NU, 0.7)
    result = run(net, rounds=60, attack=attack_of_theorem_16(error))
    beta = bounds.beta_threshold(NU, 0.7, 1)
    errors = beta_robust_error(result.networks(net), X, Y, NU, beta)
    assert errors[0].min() == 1  # the start points the wrong way
    first = (errors.mean(1) <= 2 * error).argmax()
    assert 0 < first < bounds.rounds_theorem_16(setting, error, 1.5)
    assert errors[-1].max() <= 2 * error


def test_theorem_16_needs_the_top_layer_and_the_full_step():
    """Its counterexamples: d = m = 1, kappa = 1, a = 1e-4, or a step 1e5 times too small."""
    setting = Setting(1, 0.9, 0.1, 1)
    rounds = ceil(bounds.rounds_theorem_16(setting, 0.4, 1 / 0.9))
    assert rounds == 1059
    one = {"X": [[1.0], [-1.0]], "Y": [1, -1], "eps": 0.1, "rounds": rounds, "attack": worst_case}
    for a, step, fails in ((1, 1, False), (1e-4, 1, True), (1, 1e-5, True)):
        net = TwoLayerNetwork([[-1 / 0.9]], [a], 1)
        options = one | {"sample": np.random.default_rng(0)}
        result = adversarial_training(net, step_size=step * setting.largest_step, **options)
        errors = robust_error(result.networks(net), one["X"], one["Y"], 0.1)
        assert (errors.min() == 1) == fails


@pytest.mark.parametrize("attack", [clean, worst_case, partial(pgd, step_size=1, visits=10)])
def test_growth_correlation_and_averages_hold_at_every_round(attack):
    """(6.7), its sharp step, the correlation with V_*, and Theorem 1 (b), (c), (d)."""
    net, setting = start(), Setting(R, GAMMA, NU, 0.7)
    step, T = setting.largest_step, 1500
    result = run(net, rounds=T, attack=attack)
    p, W = weights_of(result), result.weights
    squares = (W**2).sum((-2, -1))
    assert (np.diff(squares, axis=0) <= step * bounds.growth(p) + 1e-12).all()
    rounds = np.arange(T + 1)[:, None]
    for constant in (3, bounds.growth_constant()):
        assert (squares <= bounds.squared_norm_bound(1.5, step, rounds, constant) + 1e-12).all()
    along = (W * net.a[..., None] * np.array([1.0, 0.0])).sum((-2, -1))
    assert (np.diff(along, axis=0) >= step * setting.correlation * p - 1e-12).all()
    averages = p.cumsum(0) / rounds[1:]
    sides = bounds.average_surrogate(setting, averages, rounds[1:], 1.5)
    assert (sides.left <= sides.right + 1e-12).all()
    for error in (0.3, 0.15):
        assert bounds.rounds_sharp(setting, error, 1.5) < T
        late = rounds[1:, 0] >= bounds.rounds_sharp(setting, error, 1.5)
        assert (averages[late] <= error).all()


def test_growth_fails_at_twice_the_step_and_averages_fail_beyond_the_margin():
    one = TwoLayerNetwork([[1.0852966]], [1.0], 1)
    options = {"rounds": 1, "attack": clean, "sample": np.random.default_rng(0)}
    for factor in (1, 2):
        result = adversarial_training(one, [[1.0]], [1], 0, step_size=factor, **options)
        growth = np.diff((result.weights**2).sum((-2, -1)), axis=0)[0, 0] / factor
        if factor == 1:
            assert growth == pytest.approx(bounds.growth_constant(), abs=1e-9)
        else:
            assert growth > bounds.growth_constant() + 0.05
    options |= {"rounds": 300, "attack": worst_case}
    hopeless = adversarial_training(one, [[0.5], [-0.5]], [1, -1], 0.6, step_size=0.8, **options)
    assert weights_of(hopeless).mean() > 0.45
    assert robust_error(hopeless.networks(one), [[0.5], [-0.5]], [1, -1], 0.6).min() == 1


# ---------------------------------------------------------------- sharper: Theorems 5 and 6


def test_few_samples_are_attackable_on_arrival():
    error, b0, net = 0.15, 0.45, start()
    T = ceil(bounds.rounds_sharp(Setting(R, GAMMA, NU, 0.7), error, 1.5))
    result = run(net, rounds=T, attack=attack_of_half_threshold(b0))
    before = TwoLayerNetwork(result.weights[:-1], net.a, net.alpha)
    attackable = level(before, X[result.indices], Y[result.indices], NU) > b0
    assert (result.margins[attackable] < 0).all()  # Theorem 2, at every arrival
    assert (attackable.sum(0) > 0).all()
    assert (attackable.sum(0) <= 2 * error * T).all()


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1])
def test_mistake_driven_training_makes_few_updates_in_the_worst_order(alpha):
    net, setting = start(alpha), Setting(R, GAMMA, NU, alpha)

    def hardest(network):
        return worst_case(network.at_each_point(), X, Y, NU).margin.argmin(-1)

    result = mistake_driven_training(
        net, X, Y, NU, rounds=400, step_size=setting.largest_step, attack=worst_case, sample=hardest
    )
    updates = (result.margins <= 0).sum(0)
    assert (updates > 0).all()
    assert (updates <= bounds.mistakes(setting, 1.5)).all()
    errors = robust_error(result.networks(net), X, Y, NU)
    assert (errors[-1] == 0).all()  # beta = 0 with an exact attack: Corollary 13
    moved = (np.diff(result.weights, axis=0) != 0).any((-2, -1))
    np.testing.assert_array_equal(moved, result.margins <= 0)


def test_mistake_driven_training_never_ends_beyond_the_margin():
    one = TwoLayerNetwork([[1.0]], [1.0], 1)
    result = mistake_driven_training(
        one, [[0.5], [-0.5]], [1, -1], 0.6, rounds=500, step_size=0.8, attack=worst_case,
        sample=np.random.default_rng(0),
    )  # fmt: skip
    assert (result.margins <= 0).all()


def test_trap_keeps_both_trainings_attackable():
    """Proposition 4a (ii), and its control: a smaller start escapes."""
    alpha, mu, t = 0.5, 0.3, 0.1
    W = np.array([[sqrt(alpha), 0], [-1, 0], [0, mu]])
    a, x = np.array([-sqrt(alpha), -1, mu]), np.array([[t, 2.0]])
    A, largest = np.linalg.norm(a), np.linalg.norm(x) + 1
    options = {"step_size": 1 / (A * largest) ** 2, "sample": np.random.default_rng(0)}
    attack = partial(pgd, step_size=1, visits=10)
    for scale, trapped in ((200, True), (20, False)):
        net = TwoLayerNetwork(scale * W, a, alpha)
        result = adversarial_training(net, x, [1], 1, rounds=1500, attack=attack, **options)
        levels = level(result.networks(net), x, [1], 1.0)
        assert (levels.min() > 0.3) == trapped
    net = TwoLayerNetwork(W, a, alpha)
    result = mistake_driven_training(net, x, [1], 1, rounds=50, attack=attack, **options)
    assert (result.margins > 0).all()


# ---------------------------------------------------------------- the numbers


def test_constants_solve_their_stationarity_equations():
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    # (s^2 / h)' = 0 with s' = s (1 - s), h' = s: 2 (1 - s) h = s
    z = brentq(lambda z: 2 * (1 - sigmoid(z)) * np.log1p(np.exp(z)) - sigmoid(z), 0.5, 1.5)
    assert z == pytest.approx(0.921422508655, abs=1e-10)
    k = sigmoid(z) ** 2 / np.log1p(np.exp(z))
    assert bounds.self_bounding_constant() == pytest.approx(k, abs=1e-13)
    p = brentq(lambda p: p + np.log((1 - p) / p) - 1 / (1 - p), 0.1, 0.5)
    assert bounds.growth_constant() == pytest.approx(p**2 + 2 * p * np.log((1 - p) / p), abs=1e-13)
    assert bounds.growth_constant() == pytest.approx(0.611844393709, abs=1e-12)


def test_rounds_solve_the_inequality_of_the_proof():
    """By bisection in T: (X - start)^2 = start^2 + step T phi, X = step c T error."""
    setting, start_, step = Setting(R, GAMMA, NU, 0.7), 1.5, 0.6
    c = (GAMMA - NU) * 0.7
    for error in (0.5, 0.1, 0.01):
        phi = error**2 + 2 * error * np.log((1 - error) / error)
        T = brentq(
            lambda T, e=error, phi=phi: (
                (step * c * T * e - start_) ** 2 - start_**2 - step * T * phi
            ),
            1e-3 + 2 * start_ / (step * c * error),
            1e9,
        )
        assert bounds.rounds_sharp(setting, error, start_, step) == pytest.approx(T, rel=1e-9)
    N = brentq(lambda n: (step * c * n - start_) ** 2 - start_**2 - step * n, 30, 1e9)
    assert bounds.mistakes(setting, start_, step) == pytest.approx(N, rel=1e-9)


def test_lemma_19_suffices_for_the_inequality_of_its_proof():
    """At the printed T_tr the left side step c T error - start exceeds the growth bound."""
    setting = Setting(R, GAMMA, NU, 0.7)
    for error in (0.5, 0.1, 0.01):
        T = bounds.rounds_lemma_19(setting, error, 1.5)
        step, c = setting.largest_step, setting.correlation
        assert step * c * T * error - 1.5 >= sqrt(bounds.squared_norm_bound(1.5, step, T))
        assert bounds.rounds_sharp(setting, error, 1.5) < T
        # Theorem 16 is Lemma 19 at a quarter of the error, up to the bonus
        ratio = bounds.rounds_theorem_16(setting, error, 0) / T
        assert ratio == pytest.approx(16 / (1 + 1.5 * GAMMA * 0.7 * error))


def test_corollaries_are_theorem_16_in_other_letters():
    nu, alpha, beta, error, omega, norm, gamma, radius = sympy.symbols(
        "nu alpha beta error omega norm gamma R", positive=True
    )
    A = beta / (2 * nu * (1 - alpha))
    values = {nu: 0.1, alpha: 0.9, beta: 1, error: 0.1, omega: 2, norm: 1, gamma: 0.5, radius: 1}
    step = 1 / (A * norm) ** 2
    rounds = 64 * (radius + nu) ** 2 / ((gamma - nu) * alpha * error) ** 2
    rounds *= 1 + omega * gamma * alpha * A * error
    found = bounds.corollary_5(Setting(1, 0.5, 0.1, 0.9, A=77), 1, 0.1, 2, 1)
    expected = (A, 1 / (A * (radius + nu)) ** 2, step, 8 * nu**2 / (step * error), None, rounds)
    for value, formula in zip(found, expected, strict=True):
        if formula is not None:
            assert value == pytest.approx(float(formula.subs(values)), rel=1e-12)
    assert found.attack_visits == pytest.approx(2000)
    assert found.attack_visits_as_printed == pytest.approx(0.2)
    linear = Setting(1, 0.9, 0.1, 1)
    assert bounds.rounds_corollary_4(linear, 0.4) == pytest.approx(1512.5)
    for error in (0.4, 1):
        sharp = bounds.rounds_theorem_16(linear, error, 1 / 0.9)
        assert sharp <= bounds.rounds_corollary_4(linear, error) * (1 + 1e-12)
    assert bounds.rounds_theorem_16(linear, 1.1, 1 / 0.9) > bounds.rounds_corollary_4(linear, 1.1)


def test_total_cost_is_the_sum_over_rounds():
    setting = Setting(1, 0.5, 0.1, 0.8)
    for error, ratio in ((0.5, 0.432), (0.1, 0.282), (0.01, 0.253)):
        cost = bounds.total_cost(setting, error)
        assert cost.total / cost.bound == pytest.approx(ratio, abs=1e-3)
        T = bounds.rounds_theorem_16(setting, error, sqrt(3) / 1.1)
        if error > 0.05:
            n = np.arange(1, ceil(T) + 1)
            squared_norms = bounds.squared_norm_bound(sqrt(3) / 1.1, 1.1**-2, n - 1)
            steps = bounds.attack_visits(0.1, 1 / squared_norms, error)
            assert steps[: int(T)].sum() <= cost.total <= steps.sum()
        assert cost.as_printed < cost.total


def test_end_to_end_numbers():
    setting, start_ = Setting(1, 0.5, 0.1, 0.8), sqrt(3) / 1.1
    assert bounds.total_cost(setting, 0.05).bound == pytest.approx(7.26e11, rel=1e-3)
    assert bounds.mistakes(setting, start_) == pytest.approx(23.7, abs=0.05)
    assert bounds.end_to_end(setting, 0.05, 0.4, start_) == (1642 * 25, 238 * 25)
    assert [bounds.margin_pgd_visits(1 - 0.8 + e, 0.8) for e in (0.5, 0.3)] == [5, 12]
    assert bounds.surrogate_factor(1, 1, 1e12) == pytest.approx(4)
    k = bounds.self_bounding_constant()
    assert bounds.surrogate_factor(1, 1, 1e12, k) == pytest.approx(2.388, abs=1e-3)


def test_surrogate_bounds_the_probability_of_an_attack_at_half_the_threshold():
    rng = np.random.default_rng(0)
    net = TwoLayerNetwork(rng.standard_normal((500, 3, 2)), rng.uniform(-1, 1, (500, 3)), 0.6)
    x, y = rng.standard_normal((500, 2)), rng.choice([-1.0, 1.0], 500)
    L = np.linalg.norm(net.a, axis=1) * np.linalg.norm(net.W, 2, axis=(1, 2))
    for steps in (1, 5, 50):
        found = pgd(net, x, y, 1, step_size=1 / L**2, visits=steps).margin
        factors = [bounds.surrogate_factor(1, L**-2, steps, k) for k in (1, 0.40727)]
        reached = level(net, x, y, 1.0) >= 1 - 0.6
        for factor in factors:
            assert (reached <= factor / (1 + np.exp(found))).all()
        assert (factors[1] <= factors[0]).all()


@pytest.mark.parametrize(("loss", "sign"), [("ce", 1), ("reflected", -1)])
def test_flow_times_are_those_of_the_flow(loss, sign):
    """dz/dt = -slope^2 / (1 + e^(+-z)), integrated numerically from 3 to 0."""
    z = np.linspace(0, 3, 20_001)
    time = np.trapezoid(1 + np.exp(sign * z), z) / 2.5**2
    assert bounds.flow_time(3.0, 2.5, loss) == pytest.approx(time, rel=1e-7)


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"Y": [1] * 12 + [1]}, "Y"),
        ({"Y": np.zeros(12)}, "Y"),
        ({"X": np.ones((12, 3))}, "X"),
        ({"eps": -0.1}, "eps"),
        ({"rounds": 0}, "rounds"),
        ({"step_size": -1}, "step_size"),
        ({"network": TwoLayerNetwork(np.ones((2, 2, 2, 2)), np.ones(2), 1)}, "network"),
        ({"attack": attack_of_half_threshold(0.2)}, "b0"),
    ],
)
def test_bad_arguments_are_named(change, name):
    arguments = {"network": start(), "X": X, "Y": Y, "eps": NU, "rounds": 2, "step_size": 0.1}
    arguments |= {"attack": worst_case, "sample": np.random.default_rng(0)} | change
    with pytest.raises(ValueError, match=name):
        adversarial_training(**arguments)


@pytest.mark.parametrize("values", [(1, 0.5, 0.6, 1), (1, 1.2, 0.1, 1), (1, 0.5, 0.1, 1.1)])
def test_impossible_settings_are_refused(values):
    with pytest.raises(ValueError, match="eps < gamma <= R"):
        Setting(*values)


def test_gradient_of_the_attack_is_not_part_of_the_step():
    """The control of Algorithm 6: a step of the attack, differentiated through, is another step."""
    net, x, y = start(runs=1), X[0], Y[0]
    W = torch.tensor(net.W[0], requires_grad=True)
    a, u = torch.tensor(net.a[0]), torch.tensor(x)
    g = y * (a * torch.where(u @ W.T > 0, 1.0, 0.7)) @ W
    moved = u - 0.1 * g  # not of length NU: that would be the optimum, whose derivative is 0
    z = y * (leaky_relu(moved @ W.T, 0.7) @ a)
    (through,) = torch.autograd.grad(softplus(-z), W)

    def attack(network, x, y, eps):
        return clean(network, x - 0.1 * input_gradient(network, x, y), y, eps)

    result = adversarial_training(
        net, X[:1], Y[:1], NU, rounds=1, step_size=1, attack=attack, sample=lambda _: [0]
    )
    taken = result.weights[0, 0] - result.weights[1, 0]
    assert np.abs(taken - through.numpy()).max() > 0.01

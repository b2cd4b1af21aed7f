//! What each function is, to some hundred bits: by its series, or by another function's.

use super::big::Big;

fn big(x: f64) -> Big {
    Big::new(x)
}

/// `Σ term(k)` with `term(k + 1) = term(k) * ratio(k)`, until terms vanish beside the sum.
fn series(first: Big, mut ratio: impl FnMut(f64) -> Big) -> Big {
    let (mut term, mut sum) = (first.clone(), first);
    for k in 0..20_000 {
        term = &term * ratio(f64::from(k));
        sum = sum + &term;
        match (term.exponent(), sum.exponent()) {
            (Some(term), Some(sum)) if term < sum - 480 && k > 20 => break,
            (None, _) => break,
            _ => {}
        }
    }
    sum
}

/// The function of a name at f64 operands; none where it has no finite value there.
pub(super) fn exact(name: &str, x: &[f64]) -> Option<Big> {
    let first = *x.first()?;
    let a = big(first);
    let b = big(x.get(1).copied().unwrap_or(0.0));
    let finite = x.iter().all(|x| x.is_finite());
    if !finite {
        return None;
    }
    Some(match name {
        "sin" => a.sin(),
        "cos" => a.cos(),
        "tan" => a.tan(),
        // Zeros are exact, which multiples of π are not.
        "sinpi" if first == first.trunc() => big(0.0),
        "cospi" if (2.0 * first) % 2.0 != 0.0 && first * 2.0 == (first * 2.0).trunc() => big(0.0),
        "sinpi" => (big(first % 2.0) * Big::pi()).sin(),
        "cospi" => (big(first % 2.0) * Big::pi()).cos(),
        "asin" if first.abs() <= 1.0 => a.asin(),
        "acos" if first.abs() <= 1.0 => a.acos(),
        "atan" => a.atan(),
        "atan2" if x[1] != 0.0 => {
            let angle = (&a / &b).atan();
            match (x[1] < 0.0, first.is_sign_negative()) {
                (false, _) => angle,
                (true, false) => angle + Big::pi(),
                (true, true) => angle - Big::pi(),
            }
        }
        "sinh" => a.sinh(),
        "cosh" => a.cosh(),
        "tanh" => a.tanh(),
        "asinh" => a.asinh(),
        "acosh" if first >= 1.0 => a.acosh(),
        "atanh" if first.abs() < 1.0 => a.atanh(),
        "exp" => a.exp(),
        "exp2" => (a * big(2.0).ln()).exp(),
        "exp10" => (a * big(10.0).ln()).exp(),
        "expm1" if first.abs() < 0.5 => series(a.clone(), |k| &a / (k + 2.0)),
        "expm1" => a.exp() - 1.0,
        "log" if first > 0.0 => a.ln(),
        "log2" if first > 0.0 => a.ln() / big(2.0).ln(),
        "log10" if first > 0.0 => a.ln() / big(10.0).ln(),
        // 2 atanh(x / (2 + x))
        "log1p" if first > -1.0 && first.abs() < 0.5 => {
            let ratio = &a / (&a + 2.0);
            ratio.atanh() * 2.0
        }
        "log1p" if first > -1.0 => (a + 1.0).ln(),
        "pow" if first > 0.0 => (b * a.ln()).exp(),
        "powi" if first > 0.0 => (b * a.ln()).exp(),
        "cbrt" | "rcbrt" if first != 0.0 => {
            let root = (a.abs().ln() / 3.0).exp();
            let root = if name == "rcbrt" { big(1.0) / root } else { root };
            if first < 0.0 { -root } else { root }
        }
        "hypot" | "norm3d" | "norm4d" => norm(x),
        "rhypot" | "rnorm3d" | "rnorm4d" if x.iter().any(|&x| x != 0.0) => big(1.0) / norm(x),
        "erf" => erf(&a),
        "erfc" => erfc(&a),
        "erfcx" if first >= 8.0 => tail(&a),
        "erfcx" => erfc(&a) * (&a * &a).exp(),
        "normcdf" => erfc(&(-a / big(2.0).sqrt())) * 0.5,
        "erfinv" if first.abs() < 1.0 => inverse(first, |x| erf(x) - big(first), 1.0, guess(first)),
        "erfcinv" if first > 0.0 && first < 2.0 => erfc_inverse(&a, first),
        "normcdfinv" if first > 0.0 && first < 1.0 => {
            -erfc_inverse(&(&a * 2.0), 2.0 * first) * big(2.0).sqrt()
        }
        "lgamma" | "tgamma" if first <= 0.0 && first == first.trunc() => return None,
        "lgamma" if first == 1.0 || first == 2.0 => big(0.0),
        "lgamma" => lgamma(first),
        "tgamma" => tgamma(first),
        "j0" => bessel(0, &a.abs()).0,
        "j1" => {
            let value = bessel(1, &a.abs()).0;
            if first < 0.0 { -value } else { value }
        }
        "y0" if first > 0.0 => bessel(0, &a).1,
        "y1" if first > 0.0 => bessel(1, &a).1,
        "cyl_bessel_i0" => {
            let quarter = &a * &a / 4.0;
            series(big(1.0), |k| &quarter / ((k + 1.0) * (k + 1.0)))
        }
        "cyl_bessel_i1" => {
            let quarter = &a * &a / 4.0;
            series(&a / 2.0, |k| &quarter / ((k + 1.0) * (k + 2.0)))
        }
        _ => return None,
    })
}

fn norm(components: &[f64]) -> Big {
    let squares = components.iter().map(|&x| big(x) * big(x));
    squares.fold(big(0.0), |sum, square| sum + square).sqrt()
}

/// `2 / √π Σ (-1)^k x^(2k+1) / (k! (2k+1))`, for as many bits as the terms' growth leaves.
fn erf(x: &Big) -> Big {
    if x.to_f64().abs() > 8.0 {
        let rest = big(1.0) - erfc(&x.abs());
        return if x.is_negative() { -rest } else { rest };
    }
    let square = x * x;
    let sum = series(x.clone(), |k| -(&square * (2.0 * k + 1.0)) / ((k + 1.0) * (2.0 * k + 3.0)));
    sum * 2.0 / Big::pi().sqrt()
}

fn erfc(x: &Big) -> Big {
    if x.to_f64() < 8.0 {
        return big(1.0) - erf(x);
    }
    (-(x * x)).exp() * tail(x)
}

/// `erfc(x) e^(x^2)` from 8 on, by Laplace's continued fraction.
fn tail(x: &Big) -> Big {
    let fraction =
        (1..400).rev().fold(x.clone(), |fraction, k| x + big(f64::from(k) / 2.0) / fraction);
    big(1.0) / (fraction * Big::pi().sqrt())
}

/// A first value of the error function's inverse.
fn guess(y: f64) -> f64 {
    weft_function(weft::scalar::Function::Erfinv, y)
}

fn weft_function(function: weft::scalar::Function, x: f64) -> f64 {
    let dtype = weft::dtype::DType::F64;
    f64::from_bits(function.apply(dtype, &[x.to_bits()]))
}

/// Newton's method on the error function or its complement, from a first value.
fn inverse(y: f64, difference: impl Fn(&Big) -> Big, sign: f64, first: f64) -> Big {
    if y == 0.0 {
        return big(0.0);
    }
    let mut x = big(first);
    for _ in 0..4 {
        let slope = (-(&x * &x)).exp() * 2.0 * sign / Big::pi().sqrt();
        x = &x - difference(&x) / slope;
    }
    x
}

fn erfc_inverse(y: &Big, near: f64) -> Big {
    if near == 1.0 {
        return big(0.0);
    }
    let first = weft_function(weft::scalar::Function::Erfcinv, near);
    inverse(near, |x| erfc(x) - y, -1.0, first)
}

/// Bernoulli's numbers `B_2, B_4, …`, by their recurrence.
fn bernoulli(count: usize) -> Vec<Big> {
    let mut all = vec![big(1.0)];
    for n in 1..=2 * count {
        // Σ C(n + 1, k) B_k = 0 for k up to n.
        let (mut choose, mut sum) = (big(1.0), big(0.0));
        for (k, number) in all.iter().enumerate() {
            sum = sum + &choose * number;
            choose = choose * ((n + 1 - k) as f64) / (k + 1) as f64;
        }
        all.push(-sum / (n + 1) as f64);
    }
    all.into_iter().skip(2).step_by(2).collect()
}

/// The logarithm of the gamma function of a positive number: Stirling's series beyond 60.
fn positive_lgamma(x: f64) -> Big {
    thread_local! {
        static NUMBERS: Vec<Big> = bernoulli(30);
    }
    let (mut z, mut product) = (big(x), big(1.0));
    while z.to_f64() < 60.0 {
        product = product * &z;
        z = z + 1.0;
    }
    let mut sum = (&z - 0.5) * z.ln() - &z + (Big::pi() * 2.0).ln() * 0.5;
    let (mut power, square) = (z.clone(), &z * &z);
    NUMBERS.with(|numbers| {
        for (k, number) in (1..).map(f64::from).zip(numbers) {
            sum = sum.clone() + number / (&power * (2.0 * k * (2.0 * k - 1.0)));
            power = &power * &square;
        }
    });
    sum - product.ln()
}

fn sine_of_half_turns(x: f64) -> Big {
    (big(x % 2.0) * Big::pi()).sin()
}

fn lgamma(x: f64) -> Big {
    if x > 0.0 {
        return positive_lgamma(x);
    }
    let sine = (sine_of_half_turns(x) * big(x)).abs();
    (Big::pi() / sine).ln() - positive_lgamma(-x)
}

fn tgamma(x: f64) -> Big {
    if x > 0.0 {
        return positive_lgamma(x).exp();
    }
    // -π / (x' sin πx' Γ(x')) for x' = -x.
    -Big::pi() / (sine_of_half_turns(-x) * big(-x) * positive_lgamma(-x).exp())
}

/// Euler's constant, by the second Bessel function's own sums: `-Γ'(1)`.
fn euler() -> Big {
    // Brent and McMillan: A / B with A = Σ (n^k / k!)^2 H_k, B = Σ (n^k / k!)^2, less log n.
    let n = 60.0;
    let (mut term, mut harmonic) = (big(1.0), big(0.0));
    let (mut above, mut below) = (big(0.0), big(1.0));
    for k in 1..600 {
        let k = f64::from(k);
        term = term * (n * n) / (k * k);
        harmonic = harmonic + big(1.0) / k;
        above = above + &term * &harmonic;
        below = below + &term;
    }
    above / below - big(n).ln()
}

/// The Bessel functions of the first and the second kind of a positive number (of the first also of
/// zero): Bessel's and Neumann's series up to 60, Hankel's beyond.
fn bessel(order: u32, x: &Big) -> (Big, Big) {
    thread_local! {
        static EULER: Big = euler();
    }
    let n = f64::from(order);
    if x.to_f64() > 60.0 {
        // P and Q of Hankel's expansion.
        let (mut p, mut q, mut term) = (big(1.0), big(0.0), big(1.0));
        for k in 1..110 {
            let odd = f64::from(2 * k - 1);
            term = term * (4.0 * n * n - odd * odd) / (x * (8.0 * f64::from(k)));
            match k % 4 {
                0 => p = p + &term,
                1 => q = q + &term,
                2 => p = p - &term,
                _ => q = q - &term,
            }
        }
        let angle = x - Big::pi() * ((2.0 * n + 1.0) / 4.0);
        let scale = (big(2.0) / (Big::pi() * x)).sqrt();
        let (sine, cosine) = (angle.sin(), angle.cos());
        return (&scale * (&p * &cosine - &q * &sine), &scale * (&p * &sine + &q * &cosine));
    }
    let quarter = -(x * x) / 4.0;
    let start = if order == 0 { big(1.0) } else { x / 2.0 };
    let first = series(start.clone(), |k| &quarter / ((k + 1.0) * (k + 1.0 + n)));
    if x.is_zero() {
        return (first.clone(), first);
    }
    // 2/π log(x/2) J - [1 / (x/2)] / π - Σ (ψ(k + 1) + ψ(n + k + 1)) term / π
    let gamma = EULER.with(Clone::clone);
    let harmonic = |k: u32| (1..=k).fold(big(0.0), |sum, i| sum + big(1.0) / f64::from(i));
    let (mut term, mut sum) = (start, big(0.0));
    let (mut low, mut high) = (-gamma.clone(), harmonic(order) - &gamma);
    for k in 0..400 {
        let k = f64::from(k);
        sum = sum + &term * (&low + &high);
        term = term * &quarter / ((k + 1.0) * (k + 1.0 + n));
        low = low + big(1.0) / (k + 1.0);
        high = high + big(1.0) / (k + 1.0 + n);
    }
    let log = (x / 2.0).ln() * 2.0 * &first;
    let pole = if order == 0 { big(0.0) } else { big(2.0) / x };
    (first, (log - pole - sum) / Big::pi())
}

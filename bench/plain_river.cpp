// A river spot by discounted CFR, written plainly: what a good compiler makes of simple loops on this machine.
//
// DCFR (Brown & Sandholm 2019: alpha 1.5, beta 0, gamma 2), players in turn, one thread, float unless -DREAL=double. Both
// hold every hand that the board leaves, so one list of hands, from weak to strong, serves both. Terminals cost O(hands): sweeps that keep the
// weight met so far, in all and for each card (Johanson, Waugh, Bowling & Zinkevich 2011).
//
//     g++ -O3 -march=native plain_river.cpp -o plain_river && ./plain_river < spot.txt
//
// Input, numbers between white space, as riverboat.interfaces.benchmark_spots writes them:
//     iterations, iterations of a timed block, pot
//     number of hands; for each, from weak to strong: card, card, strength
//     number of nodes; for each, in preorder: actor (0, 1; -1 at the end of a hand), end of its subtree, whether hands
//     are compared, then what (player 0, player 1) get when player 0's hand is stronger, equal, weaker
// Output: milliseconds an iteration (both players, the best block), exploitability in % of the pot, EVs in chips.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef REAL
#define REAL float
#endif
typedef REAL Real;

enum Mode { LEARN, EVALUATE, RESPOND };

struct Node {
    int actor, end, showdown;
    Real pay[3][2];
    int width;
    size_t table;  // decision: where its [actions][hands] begin
};

struct Factors {
    Real positive, negative, decay;
};

static int hands;
static std::vector<int> low, high, strength;
static std::vector<Node> nodes;
static std::vector<Real> regret, average;
static std::vector<Real> room;  // vectors of the walk, as a stack

static double number() {
    double x;
    if (std::scanf("%lf", &x) != 1) {
        std::fprintf(stderr, "plain_river: the input ends too early\n");
        std::exit(2);
    }
    return x;
}

static void read_spot() {
    hands = (int)number();
    for (int h = 0; h < hands; ++h) {
        low.push_back((int)number());
        high.push_back((int)number());
        strength.push_back((int)number());
    }
    nodes.resize((size_t)number());
    for (Node &n : nodes) {
        n.actor = (int)number();
        n.end = (int)number();
        n.showdown = (int)number();
        for (auto &by_result : n.pay)
            for (Real &chips : by_result) chips = (Real)number();
    }
    size_t size = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].width = 0;
        nodes[i].table = size;
        if (nodes[i].actor < 0) continue;
        for (size_t child = i + 1; child < (size_t)nodes[i].end; child = nodes[child].end) ++nodes[i].width;
        size += (size_t)nodes[i].width * hands;
    }
    regret.assign(size, Real(0));
    average.assign(size, Real(0));
}

// The positive parts of some weights, as probabilities; uniform where there are none.
static void match(const Real *weights, int width, Real *__restrict out, Real *__restrict sum) {
    for (int h = 0; h < hands; ++h) sum[h] = Real(0);
    for (int a = 0; a < width; ++a)
        for (int h = 0; h < hands; ++h) sum[h] += std::max(weights[a * hands + h], Real(0));
    for (int h = 0; h < hands; ++h) sum[h] = sum[h] > Real(0) ? Real(1) / sum[h] : Real(0);
    const Real uniform = Real(1) / width;
    for (int a = 0; a < width; ++a)
        for (int h = 0; h < hands; ++h) {
            const Real w = std::max(weights[a * hands + h], Real(0)) * sum[h];
            out[a * hands + h] = sum[h] > Real(0) ? w : uniform;
        }
}

static void settle_fold(Real chips, const Real *__restrict reach, Real *__restrict value) {
    Real all = Real(0), card[52] = {};
    for (int h = 0; h < hands; ++h) {
        all += reach[h];
        card[low[h]] += reach[h];
        card[high[h]] += reach[h];
    }
    // a hand's own cards stand in both of its sums
    for (int h = 0; h < hands; ++h) value[h] = chips * (all - card[low[h]] - card[high[h]] + reach[h]);
}

static void settle_showdown(Real win, Real tie, Real lose, const Real *__restrict reach, Real *__restrict value) {
    Real all = Real(0), card[52] = {};
    for (int h = 0; h < hands;) {  // weaker hands
        int next = h;
        for (; next < hands && strength[next] == strength[h]; ++next)
            value[next] = (win - tie) * (all - card[low[next]] - card[high[next]]);
        for (; h < next; ++h) {
            all += reach[h];
            card[low[h]] += reach[h];
            card[high[h]] += reach[h];
        }
    }
    for (int h = 0; h < hands; ++h) value[h] += tie * (all - card[low[h]] - card[high[h]] + reach[h]);
    all = Real(0);
    std::fill(card, card + 52, Real(0));
    for (int h = hands - 1; h >= 0;) {  // stronger hands
        int next = h;
        for (; next >= 0 && strength[next] == strength[h]; --next)
            value[next] += (lose - tie) * (all - card[low[next]] - card[high[next]]);
        for (; h > next; --h) {
            all += reach[h];
            card[low[h]] += reach[h];
            card[high[h]] += reach[h];
        }
    }
}

// What each hand of `me` wins from node i on, summed over the opponent's hands.
static void walk(Mode mode, int me, int i, const Real *own, const Real *opp, Real *value, size_t top, Factors f) {
    const Node &n = nodes[i];
    if (n.actor < 0) {
        const int won = me == 0 ? 0 : 2;
        if (n.showdown)
            settle_showdown(n.pay[won][me], n.pay[1][me], n.pay[2 - won][me], opp, value);
        else
            settle_fold(n.pay[0][me], opp, value);
        return;
    }
    const int size = n.width * hands;
    Real *play = &room[top], *below = play + size, *reach = below + size;
    top += 2 * (size_t)size + hands;
    match((mode == LEARN ? &regret[0] : &average[0]) + n.table, n.width, play, reach);
    int child = i + 1;
    for (int a = 0; a < n.width; ++a, child = nodes[child].end) {
        const Real *p = play + a * hands, *here = n.actor == me ? own : opp;
        for (int h = 0; h < hands; ++h) reach[h] = here[h] * p[h];
        walk(mode, me, child, n.actor == me ? reach : own, n.actor == me ? opp : reach, below + a * hands, top, f);
    }
    const bool weighed = n.actor == me && mode != RESPOND;
    for (int h = 0; h < hands; ++h) value[h] = weighed ? play[h] * below[h] : below[h];
    for (int a = 1; a < n.width; ++a) {
        const Real *p = play + a * hands, *b = below + a * hands;
        if (weighed)
            for (int h = 0; h < hands; ++h) value[h] += p[h] * b[h];
        else if (n.actor == me)
            for (int h = 0; h < hands; ++h) value[h] = std::max(value[h], b[h]);
        else
            for (int h = 0; h < hands; ++h) value[h] += b[h];
    }
    if (mode != LEARN || n.actor != me) return;
    for (int a = 0; a < n.width; ++a) {
        Real *r = &regret[n.table + (size_t)a * hands], *s = &average[n.table + (size_t)a * hands];
        const Real *p = play + a * hands, *b = below + a * hands;
        for (int h = 0; h < hands; ++h) r[h] = r[h] * (r[h] > Real(0) ? f.positive : f.negative) + b[h] - value[h];
        for (int h = 0; h < hands; ++h) s[h] = s[h] * f.decay + own[h] * p[h];
    }
}

static double earnings(Mode mode, int me, const std::vector<Real> &ones, std::vector<Real> &value) {
    walk(mode, me, 0, ones.data(), ones.data(), value.data(), 0, Factors{});
    double won = 0;
    for (Real v : value) won += v;
    double apart = (double)hands * (hands - 1);  // deals: pairs of hands, less those with a common card
    std::vector<int> card(52);
    for (int h = 0; h < hands; ++h) ++card[low[h]], ++card[high[h]];
    for (int count : card) apart -= (double)count * (count - 1);
    return won / apart;
}

int main() {
    const int iterations = (int)number(), block = (int)number();
    const double pot = number();
    read_spot();
    int widest = 0;
    for (const Node &n : nodes) widest = std::max(widest, n.width);
    room.resize(nodes.size() * (2 * (size_t)widest + 1) * hands);
    std::vector<Real> ones(hands, Real(1)), value(hands);
    double best = INFINITY;
    for (int t = 1; t <= iterations;) {
        const auto started = std::chrono::steady_clock::now();
        const int stop = std::min(iterations, t + block - 1), count = stop - t + 1;
        for (; t <= stop; ++t) {
            const double before = std::pow(t - 1.0, 1.5), share = (t - 1.0) / t;
            const Factors f{(Real)(before / (before + 1)), Real(0.5), (Real)(share * share)};
            for (int me : {0, 1}) walk(LEARN, me, 0, ones.data(), ones.data(), value.data(), 0, f);
        }
        const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - started;
        best = std::min(best, spent.count() / count);
    }
    const double most = earnings(RESPOND, 0, ones, value) + earnings(RESPOND, 1, ones, value);
    std::printf("milliseconds %.6f\n", best);
    std::printf("exploitability %.6f\n", 50.0 * (most - pot) / pot);
    std::printf("ev_oop %.6f\n", earnings(EVALUATE, 0, ones, value));
    std::printf("ev_ip %.6f\n", earnings(EVALUATE, 1, ones, value));
}

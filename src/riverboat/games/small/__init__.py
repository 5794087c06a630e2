"""Small games with known solutions: Kuhn, Leduc, Bluff, Coin Toss, normal-form games."""

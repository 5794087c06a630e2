"""Small games with known answers: Kuhn, Leduc, Bluff, Coin Toss, matrix games."""

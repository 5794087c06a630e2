"""Ranges by position to begin with: rough shapes for 100 big blinds, to be painted over. They are nobody's solution."""

RANGES: tuple[tuple[str, str, str], ...] = (
    ("all", "every hand", "random"),
    ("six players: first to raise", "under the gun", "66+,A2s+,K9s+,Q9s+,J9s+,T9s,98s,87s,76s,ATo+,KJo+,QJo"),
    ("six players: first to raise", "cutoff", "33+,A2s+,K6s+,Q8s+,J8s+,T8s+,97s+,86s+,75s+,65s,54s,A8o+,KTo+,QTo+,JTo"),
    (
        "six players: first to raise",
        "button",
        "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,85s+,75s+,64s+,53s+,43s,A2o+,K8o+,Q9o+,J9o+,T8o+,98o,87o",
    ),
    (
        "six players: first to raise",
        "small blind",
        "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,96s+,86s+,75s+,64s+,54s,A2o+,K7o+,Q9o+,J9o+,T9o",
    ),
    (
        "big blind calls",
        "against under the gun",
        "JJ-22,AQs-A2s,K9s+,Q9s+,J9s+,T8s+,97s+,86s+,75s+,65s,54s,AQo-ATo,KQo",
    ),
    (
        "big blind calls",
        "against the button",
        "99-22,AJs-A2s,K2s+,Q2s+,J4s+,T6s+,95s+,85s+,74s+,63s+,53s+,43s,AJo-A2o,K9o+,Q9o+,J9o+,T8o+,97o+,87o,76o",
    ),
    (
        "third bet",
        "big blind against the button",
        "TT+,AQs+,A5s-A2s:0.5,KTs+:0.5,QTs+:0.5,J9s+:0.5,T9s:0.5,AQo+,KQo:0.5",
    ),
    (
        "third bet",
        "button calls it",
        "JJ-55,AQs-ATs,A9s-A2s:0.5,KTs+,QTs+,J9s+,T9s,98s,87s,76s,65s,AQo-AJo:0.75,KQo:0.75",
    ),
    (
        "two players",
        "button raises",
        "22+,A2s+,K2s+,Q2s+,J2s+,T2s+,94s+,84s+,73s+,63s+,52s+,42s+,32s,A2o+,K2o+,Q3o+,J6o+,T6o+,96o+,86o+,76o",
    ),
    (
        "two players",
        "big blind calls",
        "77-22,A9s-A2s,KJs-K2s,Q2s+,J2s+,T3s+,94s+,84s+,73s+,63s+,52s+,42s+,32s,ATo-A2o,KJo-K2o,QJo-Q5o,"
        "J7o+,T7o+,96o+,86o+,76o,65o",
    ),
)

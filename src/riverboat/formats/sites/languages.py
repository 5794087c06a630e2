"""Histories in other languages, line by line in English words: PokerStars in Spanish and French.

A line that no pattern knows stays as it is; the reader then refuses it if it might be an action.
"""

from __future__ import annotations

import re

from riverboat.formats.sites.text import MONEY

_A = rf"({MONEY})"
_ALL_IN = r"(?: (?:y está all-in|y va all-in|et est à tapis|et est all-in|et va all-in|con all-in)(?: .*)?)?"
_PATTERNS = [
    (re.compile(pattern), text)
    for pattern, text in (
        # headers
        (r"Mano n\.º ?(\d+) de (?:Zoom de )?PokerStars: *(.*)", r"PokerStars Hand #\1: \2"),
        (r"Main (?:Zoom )?PokerStars (?:Zoom )?n[°º] ?(\d+) ?: *(.*)", r"PokerStars Hand #\1: \2"),
        (r"Mesa [\"'](.*)[\"'] (.*?)El asiento n\.º ?(\d+) es el botón.*", r"Table '\1' \2Seat #\3 is the button"),
        (
            r"Table [\"'](.*)[\"'] (.*?)(?:Place|Siège) ?(?:n°|#)(\d+) est (?:le|au) bouton.*",
            r"Table '\1' \2Seat #\3 is the button",
        ),
        (rf"(?:Asiento|Place|Siège) (\d+) ?: (.+) \({_A} (?:en fichas|en jetons)\)(.*)", r"Seat \1: \2 (\3 in chips)\4"),
        # posts
        (rf"(.+?) ?: (?:pone|met|poste|mise) l[ae] (?:ciega pequeña|petite blinde?)\.? {_A}.*", r"\1: posts small blind \2"),
        (rf"(.+?) ?: (?:pone|met|poste|mise) l[ae] (?:ciega grande|grosse blinde?)\.? {_A}.*", r"\1: posts big blind \2"),
        (rf"(.+?) ?: (?:pone el ante|met l'ante|poste l'ante)\.? {_A}.*", r"\1: posts the ante \2"),
        # streets
        (r"\*\*\* (?:CARTAS DE MANO|CARTES FERMÉES) \*\*\*", "*** HOLE CARDS ***"),
        (r"\*\*\* (?:TOURNANT) \*\*\* (.*)", r"*** TURN *** \1"),
        (r"\*\*\* (?:RIVIÈRE|RÍO) \*\*\* (.*)", r"*** RIVER *** \1"),
        (r"\*\*\* (?:MUESTRA DE CARTAS|MOSTRAR CARTAS|ABATTAGE) \*\*\*", "*** SHOW DOWN ***"),
        (r"\*\*\* (?:RESUMEN|RÉSUMÉ|SYNTHÈSE) \*\*\*", "*** SUMMARY ***"),
        (r"(?:Repartidas|Distribuées|Distribué)(?: a| à)? (.+) (\[.*\])", r"Dealt to \1 \2"),
        # actions
        (r"(.+?) ?: (?:se retira|se couche|passe)\.?", r"\1: folds"),
        (r"(.+?) ?: (?:pasa|parole)\.?", r"\1: checks"),
        (rf"(.+?) ?: (?:iguala|suit)\.? {_A}({_ALL_IN})", r"\1: calls \2\3"),
        (rf"(.+?) ?: (?:apuesta|mise)\.? {_A}({_ALL_IN})", r"\1: bets \2\3"),
        (rf"(.+?) ?: (?:sube|relance)(?: de)?\.? {_A} (?:a|à) {_A}({_ALL_IN})", r"\1: raises \2 to \3\4"),
        (r"(.+?) ?: (?:muestra|montre) (\[.*\]).*", r"\1: shows \2"),
        (r"(.+?) ?: (?:no muestra su mano|ne montre pas.*|n'affiche pas.*|descarta.*|jette.*)", r"\1: doesn't show hand"),
        # the pot
        (rf"La apuesta no igualada \({_A}\) ha sido devuelta a (.+)", r"Uncalled bet (\1) returned to \2"),
        (
            rf"(?:La )?[Mm]ise non (?:égalisée|suivie) \({_A}\) (?:a été )?(?:retournée|rendue|restituée) à (.+)",
            r"Uncalled bet (\1) returned to \2",
        ),
        (
            rf"(.+) (?:se lleva|recauda|recaudó|remporte|a remporté|récolte|a récolté|collecte) {_A} (?:del? bote|du pot).*",
            r"\1 collected \2 from pot",
        ),
        (rf"(?:Bote total|Pot total|Total du pot) {_A}(.*)", r"Total pot \1\2"),
        (r"(?:Asiento|Place|Siège) (\d+) ?: (.+) (?:mostró|a montré|muckó|a jeté) (\[[^\]]*\]).*", r"Seat \1: \2 showed \3"),
    )
]  # fmt: skip


def to_english(line: str) -> str:
    """Translate a line of a Spanish or French history; English lines stay as they are.

    Parameters
    ----------
    line
        A line without spaces at its ends.

    Returns
    -------
    str
        The line in the words of English histories.

    Examples
    --------
    >>> to_english("Player2: sube 0.10 € a 0.15 €")
    'Player2: raises 0.10 € to 0.15 €'
    >>> to_english("Hero : parole.")
    'Hero: checks'
    """
    for pattern, text in _PATTERNS:
        found = pattern.fullmatch(line)
        if found is not None:
            english = found.expand(text)
            return re.sub(r" (?:y está|y va|et est|et va|con) (?:all-in|à tapis).*", " and is all-in", english)
    return line

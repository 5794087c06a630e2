"""The files of the page: small, consistent, and without HTML injection."""

from __future__ import annotations

import re

from riverboat.web.gateway import MEDIA_TYPES, PAGE

MODULES = {file.name: file.read_text(encoding="utf-8") for file in sorted(PAGE.glob("*.js"))}
EXPORTED = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)
IMPORTED = re.compile(r"""import \{([^}]*)\} from "\./(\w+\.js)";""")
LATE = re.compile(r"""import\("\./(\w+\.js)"\)""")


def test_size_of_the_page() -> None:
    files = [file for file in PAGE.rglob("*") if file.is_file()]
    assert {file.suffix for file in files} <= set(MEDIA_TYPES)  # otherwise the server would not send it
    assert sum(file.stat().st_size for file in files) <= 400_000


def test_imports_exist() -> None:
    exports = {name: set(EXPORTED.findall(text)) for name, text in MODULES.items()}
    asked = [(name, module, names) for name, text in MODULES.items() for names, module in IMPORTED.findall(text)]
    assert len(asked) > 50
    wrong = [
        f"{name}: {one} of {module}"
        for name, module, names in asked
        for one in (part.split(" as ")[0].strip() for part in names.split(","))
        if one and one not in exports.get(module, set())
    ]
    wrong += [f"{name}: {file}" for name, text in MODULES.items() for file in LATE.findall(text) if file not in MODULES]
    wrong += [
        f"{name}: api.{one}"
        for name, text in MODULES.items()
        if 'import * as api from "./api.js"' in text
        for one in re.findall(r"\bapi\.(\w+)(?!\.)\b", re.sub(r'"[^"\n]*"', "", text))
        if one not in exports["api.js"]
    ]
    assert wrong == []


def test_no_markup_injection_and_no_foreign_requests() -> None:
    for name, text in MODULES.items():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            name
        )
    for file in PAGE.glob("*.*"):
        found = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", file.read_text(encoding="utf-8"))
        assert [url for url in found if not url.endswith("//www.w3.org")] == [], file.name

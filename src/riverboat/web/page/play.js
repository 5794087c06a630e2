// Play: hands against an agent. The list of opponents and sessions, or the table of one session.

import * as api from "./api.js";
import { attempt, choice, fill, h } from "./dom.js";
import { EveningReport } from "./evening.js";
import { eveningUpload } from "./evening_upload.js";
import { ago } from "./figures.js";
import { go } from "./place.js";
import { fromHistory, HistoryReview } from "./play_history.js";
import { PlayTable } from "./play_table.js";

const KINDS = { spot: "Solved spots", search: "With search (strongest)", blueprint: "Blueprints", yardstick: "Simple opponents" };

async function openStart(root) {
  const [agents, sessions, files, evenings] = await Promise.all([api.opponents(), api.sessions(), api.histories(), api.evenings()]);
  let seat = "";
  const sit = (agent) => attempt(async () => go("play", { sitting: (await api.startSession(seat ? { agent, seat } : { agent })).name }));
  const groups = Object.entries(KINDS).map(([kind, title]) => {
    const some = agents.filter((agent) => agent.kind === kind);
    if (!some.length) return null;
    return h("section", { class: "stack" }, h("h2", {}, title), h("div", { class: "runs" }, some.map((agent) =>
      h("button", { type: "button", class: "run", on: { click: () => sit(agent.name) } }, h("b", {}, agent.name), h("small", {}, agent.about)))));
  });
  const old = sessions.map((one) => h("a", { class: "run", href: `#play?sitting=${one.name}` },
    h("div", { class: "spread" }, h("b", {}, one.agent), h("span", { class: "badge" }, `${one.hands} hand${one.hands === 1 ? "" : "s"}`)), h("small", {}, `${one.game} · ${ago(one.changed)}`)));
  fill(root, h("div", { class: "stack" },
    h("div", { class: "spread title" }, h("div", {}, h("h1", {}, "Play"), h("p", { class: "soft" }, "Play against an agent on this machine. Every session is saved, and each decision is reviewed by the EV it lost.")),
      choice("Your seat", [["", "Both seats"], ["oop", "Out of position"], ["ip", "In position"]], seat, (value) => { seat = value; })),
    old.length ? h("section", { class: "stack" }, h("h2", {}, "Sessions"), h("div", { class: "runs" }, old.slice(0, 8))) : null,
    groups, eveningUpload(evenings), fromHistory(files)));
}

export async function open(root, params, signal) {
  if (!params.sitting && !params.history && !params.evening) return openStart(root);
  const table = params.evening ? new EveningReport(root, params) : params.history ? new HistoryReview(root, params) : new PlayTable(root, params.sitting, () => go("play", {}));
  signal.addEventListener("abort", () => table.close());
  return table.load();
}

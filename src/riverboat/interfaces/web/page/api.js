// The server's answers. Every path stands here and nowhere else; docs/api.md describes them.

async function askText(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is riverboat serve still running?");
  }
  const text = await answer.text();
  if (!answer.ok) throw Object.assign(new Error(errorIn(text) ?? `${path}: the server answered ${answer.status}`), { status: answer.status });
  return text;
}

function errorIn(text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return undefined;
  }
}

async function ask(method, path, body) {
  const sent = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const text = await askText(path, { method, ...sent });
  return text ? JSON.parse(text) : null;
}

const query = (params) => {
  const kept = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
};
const get = (path, params = {}) => ask("GET", `/api/${path}${query(params)}`);
const post = (path, body = {}) => ask("POST", `/api/${path}`, body);
const part = (name) => name.split("/").map(encodeURIComponent).join("/");

/** What does not change while the page is open, asked for once. */
const once = (path) => {
  let asked = null;
  return () => (asked ??= get(path).catch((error) => { asked = null; throw error; }));
};

export const about = once("about");
export const hands = once("hands"); // names of made hands and draws
export const presets = once("ranges/presets");
export const parseRange = (text) => post("ranges", { text });
export const readSpot = (source) => post("spots", source);
export const sizeOf = (source) => post("spots/size", source);
export const proposal = (source) => post("spots/proposal", source);
export const examples = (agent) => get("spots/examples", { agent });
export const runs = () => get("runs");
export const node = (run, line, more = {}) => get("node", { run, line, ...more });
export const compare = (run, other, line) => get("compare", { run, other, line });
export const rangeOf = (run, line, player) => askText(`/api/export${query({ run, line, player, format: "range" })}`);
export const runouts = (run, line) => get("runouts", { run, line });
export const series = (run) => get("series", { run });
export const aggregate = (run, line) => get("aggregate", { run, line });
export const exportLink = (params) => `/api/export${query(params)}`;
export const jobs = () => get("jobs");
export const startJob = (wanted) => post("jobs", wanted);
export const stopJob = (name) => post(`jobs/${part(name)}/stop`);
export const resumeJob = (name, limits = {}) => post(`jobs/${part(name)}/resume`, limits);
export const removeJob = (name) => ask("DELETE", `/api/jobs/${part(name)}`);

export const opponents = () => get("play/agents");
export const sittings = () => get("play/sittings");
export const sitDown = (wanted) => post("play/sittings", wanted);
export const sitting = (name) => get(`play/sittings/${part(name)}`);
export const openSitting = (name) => post(`play/sittings/${part(name)}/open`);
export const move = (name, made, version) => post(`play/sittings/${part(name)}/move`, { move: made, version });
export const deal = (name, version) => post(`play/sittings/${part(name)}/deal`, { version });
export const leave = (name) => ask("DELETE", `/api/play/sittings/${part(name)}`);
export const results = (name) => get(`play/sittings/${part(name)}/results`);
export const lucklessResults = (name) => post(`play/sittings/${part(name)}/results`);
export const review = (name, hand) => get(`play/sittings/${part(name)}/review`, { hand: String(hand) });
export const askReview = (name, hand) => post(`play/sittings/${part(name)}/review`, { hand });
export const cancelReviews = (name) => ask("DELETE", `/api/play/sittings/${part(name)}/reviews`);
export const handsLink = (name) => `/api/play/sittings/${part(name)}/hands.phhs`;
export const histories = () => get("play/histories");
export const bringHands = (wanted) => post("play/histories", wanted);
export const history = (name) => get(`play/histories/${part(name)}`);
export const historyHands = (name, player) => get(`play/histories/${part(name)}/hands`, { player });
export const historyReview = (name, player, judge, hand) => get(`play/histories/${part(name)}/review`, { player, judge, hand: String(hand) });
export const askHistoryReview = (name, player, judge, hand) => post(`play/histories/${part(name)}/review`, { player, judge, hand });
export const cancelHistoryReviews = (name) => ask("DELETE", `/api/play/histories/${part(name)}/reviews`);
export const removeHistory = (name) => ask("DELETE", `/api/play/histories/${part(name)}`);
export const beginDrill = (wanted) => post("drills", wanted);
export const question = (name) => get(`drills/${part(name)}`);
export const nextQuestion = (name) => post(`drills/${part(name)}/question`);
export const answer = (name, made) => post(`drills/${part(name)}/answer`, { move: made });
export const drillRecord = (source) => get("drills/record", { source });
export const chartBook = (source, root) => get("charts", { source, root });
export const solveCharts = (source, line) => post("charts", { source, line });
export const chart = (source, line) => get("charts/chart", { source, line });
export const chartDifference = (source, against, line) => get("charts/difference", { source, against, line });
export const pictureLink = (source, lines, kind) => `/api/charts/picture?${new URLSearchParams([["source", source], ["kind", kind], ...lines.map((line) => ["line", line])])}`;

/** Follow a job: `change(job)` whenever something new is known, the last time when it has ended. Returns what stops it. */
export function follow(name, change) {
  const source = new EventSource(`/api/jobs/${part(name)}/events`);
  source.onmessage = (event) => {
    const job = JSON.parse(event.data);
    if (!ALIVE.includes(job.state)) source.close(); // or the browser would ask again
    change(job);
  };
  return () => source.close();
}

/** Follow all jobs: `change(jobs)`, the newest first. Returns what stops it. */
export function followAll(change) {
  const source = new EventSource("/api/events");
  source.onmessage = (event) => change(JSON.parse(event.data));
  return () => source.close();
}

export const ALIVE = ["queued", "running", "stopping"];

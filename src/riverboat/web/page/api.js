// Requests to the server. All paths of the API are in this file; docs/api.md describes them.
//
// A request that reads or computes is aborted when the user leaves the address, and can be cancelled. A request that changes
// something always completes, but a page that was left does not get the response.

import { Abandoned, addressSignal, pageSignal, until } from "./scope.js";
import { wait } from "./waiting.js";

/** An error response of the server. `costly` names a source that must be computed first, which only a click may start. */
class ServerError extends Error {
  constructor(reply, path, status) {
    super(reply.error ?? `${path}: the server responded with status ${status}`);
    this.costly = reply.costly === true ? path : null;
  }
}

async function askText(path, options = {}) {
  let answer, text;
  try {
    answer = await fetch(path, options);
    text = await answer.text();
  } catch {
    options.signal?.throwIfAborted();
    throw new Error("The server does not respond. Is riverboat serve still running?");
  }
  if (!answer.ok) throw new ServerError(errorIn(text), path, answer.status);
  return text;
}

function errorIn(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

const parsed = (text) => (text ? JSON.parse(text) : null);

function sent(method, body) {
  return body === undefined ? { method } : { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

const query = (params) => {
  const present = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return present.length ? `?${new URLSearchParams(present)}` : "";
};
const part = (name) => name.split("/").map(encodeURIComponent).join("/");

/** Read or compute something for the current address. A label is shown if it takes long.
 * `ends` are further signals that abort it. */
async function read(path, options, label, ends = []) {
  const own = new AbortController();
  const signal = AbortSignal.any([addressSignal(), own.signal, ...ends]);
  const end = label ? wait(label, () => own.abort(new Abandoned(true))) : null;
  try {
    return await askText(path, { ...options, signal });
  } finally {
    end?.();
  }
}

/** Change something: the request always completes, but only the page that sent it gets the response. */
async function change(method, path, body, label) {
  const end = label ? wait(label) : null;
  try {
    return parsed(await until(pageSignal(), askText(`/api/${path}`, sent(method, body))));
  } finally {
    end?.();
  }
}

const wanted = new Set(); // sources that the user has requested with a click

/** Allow the computation of a source that the user has chosen. */
export const want = (source) => wanted.add(source);

/** Get something of a source; compute it first only if the user has requested that: a link alone starts nothing. */
async function getOf(source, ask, compute) {
  try {
    return await ask();
  } catch (error) {
    if (!error.costly) throw error;
    error.costly = source;
    if (!wanted.has(source)) throw error;
    return compute();
  }
}

const get = async (path, params = {}, label = "") => parsed(await read(`/api/${path}${query(params)}`, {}, label));
const compute = async (path, body = {}, label = "", ends = []) => parsed(await read(`/api/${path}`, sent("POST", body), label, ends));
const post = (path, body = {}, label = "") => change("POST", path, body, label);
const remove = (path) => change("DELETE", path);

/** Data that does not change while the page is open: requested once, never aborted. */
const once = (path) => {
  let pending = null;
  return () => until(addressSignal(), (pending ??= askText(`/api/${path}`).then(parsed).catch((error) => { pending = null; throw error; })));
};

export const evenings = () => get("evenings");
export const beginEvening = (text, title) => post("evenings", { text, title }, "Reading the hands");
export const addToEvening = (name, text) => post(`evenings/${part(name)}/text`, { text }, "Reading the hands");
export const evening = (name, player) => get(`evenings/${part(name)}`, { player }, "Reading the hands");
export const eveningPhh = (name) => `/api/evenings/${part(name)}/hands.phhs`;
export const eveningHeadsUp = (name) => read(`${eveningPhh(name)}?heads_up=true`, {}, "Reading the hands");
export const eveningHand = (name, hand, player) => get(`evenings/${part(name)}/hand`, { hand, player });
export const eveningReview = (name, hand, player) => get(`evenings/${part(name)}/review`, { hand, player });
export const askEveningReview = (name, hand, player) => post(`evenings/${part(name)}/review`, { hand, player });
export const cancelEveningReviews = (name) => remove(`evenings/${part(name)}/reviews`);
export const removeEvening = (name) => remove(`evenings/${part(name)}`);
export const about = once("about");
export const hands = once("hands"); // names of made hands and draws
export const presets = once("ranges/presets");
export const parseRange = (text) => compute("ranges", { text }, "Reading the range");
export const readSpot = (source) => compute("spots", source, "Reading the spot");
export const sizeOf = (source, signal) => compute("spots/size", source, "Estimating the size of the tree", [signal]);
export const proposal = (source) => compute("spots/proposal", source, "Estimating memory and time");
export const examples = (agent) => get("spots/examples", { agent });
export const runs = (label = "Listing the runs") => get("runs", {}, label);
export function node(run, line, more = {}) {
  const [parameters, label] = [{ run, line, ...more }, `Computing a node of ${run}`];
  return getOf(run, () => get("node", parameters, label), () => compute("node", parameters, label));
}
export const compare = (run, other, line) => get("compare", { run, other, line }, `Comparing ${run} with ${other}`);
export const rangeOf = (run, line, player) => read(`/api/export${query({ run, line, player, format: "range" })}`, {}, "Reading the range");
export const runouts = (run, line) => get("runouts", { run, line }, "Computing all cards");
export const series = (run) => get("series", { run });
export const aggregate = (run, line) => get("aggregate", { run, line }, `Computing the report of ${run}`);
export const exportLink = (params) => `/api/export${query(params)}`;
export const jobs = () => get("jobs");
export const startJob = (wanted) => post("jobs", wanted);
export const stopJob = (name) => post(`jobs/${part(name)}/stop`);
export const resumeJob = (name, limits = {}) => post(`jobs/${part(name)}/resume`, limits);
export const removeJob = (name) => remove(`jobs/${part(name)}`);

export const opponents = () => get("play/agents", {}, "Listing the agents");
export const sessions = () => get("play/sittings", {}, "Listing the sessions");
export const startSession = (wanted) => post("play/sittings", wanted, `Loading ${wanted.agent}`);
export const session = (name) => getOf(name, () => get(`play/sittings/${part(name)}`, {}, "Loading the session"), () => post(`play/sittings/${part(name)}/open`, {}, "Opening the session"));
export const move = (name, made, version) => post(`play/sittings/${part(name)}/move`, { move: made, version }, "Waiting for the agent");
export const deal = (name, version) => post(`play/sittings/${part(name)}/deal`, { version }, "Waiting for the agent");
export const leave = (name) => remove(`play/sittings/${part(name)}`);
export const results = (name) => get(`play/sittings/${part(name)}/results`);
export const lucklessResults = (name) => compute(`play/sittings/${part(name)}/results`, {}, "Estimating the result without luck");
export const review = (name, hand) => get(`play/sittings/${part(name)}/review`, { hand: String(hand) });
export const askReview = (name, hand) => post(`play/sittings/${part(name)}/review`, { hand });
export const cancelReviews = (name) => remove(`play/sittings/${part(name)}/reviews`);
export const handsLink = (name) => `/api/play/sittings/${part(name)}/hands.phhs`;
export const histories = () => get("play/histories", {}, "Listing the hand histories");
export const bringHands = (wanted) => post("play/histories", wanted, "Reading the hands");
export const history = (name) => get(`play/histories/${part(name)}`, {}, "Reading the hands");
export const historyHands = (name, player) => get(`play/histories/${part(name)}/hands`, { player }, "Reading the hands");
export const historyReview = (name, player, judge, hand) => get(`play/histories/${part(name)}/review`, { player, judge, hand: String(hand) });
export const askHistoryReview = (name, player, judge, hand) => post(`play/histories/${part(name)}/review`, { player, judge, hand });
export const cancelHistoryReviews = (name) => remove(`play/histories/${part(name)}/reviews`);
export const removeHistory = (name) => remove(`play/histories/${part(name)}`);
export const beginDrill = (wanted) => compute("drills", wanted, `Preparing a drill of ${wanted.source}`);
export const question = (name) => get(`drills/${part(name)}`, {}, "Loading the question");
export const nextQuestion = (name) => post(`drills/${part(name)}/question`, {}, "Computing the question");
export const answer = (name, made) => post(`drills/${part(name)}/answer`, { move: made }, "Grading the answer");
export const drillRecord = (source) => get("drills/record", { source });

const solveCharts = (source, line) => compute("charts", { source, line }, `Solving ${source}`);
/** Charts of a source that may have to be solved first. */
const charts = (source, line, ask) => getOf(source, ask, async () => { await solveCharts(source, line); return ask(); });
export const chartBook = (source, root) => charts(source, root, () => get("charts", { source, root }, `Loading the charts of ${source}`));
export const chart = (source, line) => charts(source, line, () => get("charts/chart", { source, line }, `Loading a chart of ${source}`));
export const chartDifference = (source, against, line) => charts(against, line, () => get("charts/difference", { source, against, line }, `Comparing ${source} with ${against}`));
export const pictureLink = (source, lines, kind) => `/api/charts/picture?${new URLSearchParams([["source", source], ["kind", kind], ...lines.map((line) => ["line", line])])}`;

/** Listen to server events while the page is open. Returns a function that stops it. */
function listen(path, handle) {
  const source = new EventSource(path);
  const stop = () => source.close();
  source.onmessage = (event) => handle(JSON.parse(event.data), stop);
  pageSignal().addEventListener("abort", stop, { once: true });
  return stop;
}

/** Follow a job: calls `change(job)` on every update, the last time when it has ended. Returns a function that stops it. */
export const follow = (name, change) => listen(`/api/jobs/${part(name)}/events`, (job, stop) => {
  if (!ALIVE.includes(job.state)) stop(); // otherwise the browser reconnects
  change(job);
});

/** Follow all jobs: calls `change(jobs)`, the newest first. Returns a function that stops it. */
export const followAll = (change) => listen("/api/events", (jobs) => change(jobs));

export const ALIVE = ["queued", "running", "stopping"];

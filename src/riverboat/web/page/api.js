// The server's answers. Every path stands here and nowhere else; docs/api.md describes them.
//
// A request that reads or computes is aborted when its address is left, and the reader may cancel it. One that changes
// something is always carried out, but a page that was left does not hear of it.

import { Abandoned, addressSignal, pageSignal, until } from "./scope.js";
import { wait } from "./waiting.js";

/** An error that the server answered. `costly` names a source that must be computed first, which only a click may start. */
class ServerError extends Error {
  constructor(told, path, status) {
    super(told.error ?? `${path}: the server answered ${status}`);
    this.costly = told.costly === true ? path : null;
  }
}

async function askText(path, options = {}) {
  let answer, text;
  try {
    answer = await fetch(path, options);
    text = await answer.text();
  } catch {
    options.signal?.throwIfAborted();
    throw new Error("The server does not answer. Is riverboat serve still running?");
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
  const kept = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
};
const part = (name) => name.split("/").map(encodeURIComponent).join("/");

/** Read or compute something for the address that is shown. A label is shown while it takes long; without one nothing is.
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

/** Change something: carried out whatever is shown afterwards, but told only to the page that asked. */
async function change(method, path, body, label) {
  const end = label ? wait(label) : null;
  try {
    return parsed(await until(pageSignal(), askText(`/api/${path}`, sent(method, body))));
  } finally {
    end?.();
  }
}

const wanted = new Set(); // sources that somebody has asked for with a click

/** Let a source be computed where it must be: the reader has chosen it. */
export const want = (source) => wanted.add(source);

/** Get something of a source. If it must be computed first, do that only for a source that is wanted: no link starts it. */
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

/** What does not change while the page is open, asked for once; no page may abort it for the others. */
const once = (path) => {
  let asked = null;
  return () => until(addressSignal(), (asked ??= askText(`/api/${path}`).then(parsed).catch((error) => { asked = null; throw error; })));
};

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
  const [asked, label] = [{ run, line, ...more }, `Computing a node of ${run}`];
  return getOf(run, () => get("node", asked, label), () => compute("node", asked, label));
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
export const sittings = () => get("play/sittings", {}, "Listing the sessions");
export const sitDown = (wanted) => post("play/sittings", wanted, `Loading ${wanted.agent}`);
export const sitting = (name) => getOf(name, () => get(`play/sittings/${part(name)}`, {}, "Loading the session"), () => post(`play/sittings/${part(name)}/open`, {}, "Opening the session"));
export const move = (name, made, version) => post(`play/sittings/${part(name)}/move`, { move: made, version }, "Waiting for the agent");
export const deal = (name, version) => post(`play/sittings/${part(name)}/deal`, { version }, "Waiting for the agent");
export const leave = (name) => remove(`play/sittings/${part(name)}`);
export const results = (name) => get(`play/sittings/${part(name)}/results`);
export const lucklessResults = (name) => compute(`play/sittings/${part(name)}/results`, {}, "Estimating the result without luck");
export const review = (name, hand) => get(`play/sittings/${part(name)}/review`, { hand: String(hand) });
export const askReview = (name, hand) => post(`play/sittings/${part(name)}/review`, { hand });
export const cancelReviews = (name) => remove(`play/sittings/${part(name)}/reviews`);
export const handsLink = (name) => `/api/play/sittings/${part(name)}/hands.phhs`;
export const histories = () => get("play/histories", {}, "Listing the files of hands");
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

/** Listen to events of the server for as long as the page is open. Returns what stops it. */
function listen(path, told) {
  const source = new EventSource(path);
  const stop = () => source.close();
  source.onmessage = (event) => told(JSON.parse(event.data), stop);
  pageSignal().addEventListener("abort", stop, { once: true });
  return stop;
}

/** Follow a job: `change(job)` whenever something new is known, the last time when it has ended. Returns what stops it. */
export const follow = (name, change) => listen(`/api/jobs/${part(name)}/events`, (job, stop) => {
  if (!ALIVE.includes(job.state)) stop(); // or the browser would ask again
  change(job);
});

/** Follow all jobs: `change(jobs)`, the newest first. Returns what stops it. */
export const followAll = (change) => listen("/api/events", (jobs) => change(jobs));

export const ALIVE = ["queued", "running", "stopping"];

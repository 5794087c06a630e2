// Lifetimes. A page lives until another one opens; an address until the next navigation, also within a page. Requests
// belong to one of them and are aborted with it, so that a late response never reaches a newer page.

/** The reason of an abort: the user went elsewhere or pressed Cancel. */
export class Abandoned extends Error {
  constructor(cancelled = false) {
    super(cancelled ? "Cancelled." : "This page was left.");
    this.cancelled = cancelled;
  }
}

/** Whether an error only means that the user went elsewhere. */
export const wasLeft = (error) => error instanceof Abandoned && !error.cancelled;

let page = new AbortController();
let address = new AbortController();

/** The signal of the open page. Listeners, timers and streams of a page end with it. */
export const pageSignal = () => page.signal;
/** The signal of the current address. Requests that only read end with it. */
export const addressSignal = () => address.signal;

/** Start another address of the open page and abort requests of the last one. */
export function nextAddress() {
  address.abort(new Abandoned());
  address = new AbortController();
  return address.signal;
}

/** Start another page and abort everything of the last one. */
export function nextPage() {
  page.abort(new Abandoned());
  page = new AbortController();
  nextAddress();
  return page.signal;
}

/** Resolve or reject as a promise does, unless the signal is aborted first. */
export function until(signal, promise) {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(signal.reason);
    if (signal.aborted) abandon();
    signal.addEventListener("abort", abandon, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abandon));
  });
}

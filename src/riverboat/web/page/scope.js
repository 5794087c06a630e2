// Lifetimes. A page lives until another one opens; an address, until the next navigation, also inside a page. Requests
// belong to one of them and are abandoned with it, so that a late answer never reaches what is shown now.

/** The reason of an abort: the reader went elsewhere, or pressed Cancel. */
export class Abandoned extends Error {
  constructor(cancelled = false) {
    super(cancelled ? "Cancelled." : "This page was left.");
    this.cancelled = cancelled;
  }
}

/** Whether an error only says that the reader went elsewhere: nobody is left to be told. */
export const wasLeft = (error) => error instanceof Abandoned && !error.cancelled;

let page = new AbortController();
let address = new AbortController();

/** The signal of the page that is open. Listeners, timers and streams of a page end with it. */
export const pageSignal = () => page.signal;
/** The signal of the address that is shown. Requests that only read end with it. */
export const addressSignal = () => address.signal;

/** Begin another address of the open page; what the last one waits for is abandoned. */
export function nextAddress() {
  address.abort(new Abandoned());
  address = new AbortController();
  return address.signal;
}

/** Begin another page; everything of the last one is abandoned. */
export function nextPage() {
  page.abort(new Abandoned());
  page = new AbortController();
  nextAddress();
  return page.signal;
}

/** Settle as a promise does, unless the signal is aborted first. */
export function until(signal, promise) {
  return new Promise((resolve, reject) => {
    const abandon = () => reject(signal.reason);
    if (signal.aborted) abandon();
    signal.addEventListener("abort", abandon, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abandon));
  });
}

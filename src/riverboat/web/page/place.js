// The current address as a hash: `#study?run=spot&line=b120`. A link reopens the same node.

/** `{ page, params }` of the address. */
export function here() {
  const hash = location.hash.replace(/^#/, "");
  const page = hash.split("?", 1)[0];
  const rest = hash.slice(page.length + 1); // names of agents may have a ? too
  return { page: page || "study", params: Object.fromEntries(new URLSearchParams(rest)) };
}

/** The hash of a page with parameters. Slashes, commas and stars of lines stay readable. */
export function hashOf(page, params = {}) {
  const present = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(present).toString().replace(/%2F/g, "/").replace(/%2C/g, ",").replace(/%3A/g, ":");
  return `#${page}${text ? `?${text}` : ""}`;
}

/** Navigate; updates the open page or opens another one. */
export function go(page, params, { replace = false } = {}) {
  const hash = hashOf(page, params);
  if (hash === location.hash) return;
  if (replace) {
    history.replaceState(null, "", hash);
    again();
  } else location.hash = hash;
}

/** Show the same address again. */
export const again = () => dispatchEvent(new HashChangeEvent("hashchange"));

/** The full link to copy, without the server's token. */
export const link = () => location.href;

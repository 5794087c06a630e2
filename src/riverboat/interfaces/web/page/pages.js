// The pages in the order of the menu. Each is loaded when it is opened.

export const PAGES = [
  { name: "study", title: "Study", load: () => import("./study.js") },
  { name: "watch", title: "Watch", load: () => import("./watch.js") },
];

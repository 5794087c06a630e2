// The pages in the order of the menu. Each is loaded when it is opened.

export const PAGES = [
  { name: "study", title: "Study", load: () => import("./study.js") },
  { name: "watch", title: "Watch", load: () => import("./watch.js") },
  { name: "play", title: "Play", load: () => import("./play.js") },
  { name: "drill", title: "Drill", load: () => import("./drill.js") },
  { name: "charts", title: "Charts", load: () => import("./starting_charts.js") },
];

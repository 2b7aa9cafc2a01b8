/** Outlines in a box of 24 by 24. */
const shapes = {
  logo: "M4 18V9l8-5 8 5v9M8 20v-6h8v6M12 8v3",
  home: "M4 11l8-7 8 7M6 10v10h12V10M10 20v-6h4v6",
  rigs: "M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01M12 7.5h5M12 16.5h5",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
  rules: "M5 6h6M5 12h14M5 18h8M17 4v4M17 16v4M15 6h4M15 18h4",
  pools: "M3 8c3-3 6 3 9 0s6 3 9 0M3 13c3-3 6 3 9 0s6 3 9 0M3 18c3-3 6 3 9 0s6 3 9 0",
  money:
    "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M15 9c-1-1.5-5.5-1.5-5.5.7 0 2.6 5.5 1.6 5.5 4.3 0 2.3-4.7 2.3-6 .5M12 6v2M12 16v2",
  activity: "M3 12h4l3-8 4 16 3-8h4",
  hosts: "M4 5h16v10H4zM9 20h6M12 15v5",
  rack: "M3 20V10l4-3v3l4-3v3l4-3v13M3 20h18M15 20V4h6v16",
  add: "M12 5v14M5 12h14",
  settings:
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M5.6 18.4l2.1-2.1M16.3 7.7l2.1-2.1",
  family: "M8 8a2 2 0 1 0 .01 0M16 8a2 2 0 1 0 .01 0M4 20v-4a4 4 0 0 1 8 0v4M12 20v-4a4 4 0 0 1 8 0v4",
  person: "M12 4a4 4 0 1 0 .01 0M5 20a7 7 0 0 1 14 0",
  leave: "M14 4H6v16h8M10 12h10M17 8l4 4-4 4",
  info: "M12 3a9 9 0 1 0 .01 0M12 11v5M12 8h.01",
  warning: "M12 4l9 16H3zM12 10v5M12 17.5h.01",
  unplugged: "M9 3v5M15 3v5M7 8h10v3a5 5 0 0 1-10 0zM12 16v5M3 3l18 18",
  search: "M10.5 4a6.5 6.5 0 1 0 .01 0M15.5 15.5L20 20",
  close: "M6 6l12 12M18 6L6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M12 6h.01M12 12h.01M12 18h.01",
  check: "M5 13l4 4L19 7",
  start: "M7 5l12 7-12 7z",
  stop: "M6 6h12v12H6z",
  restart: "M19 12a7 7 0 1 1-2-5M19 4v4h-4",
  power: "M12 4v8M7 7a7 7 0 1 0 10 0",
  locate: "M12 8a4 4 0 1 0 .01 0M12 2v4M12 18v4M2 12h4M18 12h4",
  heat: "M12 3c1 4 5 5 5 10a5 5 0 0 1-10 0c0-2 1-3 2-4 .5 1.5 1.5 2 2 2 .5-3-.5-5 1-8",
  sun: "M12 8a4 4 0 1 0 .01 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  next: "M9 6l6 6-6 6",
  back: "M15 6l-6 6 6 6",
  edit: "M4 20l1-5L16 4l4 4L9 19z",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  upload: "M12 16V5M7 9l5-5 5 5M5 20h14",
  columns: "M4 5h16v14H4zM10 5v14M15 5v14",
  cards: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  bookmark: "M6 4h12v16l-6-4-6 4z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  key: "M8 11a4 4 0 1 0 .01 0M11 12l9-9M16 7l3 3",
  clock: "M12 3a9 9 0 1 0 .01 0M12 7v5l3 2",
  wrench: "M20 6a5 5 0 0 1-7 6l-7 7-2-2 7-7a5 5 0 0 1 6-7l-3 3 1 2 2 1z",
  printer: "M7 8V3h10v5M5 8h14v8h-3M8 16H5M8 13h8v8H8z",
} as const;
export type IconName = keyof typeof shapes;

/** Beside a text with the same meaning; alone only inside a control that has a name. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={shapes[name]} />
  </svg>
);

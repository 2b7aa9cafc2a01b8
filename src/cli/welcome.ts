import { counted } from "./config.ts";

/** What a service that has just started is. */
export interface Served {
  /** Where people reach it. */
  readonly url: string;
  /** Where it is reached as well. */
  readonly others: readonly string[];
  readonly version: string;
  /** Declared by the configuration, or added over the API. */
  readonly miners: number;
  readonly demoMiners: number;
  readonly wantsKey: boolean;
  /** The configuration file, as it is or would be called: with its folder where one was given. */
  readonly file: string;
}

interface Listening {
  readonly url: string;
  readonly address: { readonly host: string; readonly port: number };
}

/** Where people reach it: one that listens on every address is reached at `hosts`, the machine's own. */
export function placesOf(
  { url, address: { host, port } }: Listening,
  hosts: readonly string[],
): Pick<Served, "url" | "others"> {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const urls = new Set([...(isEverywhere ? hosts.map((name) => `http://${name}:${port}`) : []), url]);
  const [first = url, ...others] = urls;
  return { url: first, others };
}

/** What it says of itself, and what to do next. */
export function welcome(served: Served): { readonly ready: string; readonly advice: readonly string[] } {
  const { url, others, version, miners, demoMiners } = served;
  const kinds = [
    ...(miners > 0 || demoMiners === 0 ? [counted(miners, "miner")] : []),
    ...(demoMiners > 0 ? [counted(demoMiners, "demo miner")] : []),
  ];
  const ready = `Rigbridge ${version} is ready at ${url} with ${kinds.join(" and ")}`;
  const elsewhere = others.length === 0 ? [] : [`It is also at ${others.join(", ")}`];
  const advice = miners > 0 ? [] : [...demoSaid(served), ...howToAdd(served)];
  return {
    ready,
    advice: [`Look at ${url}/api/miners; ${url}/docs shows what else there is`, ...elsewhere, ...advice],
  };
}

const demoSaid = ({ demoMiners }: Served): string[] =>
  demoMiners === 0
    ? []
    : [
        "",
        "THIS IS A DEMO: no real rig is known yet, so what you see are virtual rigs inside this process.",
        "They are never stored, and leave when you add the first real one.",
      ];

const howToAdd = ({ url, wantsKey, file }: Served): string[] => [
  "",
  "Add a rig by its address, now:",
  `  curl ${wantsKey ? '-H "X-API-Key: $RIGBRIDGE_KEY" ' : ""}-H "Content-Type: application/json" \\`,
  `    -d '{"address": "192.168.1.50"}' ${url}/api/miners`,
  `or in ${file}, and start again:`,
  "  miners:",
  "    - address: 192.168.1.50",
];

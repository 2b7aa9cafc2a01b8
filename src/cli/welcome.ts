import { counted } from "./table.ts";

/** A service that has just started. */
export interface Served {
  /** Where to open it in a browser. */
  readonly url: string;
  /** Its other URLs. */
  readonly others: readonly string[];
  readonly version: string;
  /** Declared by the configuration, or added over the API. */
  readonly miners: number;
  readonly demoMiners: number;
  readonly wantsKey: boolean;
  /** The configuration file, existing or not, with its folder if one was given. */
  readonly file: string;
}

interface Listening {
  readonly url: string;
  readonly address: { readonly host: string; readonly port: number };
}

/**
 * The URLs of a service; a service that listens on every address is reached at `hosts`, the machine's own addresses.
 */
export function placesOf(
  { url, address: { host, port } }: Listening,
  hosts: readonly string[],
): Pick<Served, "url" | "others"> {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const urls = new Set([...(isEverywhere ? hosts.map((name) => `http://${name}:${port}`) : []), url]);
  const [first = url, ...others] = urls;
  return { url: first, others };
}

/** What the service prints once it is ready, with the next steps. */
export function welcome(served: Served): { readonly ready: string; readonly advice: readonly string[] } {
  const { url, others, version, miners, demoMiners, wantsKey } = served;
  const kinds = [
    ...(miners > 0 || demoMiners === 0 ? [counted(miners, "miner")] : []),
    ...(demoMiners > 0 ? [counted(demoMiners, "demo miner")] : []),
  ];
  const ready = `Rigbridge ${version} is ready at ${url} with ${kinds.join(" and ")}`;
  const login = wantsKey ? " and log in with the API key" : "";
  const elsewhere =
    others.length > 0
      ? [`Also reachable at ${others.join(", ")}`]
      : miners === 0 && isOwnMachine(url)
        ? ["Only this computer can open it; started with --lan, your network can"]
        : [];
  const advice = miners > 0 ? [] : [...demoNotice(served), ...howToAdd(served)];
  return {
    ready,
    advice: [`Open ${url} in a browser${login}; ${url}/docs describes the API`, ...elsewhere, ...advice],
  };
}

const isOwnMachine = (url: string): boolean => /^http:\/\/(127\.|localhost\b|\[::1\])/.test(url);

const demoNotice = ({ demoMiners }: Served): string[] =>
  demoMiners === 0
    ? []
    : [
        "",
        "THIS IS A DEMO: no real rig has been added yet, so these are virtual rigs inside this process.",
        "They are not stored, and they leave when you add the first real rig.",
      ];

const howToAdd = ({ url, wantsKey, file }: Served): string[] => [
  "",
  `Search for your rigs and add them at ${url}/add, or add one by its address:`,
  `  curl ${wantsKey ? '-H "X-API-Key: $RIGBRIDGE_KEY" ' : ""}-H "Content-Type: application/json" \\`,
  `    -d '{"address": "192.168.1.50"}' ${url}/api/miners`,
  `or add it to ${file} and restart:`,
  "  miners:",
  "    - address: 192.168.1.50",
];

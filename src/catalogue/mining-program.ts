/**
 * A mining program: how it is started, which driver reads it, and which options users may not set by parameters. Only
 * data, so that the agent alone builds the command line.
 */
export interface MiningProgram {
  readonly id: string;
  readonly name: string;
  /** The driver that reads its API; null if it has none, so that only its process is monitored. */
  readonly api: string | null;
  readonly devices: readonly MiningDevice[];
  /** File name of its executable; null if there is no release for that system. */
  readonly executable: Readonly<Record<Platform, string | null>>;
  readonly command: Command;
  /** Algorithms (ids of GET /api/algorithms) with the program's names for them. */
  readonly algorithms: Readonly<Record<string, AlgorithmName>>;
  /**
   * Second algorithms that it can mine together with a first one; both are ids, the second one with the program's name.
   */
  readonly dual: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly options: OptionStyle;
  /**
   * Options that parameters may not set, in the program's spelling: its API, files that it reads or writes, programs
   * and libraries that it loads, detaching its process. Those of `command.api` need not be repeated.
   */
  readonly reserved: readonly string[];
  /** Allowed options that would otherwise count as abbreviations of reserved ones. */
  readonly ordinary?: readonly string[];
  /** Flags that set GPUs. */
  readonly tuning: TuningFlags;
  /** The request to its API that makes it quit; null if its API has none. */
  readonly quit: string | null;
  /** Exit codes for a wrong command line, after which it is not restarted. */
  readonly badConfigurationExits: readonly number[];
  readonly download: Download | null;
}

export type MiningDevice = "cpu" | "nvidia" | "amd" | "intel" | "asic";
export type DownloadTarget = "linux-x64" | "linux-arm64" | "windows-x64" | "macos-x64" | "macos-arm64";
export type Platform = "linux" | "windows" | "macos";

/**
 * Its argv, built in the order `api`, `supervised`, `start`, `pool`, `spare`, `dual`. Placeholders: `{algorithm}`,
 * `{algorithm2}` (the second one), `{apiPort}`, `{apiToken}`; in the groups of a pool also `{scheme}` (with `://`), `{host}`,
 * `{port}`, `{user}` (wallet, or the worker if no wallet is set), `{worker}`, `{login}` (`wallet.worker`), `{password}` (`x`
 * if empty), `{n}` (1 for the second pool, 2 for the third), and `{loginUrl}`, `{passwordUrl}` (percent-encoded).
 */
export interface Command {
  readonly start: readonly Group[];
  /** The first pool. */
  readonly pool: readonly Group[];
  /** Each further pool; null if it takes only one. */
  readonly spare: readonly Group[] | null;
  /** The pool of the second algorithm; null if it has no dual mining. */
  readonly dual: readonly Group[] | null;
  /** Its API on the host's loopback. Parameters may not repeat these options. */
  readonly api: readonly Group[];
  /** Its own watchdog off (the agent is the only one), no colours, no full-screen output. */
  readonly supervised: readonly Group[];
  /** URL schemes, with `://`. A null `tls` means no TLS; both are empty where flags set it. */
  readonly schemes: { readonly plain: string; readonly tls: string | null };
  /** Set if further pools are values of the same option: joined by this separator. */
  readonly joined?: string;
  /** Characters that separate values for this program; in a password they are escaped by `#`. */
  readonly separators?: string;
}

/** Argv items that are used when each condition holds. */
export interface Group {
  readonly args: readonly string[];
  readonly when: readonly Condition[];
}

/**
 * About the pool: it has a worker besides a wallet, a password, TLS or not. About the program: it mines one algorithm
 * or two.
 */
export type Condition = "worker" | "password" | "tls" | "noTls" | "single" | "dual";

/** `name` is the value of `{algorithm}`; null leaves out groups with that placeholder. `args` are appended to them. */
export interface AlgorithmName {
  readonly name: string | null;
  readonly args: readonly string[];
}

/**
 * The syntax of its options. `getopt`: `-x value`, `-xvalue`, `--long value`, `--long=value`, long ones also
 * abbreviated. `single-dash`: long names behind one dash.
 */
export type OptionStyle = "getopt" | "single-dash";

/** The GPU setting of a flag. `powerLimit` in W, clocks in MHz (locked), `fan` in %. */
export type TuningKey = "powerLimit" | "coreClock" | "memoryClock" | "fan";

/**
 * The flag takes one value per GPU; `keep` leaves a GPU unchanged. `separator` joins the values; a space makes them
 * separate words.
 */
export interface TuningFlag {
  readonly flag: string;
  readonly separator: "," | " ";
  readonly keep: string;
}
export type TuningFlags = Readonly<Partial<Record<TuningKey, TuningFlag>>>;

/** The release that this data describes. */
export interface Download {
  readonly version: string;
  /** Address of the archive; absent if there is none, or it is uncertain. */
  readonly url: Readonly<Partial<Record<DownloadTarget, string>>>;
  /** SHA-256 in hex, where pinned. */
  readonly sha256?: Readonly<Partial<Record<DownloadTarget, string>>>;
  /** Text file of SHA-256 checksums published beside it; null if none. */
  readonly sums: string | null;
}

/**
 * The download for a host; null for a system without one. `system`: as reported by the agent, such as "Linux 6.8.0
 * (x86_64)".
 */
export function downloadTargetFor(system: string): DownloadTarget | null {
  const isArm = /\b(aarch64|arm64)\b/i.test(system);
  if (!isArm && !/\b(x86_64|amd64|x64)\b/i.test(system)) return null;
  if (/^darwin|mac ?os/i.test(system)) return isArm ? "macos-arm64" : "macos-x64";
  if (/^windows/i.test(system)) return isArm ? null : "windows-x64";
  return isArm ? "linux-arm64" : "linux-x64";
}

export const always = (...args: string[]): Group => ({ args, when: [] });

export const when = (condition: Condition, ...args: string[]): Group => ({ args, when: [condition] });

/** "kawpow autolykos2=ergo" → each id with its name, by default the id itself. */
export const named = (list: string, ...args: string[]): Record<string, AlgorithmName> =>
  Object.fromEntries(pairs(list).map(([id, name]) => [id, { name, args }]));

/** An algorithm chosen by arguments instead of its name. */
export const byArguments = (id: string, ...args: string[]): Record<string, AlgorithmName> => ({
  [id]: { name: null, args },
});

/** The same second algorithms for each of several first ones. */
export const dual = (firsts: string, seconds: string): Record<string, Record<string, string>> =>
  Object.fromEntries(pairs(firsts).map(([first]) => [first, Object.fromEntries(pairs(seconds))]));

export const pairs = (list: string): [id: string, name: string][] =>
  list
    .trim()
    .split(/\s+/)
    .map((item) => {
      const at = item.indexOf("=");
      return at < 0 ? [item, item] : [item.slice(0, at), item.slice(at + 1)];
    });

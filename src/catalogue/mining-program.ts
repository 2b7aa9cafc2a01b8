/**
 * What is known of a mining program: how it is started, which driver reads it, and what a user may not set by
 * parameters. Everything is data, so that the host agent can build a command line that no setting can bend.
 */
export interface MiningProgram {
  readonly id: string;
  readonly name: string;
  /** The driver that reads its API; null if it has none, so that only its process is watched. */
  readonly api: string | null;
  readonly devices: readonly MiningDevice[];
  /** File name of its executable; null where the maker has no release for that system. */
  readonly executable: Readonly<Record<Platform, string | null>>;
  readonly command: Command;
  /** Algorithms (ids of the catalogue of algorithms) and what the program calls them. */
  readonly algorithms: Readonly<Record<string, AlgorithmName>>;
  /** Second algorithms that it can mine beside a first one; both are ids, the second one with its name as second. */
  readonly dual: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly options: OptionStyle;
  /**
   * Options that parameters may not set, as the program spells them: its API, files that it reads or writes, programs
   * and libraries that it loads, leaving its process. Those of `command.api` need not be repeated.
   */
  readonly reserved: readonly string[];
  /** Options of its own that would otherwise be taken for abbreviations of reserved ones. */
  readonly ordinary?: readonly string[];
  /** Flags that set GPUs. */
  readonly tuning: TuningFlags;
  /** What ends it when sent to its API's port; null if signals have to. */
  readonly quit: string | null;
  /** Exit codes that say that the command line is wrong: another start would end the same way. */
  readonly badConfigurationExits: readonly number[];
  readonly download: Download | null;
}

export type MiningDevice = "cpu" | "nvidia" | "amd" | "intel" | "asic";
export type DownloadTarget = "linux-x64" | "linux-arm64" | "windows-x64" | "macos-x64" | "macos-arm64";
export type Platform = "linux" | "windows" | "macos";

/**
 * Its argv, built in the order `api`, `supervised`, `start`, `pool`, `spare`, `dual`. Placeholders: `{algorithm}`, `{algorithm2}` (the second one), `{apiPort}`,
 * `{apiToken}`; in the groups of a pool also `{scheme}` (with `://`), `{host}`, `{port}`, `{user}` (wallet, or the
 * worker's name where no wallet is set), `{worker}`, `{login}` (`wallet.worker`), `{password}` (`x` if empty),
 * `{n}` (1 for the second pool, 2 for the third one), and `{loginUrl}`, `{passwordUrl}` (percent-encoded).
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
  /** URL schemes, with `://`. A null `tls` means that it has no TLS; both are empty where flags say it. */
  readonly schemes: { readonly plain: string; readonly tls: string | null };
  /** Set if further pools are not further options: values of the same option are then joined by this. */
  readonly joined?: string;
  /** Characters of a password that separate values for this program; `#` before one makes it an ordinary one. */
  readonly separators?: string;
}

/** Argv items that are used when each condition holds. */
export interface Group {
  readonly args: readonly string[];
  readonly when: readonly Condition[];
}

/** Of the pool: it has a worker beside a wallet, a password, TLS or not. Of the program: it mines one or two. */
export type Condition = "worker" | "password" | "tls" | "noTls" | "single" | "dual";

/** `name` stands for `{algorithm}`; null leaves out groups with that placeholder. `args` follow them. */
export interface AlgorithmName {
  readonly name: string | null;
  readonly args: readonly string[];
}

/**
 * How it reads options. `getopt`: `-x value`, `-xvalue`, `--long value`, `--long=value`, long ones also abbreviated.
 * `single-dash`: long names behind one dash.
 */
export type OptionStyle = "getopt" | "single-dash";

/** Of one GPU: what a flag sets. `powerLimit` in W, clocks in MHz (locked), `fan` in %. */
export type TuningKey = "powerLimit" | "coreClock" | "memoryClock" | "fan";

/**
 * The flag takes one value for each GPU; `keep` leaves one as it is. `separator` joins the values; a space makes them
 * words of their own.
 */
export interface TuningFlag {
  readonly flag: string;
  readonly separator: "," | " ";
  readonly keep: string;
}
export type TuningFlags = Readonly<Partial<Record<TuningKey, TuningFlag>>>;

/** The release that these facts are of. */
export interface Download {
  readonly version: string;
  /** Address of the archive; absent where there is none, or it is not known for sure. */
  readonly url: Readonly<Partial<Record<DownloadTarget, string>>>;
  /** SHA-256 in hex, for those that are pinned. */
  readonly sha256?: Readonly<Partial<Record<DownloadTarget, string>>>;
  /** Text file of SHA-256 sums that the maker publishes beside it; null if none. */
  readonly sums: string | null;
}

/**
 * Which download fits a host; null for one that no maker builds for. `system` is what the agent reports, such as
 * "Linux 6.8.0 (x86_64)".
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

/** "kawpow autolykos2=ergo" → each id with its name, which is the id itself where none is given. */
export const named = (list: string, ...args: string[]): Record<string, AlgorithmName> => Object.fromEntries(pairs(list).map(([id, name]) => [id, { name, args }]));

/** An algorithm that is chosen by other arguments than the name's. */
export const byArguments = (id: string, ...args: string[]): Record<string, AlgorithmName> => ({
  [id]: { name: null, args },
});

/** The same second algorithms for each of several first ones. */
export const dual = (firsts: string, seconds: string): Record<string, Record<string, string>> => Object.fromEntries(pairs(firsts).map(([first]) => [first, Object.fromEntries(pairs(seconds))]));

export const pairs = (list: string): [id: string, name: string][] =>
  list
    .trim()
    .split(/\s+/)
    .map((item) => {
      const at = item.indexOf("=");
      return at < 0 ? [item, item] : [item.slice(0, at), item.slice(at + 1)];
    });

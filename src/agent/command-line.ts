import type { Condition, Group, MiningProgram, TuningKey } from "../catalogue/mining-program.ts";
import { parameterMistakes, splitWords } from "../catalogue/parameters.ts";
import type { Program, ProgramPool } from "../contract/agent.ts";
import type { Mistake } from "../contract/problems.ts";
import { hidden, withoutSecretValues } from "./hidden-words.ts";
import { type PoolAddress, poolAddress } from "./pool-address.ts";

export interface CommandOptions {
  /** A free port of the host's loopback; null for a program without an API. */
  readonly apiPort: number | null;
  /** Random; null for programs whose API has no token. */
  readonly apiToken: string;
  /** Settings of each GPU in the program's order, set by its own flags; absent if there are none. */
  readonly tuning?: readonly GpuTuning[];
}

/** `powerLimit` in W, clocks in MHz, `fan` in %; null leaves a GPU as it is. */
export type GpuTuning = Readonly<Record<TuningKey, number | null>>;

export interface CommandLine {
  /** Without the executable. */
  readonly argv: readonly string[];
  /** Like `argv`, with `***` in place of passwords and tokens. */
  readonly shown: readonly string[];
  /** Added to the environment of the agent. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The arguments and environment of a program. If there are `mistakes` (with paths of `Program`: algorithm, dualAlgorithm,
 * pools, dualPools, parameters), it is not started.
 */
export function commandLine(
  entry: MiningProgram,
  program: Program,
  options: CommandOptions,
): CommandLine | { readonly mistakes: readonly Mistake[] } {
  const mistakes = programMistakes(entry, program);
  const words = splitWords(program.parameters);
  if (mistakes.length > 0 || !("words" in words)) return { mistakes };
  const [main, second] = namesOf(entry, program);
  const { command } = entry;
  const is: Is = { single: second === null, dual: second !== null };
  const values: Values = {
    algorithm: main.name,
    algorithm2: second,
    apiPort: options.apiPort === null ? null : String(options.apiPort),
    apiToken: { secret: options.apiToken },
  };
  const line = [
    ...fill([...command.api, ...command.supervised, ...command.start], is, values),
    ...main.args.map(plain),
    ...poolWords(entry, program.pools, is, values),
    ...(command.dual === null || second === null ? [] : onePool(entry, command.dual, program.dualPools[0], is, values)),
    ...tuningWords(entry, options.tuning ?? []).map(plain),
  ];
  const pools = [...program.pools, ...program.dualPools];
  const own = withoutSecretValues(entry, words.words, [...pools.map(({ password }) => password), options.apiToken]);
  return {
    argv: [...line.map(({ word }) => word), ...words.words],
    shown: [...line.map(({ shown }) => shown), ...own],
    // CUDA programs then number GPUs by PCI bus, as the host's list does.
    environment: { CUDA_DEVICE_ORDER: "PCI_BUS_ID" },
  };
}

/** Every mistake in the settings of a program. */
export function programMistakes(entry: MiningProgram, program: Program): Mistake[] {
  const { algorithm, dualAlgorithm, pools, dualPools } = program;
  const mistakes: Mistake[] = [];
  if (!Object.hasOwn(entry.algorithms, algorithm)) {
    mistakes.push({ path: "algorithm", message: `${entry.name} cannot mine "${algorithm}"` });
  }
  if (dualAlgorithm !== null && entry.dual[algorithm]?.[dualAlgorithm] === undefined) {
    const partners = Object.keys(entry.dual[algorithm] ?? {});
    const offer = partners.length === 0 ? "no second algorithm" : `only ${partners.join(", ")}`;
    const message = `${entry.name} cannot mine "${dualAlgorithm}" beside "${algorithm}", ${offer}`;
    mistakes.push({ path: "dualAlgorithm", message });
  }
  const lists = [["pools", pools] as const, ...(dualAlgorithm === null ? [] : [["dualPools", dualPools] as const])];
  for (const [path, list] of lists) {
    if (list.length === 0) mistakes.push({ path, message: "is empty; it needs at least one pool" });
    for (const [at, pool] of list.entries()) mistakes.push(...poolMistakes(entry, `${path}.${at}`, pool));
  }
  const parameters = parameterMistakes(entry, program.parameters);
  return [...mistakes, ...parameters.map((message) => ({ path: "parameters", message }))];
}

function poolMistakes({ name, command }: MiningProgram, path: string, pool: ProgramPool): Mistake[] {
  const mistakes: Mistake[] = [];
  const address = poolAddress(pool.url);
  if (address === null) {
    const message = "is not a pool address like stratum+tcp://pool.example.com:3333";
    mistakes.push({ path: `${path}.url`, message });
  } else if (address.tls && command.schemes.tls === null) {
    mistakes.push({ path: `${path}.url`, message: `asks for TLS, which ${name} does not have` });
  }
  if (pool.wallet === "" && pool.worker === "") {
    mistakes.push({ path, message: "has neither a wallet nor a worker" });
  }
  for (const field of ["worker", "wallet", "password"] as const) {
    // Some programs would read it as an option.
    if (pool[field].startsWith("-")) mistakes.push({ path: `${path}.${field}`, message: "must not begin with -" });
    if (/\p{Cc}/u.test(pool[field]))
      mistakes.push({ path: `${path}.${field}`, message: "contains control characters" });
  }
  return mistakes;
}

/** The program's names of its algorithms; the second is null without dual mining. */
function namesOf({ algorithms, dual }: MiningProgram, { algorithm, dualAlgorithm }: Program) {
  const second = dualAlgorithm === null ? null : (dual[algorithm]?.[dualAlgorithm] ?? null);
  return [algorithms[algorithm] ?? { name: null, args: [] }, second] as const;
}

type Is = Partial<Record<Condition, boolean>>;
/** Groups with a placeholder whose value is null are left out. */
type Values = Readonly<Record<string, string | { readonly secret: string } | null>>;

interface Word {
  readonly word: string;
  readonly shown: string;
}

const plain = (word: string): Word => ({ word, shown: word });

/** The words of those groups whose conditions hold. */
const fill = (groups: readonly Group[], is: Is, values: Values): Word[] =>
  groups
    .filter(({ when }) => when.every((condition) => is[condition] === true))
    .filter(({ args }) => !placeholdersIn(args.join(" ")).some((name) => values[name] === null))
    .flatMap(({ args }) =>
      args.map((template) => ({ word: filled(template, values, false), shown: filled(template, values, true) })),
    );

const placeholder = /\{([a-zA-Z0-9]+)\}/g;

const placeholdersIn = (template: string): string[] =>
  [...template.matchAll(placeholder)].map(([, name]) => name ?? "");

const filled = (template: string, values: Values, hide: boolean): string =>
  template.replace(placeholder, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === null) throw new Error(`No value for {${name}}`);
    return typeof value === "string" ? value : hide ? hidden : value.secret;
  });

/** The words of all pools that the program takes. */
function poolWords(entry: MiningProgram, pools: readonly ProgramPool[], is: Is, values: Values): Word[] {
  const { pool, spare, joined } = entry.command;
  const [first, ...others] = pools;
  const further = spare === null ? [] : others.map((each, at) => onePool(entry, spare, each, is, values, at + 1));
  const words = onePool(entry, pool, first, is, values);
  return joined === undefined ? [...words, ...further.flat()] : joinedWords(words, further, joined);
}

function onePool(
  { command }: MiningProgram,
  groups: readonly Group[],
  pool: ProgramPool | undefined,
  is: Is,
  values: Values,
  n = 0,
): Word[] {
  const address = pool === undefined ? null : poolAddress(pool.url);
  if (pool === undefined || address === null) return [];
  const { user, worker, login } = loginOf(pool);
  const escaped = pool.password.replace(/./gs, (each) => (command.separators?.includes(each) ? `#${each}` : each));
  const password = escaped === "" ? "x" : { secret: escaped };
  return fill(
    groups,
    { ...is, worker: worker !== "", password: pool.password !== "", tls: address.tls, noTls: !address.tls },
    {
      ...values,
      scheme: schemeFor(command.schemes, address),
      host: address.host,
      port: String(address.port),
      user,
      worker,
      login,
      password,
      loginUrl: encodeURIComponent(login.toWellFormed()),
      passwordUrl:
        typeof password === "string" ? password : { secret: encodeURIComponent(password.secret.toWellFormed()) },
      n: String(n),
    },
  );
}

/** A pool without a wallet identifies the account by the worker alone. */
function loginOf({ wallet, worker }: ProgramPool) {
  if (wallet === "") return { user: worker, worker: "", login: worker };
  return { user: wallet, worker, login: worker === "" ? wallet : `${wallet}.${worker}` };
}

/** A scheme other than plain or TLS stratum (such as stratum2+tcp) is passed to programs that take schemes. */
const schemeFor = (schemes: MiningProgram["command"]["schemes"], { scheme, tls, ordinary }: PoolAddress): string =>
  !ordinary && schemes.plain !== "" ? `${scheme}://` : ((tls ? schemes.tls : schemes.plain) ?? "");

/** `--pool a --pool b` as `--pool a!b`; an option that a pool does not have is empty for it. */
function joinedWords(first: readonly Word[], further: readonly (readonly Word[])[], by: string): Word[] {
  const valueIn = (words: readonly Word[], option: string): Word =>
    words[words.findIndex(({ word }) => word === option) + 1] ?? plain("");
  const options = first.filter((_, at) => at % 2 === 0);
  return options.flatMap((option) => {
    const values = [first, ...further].map((words) =>
      words.some(({ word }) => word === option.word) ? valueIn(words, option.word) : plain(""),
    );
    const join = (key: keyof Word): string => values.map((value) => value[key]).join(by);
    return [option, { word: join("word"), shown: join("shown") }];
  });
}

/** Flags for the settings that at least one GPU has. */
function tuningWords({ tuning }: MiningProgram, gpus: readonly GpuTuning[]): string[] {
  const keys = ["powerLimit", "coreClock", "memoryClock", "fan"] as const;
  return keys.flatMap((key) => {
    const flag = tuning[key];
    const values = gpus.map((gpu) => gpu[key]);
    if (flag === undefined || values.every((value) => value === null)) return [];
    const texts = values.map((value) => (value === null ? flag.keep : String(Math.round(value))));
    return flag.separator === " " ? [flag.flag, ...texts] : [flag.flag, texts.join(flag.separator)];
  });
}

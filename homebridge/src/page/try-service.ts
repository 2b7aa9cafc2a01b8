import { type Caller, type MiningService, type ProblemCode, RigbridgeError, sentence } from "rigbridge";
import { logTo, readLists } from "rigbridge/farm";
import { ServiceSettings, Settings } from "../config/schema.ts";
import { openElsewhere } from "../open-service.ts";

export interface TriedService {
  /** Its contents, in words. */
  readonly text: string;
  /** Whether the key permits commands; true if that is unknown. */
  readonly mayControl: boolean;
  readonly miners: readonly { readonly name: string; readonly uid: string | null }[];
  readonly groups: readonly string[];
  readonly rules: readonly string[];
}

/** For the whole test. */
const timeoutMs = 20_000;

/** Reads the contents of the service in the settings. Throws as `openElsewhere` and the service do. */
export async function trySettings(given: unknown, ending: AbortSignal): Promise<TriedService> {
  const { data, error } = ServiceSettings.safeParse(given, { error: sentence });
  if (data === undefined) {
    const [first] = error.issues;
    throw new RigbridgeError("input.invalid", `${first?.path.join(".")} ${first?.message}`);
  }
  const signal = AbortSignal.any([ending, AbortSignal.timeout(timeoutMs)]);
  const { service, caller, close } = await openElsewhere(Settings.parse({}), data, logTo(silent), signal);
  const giveUp = (): void => void close();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const { miners, groups, rules } = await readLists(service, caller).catch((error: unknown) => {
      throw isCode(error, "key.missing")
        ? new RigbridgeError("key.missing", "The service requires an API key; enter it above")
        : error;
    });
    return {
      mayControl: await mayControl(service, caller),
      text: [counted(miners.length, "rig"), counted(groups.length, "group"), counted(rules.length, "manual rule")].join(
        ", ",
      ),
      miners: miners.map(({ name, uid }) => ({ name, uid })),
      groups: groups.map(({ name }) => name),
      rules: rules.map(({ name }) => name),
    };
  } finally {
    signal.removeEventListener("abort", giveUp);
    await close();
  }
}

/** Polls a miner that does not exist: a service checks the privilege first. */
const mayControl = (service: MiningService, caller: Caller): Promise<boolean> =>
  service.pollMiner({ id: 9_999_999_999 }, caller).then(
    () => true,
    (error: unknown) => !isCode(error, "user.forbidden"),
  );

const isCode = (error: unknown, code: ProblemCode): boolean => error instanceof RigbridgeError && error.code === code;

const silent = { info: () => {}, warn: () => {}, error: () => {} };

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

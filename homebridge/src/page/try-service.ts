import { type Caller, type MiningService, type ProblemCode, RigbridgeError, sentence } from "rigbridge";
import { logTo, readLists } from "rigbridge/farm";
import { ServiceSettings, Settings } from "../config/schema.ts";
import { openElsewhere } from "../service/elsewhere.ts";

export interface TriedService {
  /** What it has, in words. */
  readonly text: string;
  /** Whether the key lets rigs be told anything; true where that is not known. */
  readonly maySteer: boolean;
  readonly miners: readonly { readonly name: string; readonly uid: string | null }[];
  readonly groups: readonly string[];
  readonly rules: readonly string[];
}

/** ms for all of it. */
const patience = 20_000;

/** Asks the service of the settings for what it has. Throws as `openElsewhere` and the service do. */
export async function trySettings(given: unknown, ending: AbortSignal): Promise<TriedService> {
  const { data, error } = ServiceSettings.safeParse(given, { error: sentence });
  if (data === undefined) {
    const [first] = error.issues;
    throw new RigbridgeError("input.invalid", `${first?.path.join(".")} ${first?.message}`);
  }
  const signal = AbortSignal.any([ending, AbortSignal.timeout(patience)]);
  const { service, caller, close } = await openElsewhere(Settings.parse({}), data, logTo(silent), signal);
  const giveUp = (): void => void close();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    const { miners, groups, rules } = await readLists(service, caller).catch((error: unknown) => {
      throw isCode(error, "key.missing") ? new RigbridgeError("key.missing", "The service wants an API key") : error;
    });
    return {
      maySteer: await maySteer(service, caller),
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

/** A miner that is not there is asked for: what may not be done is refused before it is looked for. */
async function maySteer(service: MiningService, caller: Caller): Promise<boolean> {
  const nobody = { id: 9_999_999_999 };
  return service.pollMiner(nobody, caller).then(
    () => true,
    (error: unknown) => !isCode(error, "user.forbidden"),
  );
}

const isCode = (error: unknown, code: ProblemCode): boolean => error instanceof RigbridgeError && error.code === code;

const silent = { info: () => {}, warn: () => {}, error: () => {} };

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

import type { Logger } from "pino";
import { Mutex } from "../../async/index.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import { acceptsLogin } from "../../link/accepts-login.ts";
import { drivers } from "../../link/drivers/index.ts";
import { describeRig, type FoundRig, remarkOn } from "../../link/scan.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import type { Notices } from "../notifications/notices.ts";
import type { Sections } from "../settings/live-settings.ts";
import { marksOf, rigsByMark } from "./marks.ts";

export interface NewRigsContext {
  readonly settings: Sections<"scan" | "logins">;
  /** The rigs of all miners. */
  rigs(): Iterable<PolledRig>;
  /** Adds a miner, like POST /api/miners; `login` is the name of one. */
  add(miner: { readonly address: string; readonly login?: string }): Promise<unknown>;
  readonly notices: Notices;
  readonly log: Logger;
}

/** What becomes of rigs that were found without a request: they are reported, or added if so configured. */
export class NewRigs {
  readonly #context: NewRigsContext;
  /** Aborted when the service closes. */
  readonly #closing: AbortSignal;
  /** Marks of the rigs that were reported or added since the start. */
  readonly #reported = new Set<string>();
  /** A search and a report may find the same rig at the same time. */
  readonly #turns = new Mutex();

  constructor(context: NewRigsContext, closing: AbortSignal) {
    this.#context = context;
    this.#closing = closing;
  }

  /** Never rejects. */
  take(found: readonly FoundRig[]): Promise<void> {
    return this.#turns.run(() => this.#takeNow(found));
  }

  async #takeNow(found: readonly FoundRig[]): Promise<void> {
    const add = this.#context.settings.scan?.add ?? "ask";
    for (const rig of this.#unreported(found)) {
      try {
        await this.#report(rig, add);
      } catch (error) {
        this.#context.log.warn({ err: error }, `The rig found at ${rig.address} could not be added`);
      }
    }
  }

  /** The rigs that are neither miners nor reported yet; closes the reports of rigs that have become miners. */
  #unreported(found: readonly FoundRig[]): FoundRig[] {
    const known = rigsByMark(found, this.#context.rigs());
    for (const rig of found)
      if (marksOf(rig).some((mark) => known.has(mark))) this.#context.notices.close(newRigKey(rig));
    return found.filter((rig) => !marksOf(rig).some((mark) => known.has(mark) || this.#reported.has(mark)));
  }

  /** Adds a rig that needs no login, or accepts one, if so configured, or reports it. The next search retries failures. */
  async #report(rig: FoundRig, add: "ask" | "auto"): Promise<void> {
    const { address, driver, identity, note, login } = rig;
    const found = { model: describeRig(identity), address };
    const accepted = add === "auto" ? await this.#acceptedLogin(rig) : undefined;
    if (add === "auto" && driver !== null && (note === null || accepted !== undefined)) {
      await this.#context.add({ address, ...(accepted === undefined ? {} : { login: accepted }) });
      this.#notice(null, coded("notices.added.title"), coded("notices.added.message", found));
    } else {
      const usable =
        login === null
          ? coded("notices.newRig.message", found)
          : coded("notices.newRig.withLogin", { ...found, remark: remarkOn(rig) ?? "" });
      const message = note === null ? usable : coded("notices.newRig.withNote", { ...found, note });
      this.#notice(newRigKey(rig), coded("notices.newRig.title"), message);
    }
    for (const mark of marksOf(rig)) this.#reported.add(mark);
  }

  /** The name of the first login for this kind of rig that it accepts. A rig that fails otherwise is not asked again. */
  async #acceptedLogin({ address, driver: id, login }: FoundRig): Promise<string | undefined> {
    const driver = drivers.find((each) => each.id === id);
    if (driver === undefined || login === null) return undefined;
    const { scan, logins } = this.#context.settings;
    const forIt = (scan?.logins ?? []).flatMap((name) =>
      logins.filter((each) => each.name === name && each.driver === id),
    );
    for (const { name, username, password, token } of forIt.slice(0, mostTries)) {
      const signal = AbortSignal.any([this.#closing, AbortSignal.timeout(tryTimeoutMs)]);
      try {
        if (await acceptsLogin(address, driver, { username, password, token }, signal)) return name;
      } catch (error) {
        this.#context.log.info({ err: error }, `No login could be tried at the rig found at ${address}`);
        return undefined;
      }
    }
    return undefined;
  }

  #notice(key: string | null, title: CodedText, message: CodedText): void {
    this.#context.notices.raise({ key, minerId: null, title, source: "Discovery", message, severity: "info" });
  }
}

/** Some rigs lock after more wrong logins. */
const mostTries = 3;
const tryTimeoutMs = 10_000;

const newRigKey = (rig: FoundRig): string => `new-rig:${marksOf(rig).at(-1)}`;

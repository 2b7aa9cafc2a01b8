import type { HeatingSettings } from "../../config/loops.ts";
import { invalid, RigbridgeError } from "../../contract/problems.ts";
import type { Heating as ShownHeating } from "../../contract/resources.ts";
import type { Store } from "../../store/index.ts";
import type { Entry } from "../miners/miner-registry.ts";
import { demandOf, heat, stopHeating } from "./heating-law.ts";
import type { LoopContext, LoopRigs } from "./loop-rigs.ts";
import { roomTemperature } from "./source.ts";
import { SourceValue } from "./source-value.ts";

/** Brings the store in line with the file: a target that somebody has set holds until the file's own changes. */
export async function declareHeatings(settings: readonly HeatingSettings[], { heatings }: Store): Promise<void> {
  const known = new Map(heatings.all().map((row) => [row.key, row]));
  await heatings.declare(
    new Map(
      settings.map(({ name, target }) => {
        const row = known.get(name);
        const asSet = row?.declared === target ? row : { target, setAt: null };
        return [name, { name, declared: target, target: asSet.target, setAt: asSet.setAt }];
      }),
    ),
  );
}

/** A room, and the rigs that heat it. */
export class Heating {
  readonly settings: HeatingSettings;
  readonly #rigs: LoopRigs;
  readonly #context: LoopContext;
  readonly #room: SourceValue;
  readonly #closing: AbortSignal;
  #demand: number | null = null;
  /** Whether it was told that the room's temperature is too old. */
  #isStale = false;

  constructor(settings: HeatingSettings, rigs: LoopRigs, context: LoopContext, closing: AbortSignal) {
    this.settings = settings;
    this.#rigs = rigs;
    this.#context = context;
    this.#room = new SourceValue(settings.roomTemperature, roomTemperature, {
      ...context,
      takesRetained: true,
      closing,
    });
    this.#closing = closing;
  }

  /** As all its miners show it. */
  get shown(): Omit<ShownHeating, "held"> {
    const { last, isOld } = this.#room;
    return {
      name: this.settings.name,
      target: this.#row.target,
      room: isOld || last === null ? null : last.value,
      at: last === null ? null : new Date(last.at).toISOString(),
      demand: this.#demand === null ? null : Math.round(this.#demand * 100) / 100,
    };
  }

  /** Whether one of its rigs is left alone now. */
  isHeld(entry: Entry): boolean {
    return this.#rigs.isHeld(entry, this.#row.setAt ?? undefined);
  }

  /** Sets what the room should have, °C, and takes back rigs that a person has set. Resolves when it is written down. */
  async setTarget(celsius: number): Promise<string> {
    if (celsius < 5 || celsius > 35) throw invalid("temperature", "must be 5 to 35 °C");
    await this.#context.store.heatings.change(this.#row.id, { target: celsius, setAt: this.#context.now() });
    return `${this.settings.name} is to have ${celsius} °C`;
  }

  /** Takes the room's temperature, °C. Throws `not.possible` where it comes from elsewhere. */
  takeRoom(celsius: number): string {
    const { name } = this.settings;
    if (celsius < -40 || celsius > 60) throw invalid("temperature", "must be -40 to 60 °C");
    if (!this.#room.comesFromApi)
      throw new RigbridgeError("not.possible", `${name} takes its temperature from where the configuration says`);
    this.#room.take(celsius);
    return `${name} has ${celsius} °C`;
  }

  /** One turn of the loop over the rigs that heat the room. */
  async turn(entries: readonly Entry[]): Promise<void> {
    await Promise.all([this.#room.poll(), this.#rigs.loadLastCommands(entries)]);
    const { target, setAt } = this.#row;
    const { last, isOld } = this.#room;
    if (this.#closing.aborted || (last === null && !isOld)) return;
    this.#notifyAge(isOld);
    const { name, hysteresis } = this.settings;
    const rigs = await this.#rigs.followers(name, entries, setAt ?? undefined);
    const demand = isOld || last === null ? 0 : demandOf({ target, room: last.value, hysteresis });
    this.#demand = demand;
    await this.#rigs.apply(name, isOld ? stopHeating(rigs) : heat(rigs, demand), rigs);
  }

  get #row() {
    const row = this.#context.store.heatings.all().find(({ key }) => key === this.settings.name);
    if (row === undefined) throw new RigbridgeError("internal", `Heating ${this.settings.name} was not declared`);
    return row;
  }

  #notifyAge(isOld: boolean): void {
    if (isOld === this.#isStale) return;
    this.#isStale = isOld;
    const problem = this.#room.problem === null ? "" : `; ${this.#room.problem}`;
    const message = isOld
      ? `The room temperature is older than 15 minutes, so nothing is heated${problem}`
      : "The room temperature is known again, so heating goes on";
    const { name } = this.settings;
    this.#context.notify({ minerId: null, minerName: "", title: name, source: "System", message, isWarning: isOld });
  }
}

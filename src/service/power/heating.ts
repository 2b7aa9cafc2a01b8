import type { HeatingSettings } from "../../config/loops.ts";
import { invalid, RigbridgeError } from "../../contract/problems.ts";
import type { Heating as HeatingStatus } from "../../contract/resources.ts";
import { detail } from "../../messages/detail.ts";
import type { Store } from "../../store/index.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { demandOf, heat, stopHeating } from "./heating-law.ts";
import type { LoopContext, LoopRigs } from "./loop-rigs.ts";
import { roomTemperature } from "./source.ts";
import { SourceValue } from "./source-value.ts";

/** Brings the store in line with the file: a target set by a user stays until the target in the file changes. */
export async function declareHeatings(settings: readonly HeatingSettings[], { heatings }: Store): Promise<void> {
  const stored = new Map(heatings.all().map((row) => [row.key, row]));
  await heatings.declare(
    new Map(
      settings.map(({ name, target }) => {
        const row = stored.get(name);
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
  readonly #closing = new AbortController();
  #demand: number | null = null;

  constructor(settings: HeatingSettings, rigs: LoopRigs, context: LoopContext) {
    this.settings = settings;
    this.#rigs = rigs;
    this.#context = context;
    this.#room = new SourceValue(settings.roomTemperature, roomTemperature, {
      ...context,
      takesRetained: true,
      closing: this.#closing.signal,
    });
  }

  /** Takes over the state of this loop from before its settings changed. */
  resume(before: Heating): void {
    this.#room.resume(before.#room);
    this.#demand = before.#demand;
  }

  close(): void {
    this.#closing.abort();
  }

  /** The id of its row in the store. */
  get id(): number {
    return this.#row.id;
  }

  /** The status that all its miners show. */
  get status(): Omit<HeatingStatus, "held"> {
    const { last, isOld } = this.#room;
    return {
      name: this.settings.name,
      target: this.#row.target,
      room: isOld || last === null ? null : last.value,
      at: last === null ? null : new Date(last.at).toISOString(),
      demand: this.#demand === null ? null : Math.round(this.#demand * 100) / 100,
    };
  }

  /** Whether the loop leaves this rig alone now. */
  isHeld(entry: Entry): boolean {
    return this.#rigs.isHeld(entry, this.#row.setAt ?? undefined);
  }

  /** Sets the target, °C, and ends manual overrides of its rigs. Resolves once it is stored. */
  async setTarget(celsius: number): Promise<string> {
    if (celsius < 5 || celsius > 35) throw invalid("temperature", detail("input.celsius", { low: 5, high: 35 }));
    await this.#context.store.heatings.change(this.#row.id, { target: celsius, setAt: this.#context.now() });
    return `${this.settings.name} is set to ${celsius} °C`;
  }

  /** Sets the room temperature, °C. Throws `not.possible` if its source is not the API. */
  takeRoom(celsius: number): string {
    const { name } = this.settings;
    if (celsius < -40 || celsius > 60) throw invalid("temperature", detail("input.celsius", { low: -40, high: 60 }));
    if (!this.#room.comesFromApi)
      throw new RigbridgeError(
        "not.possible",
        `${name} takes its temperature from the source in the configuration, not over the API`,
      );
    this.#room.take(celsius);
    return `${name} has ${celsius} °C`;
  }

  /** One turn of the loop over the rigs that heat the room. */
  async turn(entries: readonly Entry[]): Promise<void> {
    await Promise.all([this.#room.poll(), this.#context.holds.load(entries)]);
    const { target, setAt } = this.#row;
    const { last, isOld } = this.#room;
    if (this.#closing.signal.aborted || (last === null && !isOld)) return;
    this.#room.notifyAge(this.#context.notices, this.settings.name, "heating");
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
}

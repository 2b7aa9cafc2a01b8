import { jsonWithoutActions } from "../../contract/may-act.ts";
import type { EncodedEvent } from "../../contract/service.ts";
import { type Access, mayAct } from "../users/access.ts";

/** An event, and who sees it. Its bytes are made once, for all who listen. */
export interface Happening {
  readonly event: EncodedEvent;
  /** The same for who may only look, once somebody has. */
  looking?: EncodedEvent;
  readonly seenBy: (access: Access) => boolean;
  /** What it is for those who do not see it: a miner that has gone from their view. */
  readonly otherwise: Happening | null;
}

/** What these eyes see of it. */
export function shownTo(access: Access, happening: Happening | undefined): EncodedEvent | undefined {
  if (happening === undefined) return undefined;
  if (happening.seenBy(access)) return eventFor(happening, access);
  return happening.otherwise === null ? undefined : shownTo(access, happening.otherwise);
}

function eventFor(happening: Happening, access: Access): EncodedEvent {
  const { event } = happening;
  if (event.type !== "miner" || mayAct(access)) return event;
  happening.looking ??= { ...event, json: jsonWithoutActions(event.json) };
  return happening.looking;
}

/** The last events under ids without gaps; an id may also stand for a moment at which nothing happened. */
export class EventRing {
  readonly #slots: (Happening | undefined)[];
  #last: number;
  #floor: number;

  /** `start`: the id before the first. */
  constructor(size: number, start: number) {
    this.#slots = new Array<Happening | undefined>(size).fill(undefined);
    this.#last = start;
    this.#floor = start;
  }

  /** The newest id. */
  get last(): number {
    return this.#last;
  }

  /** Everything that came after this id is here. */
  get floor(): number {
    return Math.max(this.#floor, this.#last - this.#slots.length);
  }

  /** Undefined for a moment at which nothing happened. */
  at(id: number): Happening | undefined {
    return id > this.floor && id <= this.#last ? this.#slots[id % this.#slots.length] : undefined;
  }

  push(happening: (id: number) => Happening): void {
    const id = this.mark();
    this.#slots[id % this.#slots.length] = happening(id);
  }

  /** An id for this moment. */
  mark(): number {
    this.#last += 1;
    this.#slots[this.#last % this.#slots.length] = undefined;
    return this.#last;
  }

  /** Nothing that came until now is known any more. */
  clear(): void {
    this.#slots.fill(undefined);
    this.#floor = this.mark();
  }
}

import { notThere } from "./refusals.ts";

export interface TwinNotification {
  readonly id: number;
  readonly minerId: number;
  readonly minerName: string;
  readonly title: string | null;
  /** Epoch ms. */
  readonly time: number;
  readonly message: string;
  readonly isWarning: boolean;
  isAcknowledged: boolean;
}

/** The newest first. */
export class TwinNotifications {
  #list: TwinNotification[] = [];
  #lastId = 0;

  add(notification: Omit<TwinNotification, "id" | "isAcknowledged">): void {
    this.#lastId += 1;
    this.#list.unshift({ ...notification, id: this.#lastId, isAcknowledged: false });
  }

  /** Of these miners. */
  of(minerIds: ReadonlySet<number>): TwinNotification[] {
    return this.#list.filter(({ minerId }) => minerIds.has(minerId));
  }

  get(id: number, minerIds: ReadonlySet<number>): TwinNotification {
    const found = this.of(minerIds).find((each) => each.id === id);
    if (found === undefined) throw notThere("notification", id);
    return found;
  }

  remove(gone: readonly TwinNotification[]): void {
    this.#list = this.#list.filter((each) => !gone.includes(each));
  }
}

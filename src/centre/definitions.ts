import { RigbridgeError } from "../contract/problems.ts";
import type { Caller, CallName } from "../contract/service.ts";
import type { Site as ShownSite } from "../contract/sites.ts";
import { coded } from "../messages/coded.ts";
import type { Events } from "../service/events/events.ts";
import type { RunningService } from "../service/index.ts";
import { withCopies } from "./copies.ts";
import { Pushes, type PushesOptions } from "./pushes.ts";
import type { Site } from "./site.ts";

export interface DefinitionsOptions extends Pick<PushesOptions, "store" | "sites"> {
  /** The service in this process, which keeps the definitions. */
  readonly own: RunningService;
  readonly events: Events;
}

/** Refusals named in one message. */
const named = 5;

/** What is defined at the centre, for itself and for other sites. */
export class Definitions {
  readonly #own: RunningService;
  readonly #events: Events;
  readonly #pushes: Pushes;

  constructor({ own, events, store, sites }: DefinitionsOptions) {
    this.#own = own;
    this.#events = events;
    this.#pushes = new Pushes({
      store,
      sites,
      mayDefine: (makerId) => this.#mayDefine(makerId),
      changed: (site, refused) => this.#pushed(site, refused),
      now: Date.now,
    });
  }

  /** The reply to a change of something that is defined here, which may be for other sites too. */
  async changed(name: CallName, reply: unknown, caller: Caller): Promise<unknown> {
    const { user } = await this.#own.about(caller);
    this.#pushes.changed(user.name ?? caller.actor);
    return this.withCopies(name, reply);
  }

  /** A reply of this service, in which each definition says where else it is. */
  withCopies(name: CallName, reply: unknown): unknown {
    return withCopies(name, reply, (kind, definition) => this.#pushes.copiesOf(kind, definition));
  }

  /** A site with what was defined for it here. */
  shown(site: Site): ShownSite {
    const definitions = this.#pushes.shownAt(site);
    return definitions === undefined ? site.shown() : { ...site.shown(), definitions };
  }

  /** A site, its groups or rigs may be others than before, by which it takes what it did not. */
  look(site: Site): void {
    this.#pushes.look(site);
  }

  /** A rule was changed here, or has only acted. */
  noticed(): void {
    this.#pushes.noticed();
  }

  close(): Promise<void> {
    return this.#pushes.close();
  }

  #mayDefine(makerId: number | null): boolean {
    try {
      const access = this.#own.accessOf({ actor: "centre", ...(makerId === null ? {} : { userId: makerId }) });
      return access.all && access.privilege === "administrator";
    } catch (error) {
      if (error instanceof RigbridgeError) return false;
      throw error;
    }
  }

  /** A site has answered about what was defined for it here. */
  #pushed(site: Site, refused: readonly string[]): void {
    const { id, name, state, since } = site.shown();
    this.#events.site({ id, name, state, since }, []);
    const more = refused.length > named ? `, and ${refused.length - named} more` : "";
    this.#own.setWarning?.(
      coded("notices.site.refuses", { name }),
      refused.length === 0 ? null : `${refused.slice(0, named).join("; ")}${more}`,
    );
  }
}

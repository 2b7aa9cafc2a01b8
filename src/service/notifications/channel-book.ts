import type { Config } from "../../config/schema.ts";
import { ChannelSettings } from "../../contract/channels.ts";
import type { Store, Stored, StoredChannel } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { withInnerGroups } from "../nested-groups.ts";
import type { Access } from "../users/access.ts";

/** A channel of the configuration file, or one added over the API. */
export interface ListedChannel {
  readonly row: Stored<StoredChannel>;
  /** Null for a row that this release does not understand. */
  readonly settings: ChannelSettings | null;
  /** Why it is not used. */
  readonly problem: string | null;
}

/** All channels; settings of the file's channels stay in the file, those of others in the store. */
export class ChannelBook {
  readonly #store: Store;
  readonly #file: Pick<Config, "channels">;

  constructor(store: Store, file: Pick<Config, "channels">) {
    this.#store = store;
    this.#file = file;
  }

  list(): ListedChannel[] {
    const ofFile = new Map(this.#file.channels.map((settings) => [settings.key, settings]));
    return enabled(this.#store.channels).map((row): ListedChannel => {
      const declared = ofFile.get(row.name);
      if (row.owner === "file") return { row, settings: declared ?? null, problem: null };
      const settings = ChannelSettings.safeParse(row.definition).data ?? null;
      if (settings === null)
        return { row, settings, problem: "its settings cannot be read; remove it and add it again" };
      const problem = declared === undefined ? null : "the configuration file declares a channel with this key";
      return { row, settings, problem };
    });
  }

  /** The keys of the channels that this access may send to: those shared with one of its groups. */
  usableBy(access: Access): ReadonlySet<string> {
    const groups = enabled(this.#store.groups);
    const isUsable = ({ sharedWith = [] }: ChannelSettings): boolean => {
      const named = groups.flatMap(({ id, name }) => (sharedWith.includes(name) ? [id] : []));
      return access.all || [...withInnerGroups(named, groups)].some((id) => access.seesGroup(id));
    };
    return new Set(this.used().flatMap((settings) => (isUsable(settings) ? [settings.key] : [])));
  }

  /**
   * The channels of a notice with a text chosen by a user, such as the name of a rule; undefined: all that accept it.
   */
  reachedBy(access: Access | null): readonly string[] | undefined {
    return access === null || access.all ? undefined : [...this.usableBy(access)];
  }

  /** The channels in use. */
  used(): ChannelSettings[] {
    return this.list().flatMap(({ settings, problem }) => (settings === null || problem !== null ? [] : [settings]));
  }
}

import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { Input, Reply } from "../contract/service.ts";
import type { SiteConnection, SiteReceiver } from "../contract/site-connection.ts";
import type { Store } from "../store/index.ts";
import { digestOf, newToken, type SiteLine } from "./site-line.ts";

export interface ConnectingSitesOptions {
  readonly store: Pick<Store, "sites" | "instance">;
  /** The name of another site; undefined for an unknown one. */
  readonly nameOf: (id: number) => string | undefined;
}

/** The sites that connect to the centre by themselves, and their tokens. */
export class ConnectingSites {
  readonly #options: ConnectingSitesOptions;
  /** By number of the site. */
  readonly #lines = new Map<number, SiteLine>();

  constructor(options: ConnectingSitesOptions) {
    this.#options = options;
  }

  add(id: number, line: SiteLine): void {
    this.#lines.set(id, line);
  }

  /** The number of the site with this token. */
  withToken(digest: string): number | undefined {
    return this.#options.store.sites.all().find((site) => !site.disabled && site.digest === digest)?.id;
  }

  /** Accepts a site; undefined if its token was revoked in the meantime. */
  take(digest: string, connection: SiteConnection): SiteReceiver | undefined {
    const id = this.withToken(digest);
    return this.#lines.get(id ?? 0)?.take(connection, (instance) => {
      // It may have been revoked before the site introduced itself.
      if (this.withToken(digest) !== id) return "its token was revoked";
      return instance === this.#options.store.instance ? "it is the centre itself" : null;
    });
  }

  async admit({ id }: Input<"admitSite">): Promise<Reply<"admitSite">> {
    const { line } = this.#lineOf(id);
    const token = newToken();
    await this.#options.store.sites.change(id, { digest: digestOf(token) });
    line.end("its token was replaced");
    return { id, token };
  }

  async revoke({ id }: Input<"revokeSite">): Promise<Reply<"revokeSite">> {
    const { line, name } = this.#lineOf(id);
    await this.#options.store.sites.change(id, { digest: null });
    line.end("its token was revoked");
    return { success: true, message: `The site ${name} has no token any more, and is not connected` };
  }

  end(reason: string, why: "refused" | "away"): void {
    for (const line of this.#lines.values()) line.end(reason, why);
  }

  /** Throws `not.found` for an unknown site, `not.possible` for one that does not connect by itself. */
  #lineOf(id: number): { readonly line: SiteLine; readonly name: string } {
    const name = this.#options.nameOf(id);
    if (name === undefined) throw notFound("site", id);
    const line = this.#lines.get(id);
    if (line !== undefined) return { line, name };
    throw new RigbridgeError(
      "not.possible",
      `The site ${name} has an address; only sites with connectsOut have a token`,
    );
  }
}

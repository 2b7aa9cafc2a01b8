import { notFound } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";

export type SiteTokenCalls = Pick<MiningService, "admitSite" | "revokeSite">;

/** The tokens of sites that connect by themselves. Only a centre has such sites; it is opened over the service. */
export class SiteTokens {
  #centre: SiteTokenCalls | null = null;

  readonly operations: SiteTokenCalls = {
    admitSite: async (input, caller) => this.#centreOf(input).admitSite(input, caller),
    revokeSite: async (input, caller) => this.#centreOf(input).revokeSite(input, caller),
  };

  /** Has a centre do these operations. */
  use(centre: SiteTokenCalls): void {
    this.#centre = centre;
  }

  /** A service alone has no other sites. Throws `not.found`. */
  #centreOf({ id }: { readonly id: number }): SiteTokenCalls {
    if (this.#centre === null) throw notFound("site", id);
    return this.#centre;
  }
}

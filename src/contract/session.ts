import { z } from "zod";
import { privileges } from "./resources.ts";
import { secret } from "./secrets.ts";

/** The body of POST /api/session. */
export const SessionBody = z.object({
  key: secret(
    z
      .string()
      .min(1, "is required")
      .max(1000)
      .describe("the service's key, a user's own key, or a login code that the service has printed"),
  ),
});

/** The caller, and the facts about the service that a page needs. */
export const About = z.object({
  user: z.object({
    id: z.int().nullable().describe("null = the owner of the service's own key, or a caller without a key"),
    name: z.string().nullable(),
    privilege: z.enum(privileges),
    sees: z.enum(["all", "some"]).describe("all = all groups and pools"),
  }),
  display: z
    .object({
      locale: z.string().describe("format of the service's texts, such as en-US"),
      currency: z.string().nullable().describe("currency code; null = unknown"),
      timeZone: z.string().nullable().describe("time zone, such as Europe/Stockholm; null = unknown"),
    })
    .describe("the service's display settings"),
  demo: z.boolean().describe("whether there are only virtual miners, since no real one has been added yet"),
  operations: z.array(z.string()).describe("the operationIds that this caller may call"),
  sites: z.int().optional().describe("number of other sites whose rigs it shows; absent if there are none"),
  instance: z
    .string()
    .max(100)
    .optional()
    .describe("name of its store, which stays as long as the store; for callers who see everything"),
  time: z.iso.datetime().optional().describe("the service's clock; for callers who see everything"),
});
export type About = z.infer<typeof About>;

/** The reply of GET and POST /api/session. */
export const Session = About.extend({
  by: z.enum(["key", "session", "none"]).describe("how the caller was recognised; none = no key is needed"),
  expiresUtc: z.iso
    .datetime()
    .nullable()
    .describe("when the session ends, unless it is used before; null without a session"),
  version: z.string().describe("version of Rigbridge"),
});
export type Session = z.infer<typeof Session>;

/** A session as it is stored. Times are epoch ms. */
export interface SessionRow {
  /** SHA-256 in hex of its id; never the id. */
  readonly digest: string;
  /** null = the owner, by the service's own key. */
  readonly userId: number | null;
  /** SHA-256 in hex of the key that it was opened with. */
  readonly keyDigest: string;
  readonly created: number;
  readonly used: number;
}

/** The stored sessions. Writes throw `store.full`. */
export interface SessionLog {
  /** Name of the store that they are in: the same for all services that share it, and for a copy. */
  readonly store: string;
  all(): readonly SessionRow[];
  /** Adds a session, or updates when it was last used. */
  save(row: SessionRow): Promise<void>;
  remove(digests: readonly string[]): Promise<void>;
}

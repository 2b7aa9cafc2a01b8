import { z } from "zod";
import type { InwardConnection, InwardReceiver } from "./agent-connection.ts";

/**
 * Messages between a centre and a site that connects to it by itself: JSON texts over one WebSocket, and binary frames
 * with the bytes of channels (`frameOf`). Each channel is a connection of the centre to the API of the site. Neither side
 * sends more than a window of bytes before the other one has read them.
 */
export const sitePath = "/api/sites/connect";

/** Bytes of the window of each channel. */
export const siteWindowBytes = 262_144;
/** Limit of open channels. */
export const mostSiteChannels = 32;

const channel = z.int().min(1).max(0xffff_ffff);

const ofBoth = [
  z.object({ t: z.literal("close"), channel }),
  /** The receiver has read this many bytes. */
  z.object({ t: z.literal("credit"), channel, bytes: z.int().min(1).max(siteWindowBytes) }),
] as const;

/** The first message is `hello`. */
export const FromSite = z.discriminatedUnion("t", [
  /** `instance`: the name of its store. */
  z.object({ t: z.literal("hello"), instance: z.string().min(1).max(100) }),
  ...ofBoth,
]);
export type FromSite = z.infer<typeof FromSite>;

export const ToSite = z.discriminatedUnion("t", [z.object({ t: z.literal("open"), channel }), ...ofBoth]);
export type ToSite = z.infer<typeof ToSite>;

export interface SiteConnection extends InwardConnection<ToSite> {}
export interface SiteReceiver extends InwardReceiver<FromSite> {}

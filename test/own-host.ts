import { nextHost } from "./own-slot.ts";

/**
 * A loopback address that nothing else uses. Outgoing connections come from 127.0.0.1 and may take the port of a rig
 * there that is temporarily off, which then cannot listen again.
 */
export const ownHost = nextHost;

import { randomInt } from "node:crypto";

/**
 * A loopback address that nothing else uses. Outgoing connections come from 127.0.0.1 and may take the port of a rig
 * there that is temporarily off, which then cannot listen again.
 */
export const ownHost = (): string => `127.${[randomInt(64, 96), randomInt(1, 255), randomInt(1, 255)].join(".")}`;

import { randomInt } from "node:crypto";

/**
 * A loopback address that nothing else uses. Whatever connects outwards does so from 127.0.0.1 and may be given the
 * port of a rig there that is off for a while, which then cannot come back.
 */
export const ownHost = (): string => `127.${[randomInt(64, 96), randomInt(1, 255), randomInt(1, 255)].join(".")}`;

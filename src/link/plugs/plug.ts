import type { Messages } from "../../contract/messages.ts";

/** What one read of a plug brings. */
export interface PlugState {
  readonly on: boolean;
  /** W, measured; null for a plug that only switches. */
  readonly power: number | null;
  /** Wh counted by its meter, which may be reset; null for a plug without one. */
  readonly energy: number | null;
}

/** The plug that powers a rig. Each call is one exchange. */
export interface Plug {
  /** Throws `rig.unreachable`, `rig.timeout`, `rig.garbled` or `rig.login`, naming the plug. */
  read(signal: AbortSignal): Promise<PlugState>;
  /** Throws the same, `rig.refused` with the plug's words, and `rig.other` when another plug answers there now. */
  switch(on: boolean, signal: AbortSignal): Promise<void>;
  /** Cancels open exchanges. */
  close(): void;
}

/** A plug that can be asked which one it is. */
export interface NamedPlug extends Plug {
  /** host:port, for messages. */
  readonly at: string;
  /** Its MAC, read now; null where it reports none. Throws as `read` does. */
  identity(signal: AbortSignal): Promise<string | null>;
}

/** The outlets of PDUs, by the key of the PDU and the outlet's number. */
export type Outlets = (device: string, outlet: number) => Plug;

export interface PlugContext {
  /** For MQTT plugs. */
  readonly messages: Messages;
  /** Absent: no rig is powered by a PDU of the facility. */
  readonly outlets?: Outlets | undefined;
  /** Epoch ms. */
  readonly now: () => number;
  /** ms for retained messages, before the first read of an MQTT plug; default a second. */
  readonly retainedTimeoutMs?: number;
}

/** Basic authentication (RFC 7617). */
export function basicHeaders(username: string, password: string | undefined): Readonly<Record<string, string>> {
  if (password === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

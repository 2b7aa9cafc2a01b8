import type { Messages } from "../contract/messages.ts";
import type { Supply } from "../contract/plug-settings.ts";
import type { RigAddress } from "../link/address.ts";
import type { FirmwareBook } from "../link/firmware.ts";
import type { Credentials } from "../link/link.ts";
import type { Outlets } from "../link/plugs/plug.ts";
import type { DeclaredProgram, HostPrograms, ProgramHosts } from "../link/programs/host-program.ts";
import type { Remembered } from "./state.ts";

/** The declaration of a rig. */
export interface Declared {
  readonly id: number;
  readonly address: RigAddress;
  readonly credentials: Credentials;
  /** Only this driver is tried. */
  readonly driver: string | null;
  /** Used where the rig has neither MAC nor serial. */
  readonly uid: string | null;
  /** ms between two reads. */
  readonly interval: number;
  /** ms that one read may take; by default those of the fleet. */
  readonly timeout?: number;
  readonly powerNameplate: number | null;
  /** Without one, the nameplate of its model counts. */
  readonly modelNameplate?: boolean;
  /** The plug or outlet that powers it. */
  readonly supply?: Supply | null;
  /** The program of a managed miner, which is read through its host's agent. */
  readonly program?: DeclaredProgram;
  /** The host with this name, whose agent may start and stop the program at the address. */
  readonly hostId?: number;
  readonly offlineExpected: boolean;
  readonly disabled: boolean;
}

/** How a rig is read; it may change while the rig is read. */
export interface ReadSettings extends Required<Pick<Declared, "interval" | "timeout" | "modelNameplate">> {
  /** Whether the maker's login is tried on a rig without its own. */
  readonly makersLogin: boolean;
}

export const withReadSettings = (declared: Declared, { makersLogin, ...settings }: ReadSettings): Declared => ({
  ...declared,
  ...settings,
  credentials: { ...declared.credentials, makersLogin },
});

/** The fleet's services for a rig. */
export interface RigContext {
  /** Epoch ms. */
  readonly now: () => number;
  /** ms of the monotonic clock. */
  readonly monotonicNow: () => number;
  /** ms that one read or one exchange may take. */
  readonly timeout: number;
  /** Aborted when the fleet closes. */
  readonly closing: AbortSignal;
  /** Firmware capabilities, learned from the answers of all rigs. */
  readonly firmware: FirmwareBook;
  /** For MQTT plugs; null where there is no broker. */
  readonly messages: Messages;
  /** The outlets of PDUs; undefined if no rig is powered by one. */
  readonly outlets: Outlets | undefined;
  /** The programs of managed miners; null if there are none. */
  readonly programs: HostPrograms | null;
  /** The hosts of declared programs; null where there are none. */
  readonly hosts: ProgramHosts | null;
  /** Stores the last known state of a rig. Throws `in.use` if another miner has this uid. */
  remember(id: number, remembered: Partial<Remembered>): Promise<void>;
}

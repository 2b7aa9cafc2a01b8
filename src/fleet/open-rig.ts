import type { Rig } from "../link/driver.ts";
import { drivers } from "../link/drivers/index.ts";
import type { Plug } from "../link/plugs/plug.ts";
import { PluggedRig } from "../link/plugs/plugged-rig.ts";
import { HostedRig } from "../link/programs/hosted-rig.ts";
import { ManagedRig } from "../link/programs/managed-rig.ts";
import type { Declared, RigContext } from "./declared.ts";
import { missesUntilDisconnected } from "./schedule.ts";
import type { RigState } from "./state.ts";

export interface OpenRigOptions {
  readonly declared: Declared;
  readonly context: Pick<RigContext, "now" | "monotonicNow" | "programs" | "hosts">;
  readonly plug: Plug | null;
  readonly state: () => RigState;
  /** Connects to the device at the address. */
  readonly connect: (signal: AbortSignal) => Promise<Rig>;
}

export const driverNamed = (id: string | null) => drivers.find((each) => each.id === id);

/** The port at which a rig is reached; null while neither its declaration nor its driver defines one. */
export const portOf = ({ address, driver }: Declared, state: RigState): number | null =>
  address.port ?? driverNamed(driver ?? state.driver)?.ports[0] ?? null;

/** The link to a rig: a managed miner's program, the rig behind its plug or at its host, or the device itself. */
export async function openRig(options: OpenRigOptions, signal: AbortSignal): Promise<Rig> {
  const { declared, plug, state } = options;
  const managed = openManaged(options);
  if (managed !== undefined) return managed;
  const { supply } = declared;
  if (!supply || plug === null) return openHosted(options, signal);
  return new PluggedRig({ plug, settings: supply, connect: (within) => openHosted(options, within), shape: state });
}

/** The program of a managed miner; undefined for any other rig. */
function openManaged({ declared, context, state }: OpenRigOptions): Rig | undefined {
  const { id, program } = declared;
  const { programs, now } = context;
  if (program === undefined || programs === null) return undefined;
  const { software } = program;
  const driver = driverNamed(program.driver) ?? null;
  return new ManagedRig({
    program: programs(id),
    software,
    driver,
    now,
    knownControls: state().controls,
    isSilent: () => isSilent(state()),
  });
}

/** The rig, whose program the agent of its host may start and stop, if it has such a host. */
async function openHosted({ declared, context, state, connect }: OpenRigOptions, signal: AbortSignal): Promise<Rig> {
  const { hostId } = declared;
  const { hosts, monotonicNow } = context;
  if (hostId === undefined || hosts === null) return connect(signal);
  return new HostedRig({
    host: () => {
      const port = portOf(declared, state());
      return port === null ? null : hosts(hostId, port);
    },
    connect,
    known: () => {
      const { identity, software, controls, reason } = state();
      return { identity, software, controls, isSilent: isSilent(state()), wasStopped: reason?.code === "user" };
    },
    monotonicNow,
  });
}

const isSilent = ({ missed, reason }: RigState): boolean =>
  missed >= missesUntilDisconnected - 1 || reason?.code === "program";

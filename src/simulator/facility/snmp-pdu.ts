import type { SimulatedRig } from "../simulated-rig.ts";
import { powerOf } from "./meter-model.ts";

/**
 * `stuck`: it takes a command, says that it is done, and the outlet stays as it was; `slow`: the same, until the fault is
 * over; `silent`: it does not answer.
 */
export type PduFault = "stuck" | "slow" | "silent";

export interface PduOptions {
  /** The rigs at its outlets, from outlet 1; undefined: nothing is plugged in. */
  readonly rigs: readonly (SimulatedRig | undefined)[];
  /** Of its UDP socket. */
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Passwords of the user "rigbridge" of SNMP v3, with SHA and AES-128. */
  readonly v3?: { readonly authPassword: string; readonly privPassword: string };
  /** Communities of SNMP v2c. */
  readonly v2c?: { readonly read: string; readonly write: string };
}

export interface VirtualPdu {
  readonly address: string;
  readonly outlets: readonly boolean[];
  /** Outlet numbers that were written to. */
  readonly written: readonly number[];
  fault: PduFault | null;
  close(): Promise<void>;
}

/** What is used of an agent of net-snmp, whose types leave it open. */
interface Agent {
  getAuthorizer(): {
    addUser(user: object): void;
    addCommunity(community: string): void;
    getAccessControlModel(): {
      setCommunityAccess(community: string, level: number): void;
      setUserAccess(user: string, level: number): void;
    };
  };
  registerProvider(provider: object): void;
  getMib(): {
    setScalarValue(name: string, value: number): void;
    addTableRow(name: string, row: readonly number[]): void;
    setTableSingleCell(name: string, column: number, row: readonly number[], value: number): void;
  };
  close(callback: () => void): void;
}

interface MibRequest {
  readonly operation: number;
  readonly oid: string;
  readonly setValue?: unknown;
  /** A set is first tried, and then made (RFC 3416, 4.2.5). */
  readonly testSet?: boolean;
  done(): void;
}

const apc = "1.3.6.1.4.1.318.1.1.12";
const [on, off] = [1, 2];

/** A switched rack PDU of APC (PowerNet-MIB, rPDU): outlet N is read at .3.5.1.1.4.N and written at .3.3.1.1.4.N. */
export async function startPdu({ rigs, port, host = "127.0.0.1", v3, v2c }: PduOptions): Promise<VirtualPdu> {
  const { default: snmp } = await import("net-snmp");
  const outlets = rigs.map(() => true);
  const written: number[] = [];
  const waiting = new Map<number, boolean>();
  let fault: PduFault | null = null;
  const agent: Agent = snmp.createAgent({ port, address: host, accessControlModelType: 1 }, () => undefined);
  const access = agent.getAuthorizer().getAccessControlModel();
  if (v2c !== undefined) {
    for (const community of [v2c.read, v2c.write]) agent.getAuthorizer().addCommunity(community);
    access.setCommunityAccess(v2c.read, readOnly);
    access.setCommunityAccess(v2c.write, readWrite);
  }
  if (v3 !== undefined) {
    agent.getAuthorizer().addUser({
      name: "rigbridge",
      level: snmp.SecurityLevel.authPriv,
      authProtocol: snmp.AuthProtocols.sha,
      authKey: v3.authPassword,
      privProtocol: snmp.PrivProtocols.aes,
      privKey: v3.privPassword,
    });
    access.setUserAccess("rigbridge", readWrite);
  }
  const mib = agent.getMib();
  const refresh = (): void => {
    for (const [index, isOn] of outlets.entries()) {
      mib.setTableSingleCell("status", 4, [index + 1], isOn ? on : off);
      // What was last written, unless nothing was: the command column reads as the state.
      mib.setTableSingleCell("control", 4, [index + 1], isOn ? on : off);
    }
    const watts = rigs.reduce((sum, rig) => sum + (rig === undefined ? 0 : powerOf(rig)), 0);
    mib.setScalarValue("watts", Math.round(watts));
    mib.setTableSingleCell("load", 2, [1], Math.round((watts / 230) * 10));
  };
  const handler = (request: MibRequest): void => {
    if (fault === "silent") return;
    if (request.operation !== snmp.PduType.SetRequest) refresh();
    else if (request.testSet !== true) {
      const n = Number(request.oid.split(".").at(-1));
      written.push(n);
      if (fault === "slow") waiting.set(n, request.setValue === on);
      else if (fault !== "stuck") turn(n, request.setValue === on);
    }
    request.done();
  };
  const turn = (n: number, isOn: boolean): void => {
    const rig = rigs[n - 1];
    outlets[n - 1] = isOn;
    if (isOn) void rig?.powerOn();
    else rig?.powerOff();
  };
  const table = (name: string, oid: string, value: number, access: number) => ({
    name,
    type: snmp.MibProviderType.Table,
    oid: `${apc}.${oid}.1`,
    maxAccess: snmp.MaxAccess["not-accessible"],
    tableColumns: [
      { number: 1, name: `${name}Index`, type: snmp.ObjectType.Integer, maxAccess: snmp.MaxAccess["read-only"] },
      { number: value, name: `${name}Value`, type: snmp.ObjectType.Integer, maxAccess: access },
    ],
    tableIndex: [{ columnName: `${name}Index` }],
    handler,
  });
  agent.registerProvider(table("status", "3.5.1", 4, snmp.MaxAccess["read-only"]));
  agent.registerProvider(table("control", "3.3.1", 4, snmp.MaxAccess["read-write"]));
  agent.registerProvider(table("load", "2.3.1", 2, snmp.MaxAccess["read-only"]));
  agent.registerProvider({
    name: "watts",
    type: snmp.MibProviderType.Scalar,
    oid: `${apc}.1.16`,
    scalarType: snmp.ObjectType.Integer,
    maxAccess: snmp.MaxAccess["read-only"],
    handler,
  });
  for (const index of outlets.keys()) {
    mib.addTableRow("status", [index + 1, on]);
    mib.addTableRow("control", [index + 1, on]);
  }
  mib.addTableRow("load", [1, 0]);
  mib.setScalarValue("watts", 0);
  return {
    address: `${host}:${port}`,
    outlets,
    written,
    get fault() {
      return fault;
    },
    set fault(now) {
      fault = now;
      for (const [n, isOn] of waiting) turn(n, isOn);
      waiting.clear();
    },
    close: () => new Promise((resolve) => agent.close(() => resolve())),
  };
}

/** Levels of net-snmp's access control. */
const [readOnly, readWrite] = [1, 2];

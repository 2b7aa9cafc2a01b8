import type { Credentials } from "../../src/link/link.ts";
import type { RigSpec } from "../../src/simulator/index.ts";

/** A virtual rig of each family and generation, for the table of devices. */
export interface Specimen {
  /** Id of the driver that reads it. */
  readonly driver: string;
  /** Which rigs it stands for. */
  readonly rigs: string;
  readonly spec: RigSpec;
  readonly credentials?: Credentials;
}

const root = (password: string): Credentials => ({ username: "root", password });

export const specimens: readonly Specimen[] = [
  { driver: "antminer", rigs: "Antminer S17 to S21, stock", spec: { kind: "antminer" }, credentials: root("root") },
  {
    driver: "antminer",
    rigs: "Antminer S9 and its time, stock",
    spec: { kind: "antminer", model: "S9" },
    credentials: root("root"),
  },
  {
    driver: "antminer",
    rigs: "Antminer without its web login",
    spec: { kind: "antminer" },
  },
];

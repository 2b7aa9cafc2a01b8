import type { ManagedMiner } from "../../contract/resources.ts";
import { t } from "../language.ts";
import { Mark, type Tone } from "./status.tsx";

const tones: Readonly<Record<string, Tone>> = {
  running: "good",
  failed: "bad",
  confirming: "warning",
  stopped: "off",
  idle: "off",
};

/** The state of a program reported by its host, by word and colour. */
export const ProgramState = ({ status }: Pick<ManagedMiner, "status">) => (
  <Mark tone={status === null ? "off" : (tones[status] ?? "busy")}>
    {status === null ? t.shell.unknown : t.hosts.state[status]}
  </Mark>
);

/** The description of a managed miner, otherwise its program with its number. */
export const minerName = ({ id, description }: Pick<ManagedMiner, "id" | "description">, program: string): string =>
  description !== "" ? description : `${program === "" ? t.hosts.miner : program} ${id}`;

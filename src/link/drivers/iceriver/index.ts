import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { type OfferedControl, toggle } from "../../controls.ts";
import type { Driver, Locked, PoolControls, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes } from "../../tolerant-reader.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { Panel } from "./panel.ts";
import { devicesOf, identityOf, poolsOf, readingsOf } from "./readings.ts";

/**
 * IceRiver's web interface. Sources: other programs that read it; how it stores pools, restarts or stops is not
 * documented anywhere, so only its light is controlled.
 */
export const iceriver: Driver = {
  id: "iceriver",
  name: "IceRiver",
  evidence: { readings: "other source", controls: "other source" },
  ports: [80],
  login: { keys: ["username", "password"], adds: "read" },
  makersLogin: { username: "admin", password: "12345678" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new IceriverRig(link),
};

/** Its page is Chinese: "user interface". */
const recognise = ({ root }: Signs): Partial<Identity> | undefined =>
  root !== null && root.status < 400 && /<title>\s*用户界面\s*<\/title>|\bIceRiver\b/i.test(root.body)
    ? { make: "IceRiver" }
    : undefined;

const noPassword: Locked = { why: "login missing", text: "to control this rig, configure the password of its page" };

class IceriverRig implements Rig {
  readonly quick = true;
  readonly pools: PoolControls = {};
  readonly #link: Link;
  readonly #panel: Panel;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#link = link;
    this.#panel = new Panel(link);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const panel = await this.#panel.read(signal, notes);
    const readings = readingsOf(panel);
    const locked = this.#panel.hasPassword ? null : noPassword;
    if (locked !== null) notes.add(locked.text);
    return {
      identity: identityOf(panel),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(panel),
      devices: devicesOf(readings.boards),
      controls: this.#offered.offer(locked === null ? this.#offers(readings.locate) : []),
      poolActions: [],
      software: null,
      logInterval: null,
      workUtility: null,
      ...(locked === null ? {} : { locked }),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  close(): void {
    this.#link.http.close();
  }

  #offers(blinks: boolean | null): OfferedControl[] {
    if (blinks === null) return [];
    return [
      {
        control: toggle("locate", blinks, { lasting: false, restartsMining: false, seconds: 5 }),
        set: async (on, signal) => {
          await this.#panel.send({ post: "5", locate: on === true ? "1" : "0" }, signal);
          return on === true ? "IceRiver blinks" : "IceRiver stops blinking";
        },
      },
    ];
  }
}

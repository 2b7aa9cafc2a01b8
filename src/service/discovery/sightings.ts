import { isIP } from "node:net";
import { notFound } from "../../contract/problems.ts";
import type { Input, MiningService } from "../../contract/service.ts";
import type { Sighting, SightingSource } from "../../contract/sightings.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import { canonicalHost, formatAddress, parseAddress } from "../../link/address.ts";
import { type FoundRig, remarkOn } from "../../link/scan.ts";
import { given } from "../crud.ts";
import { type AccessBook, needsAll } from "../users/access.ts";
import { marksOf, marksOfRig, rigsByMark } from "./marks.ts";

type SightingOperations = Pick<MiningService, "listSightings" | "placeSighting">;

export interface SightingsContext {
  readonly accessBook: Pick<AccessBook, "of">;
  /** The rigs of all miners. */
  rigs(): Iterable<PolledRig>;
  /** The name of a miner. */
  nameOf(minerId: number): string | null;
  /** The operations that put a rig where it is; the caller has the turn for changes. */
  readonly miners: Pick<MiningService, "addMiner" | "changeMiner">;
  /** Epoch ms. */
  now(): number;
}

interface Seen {
  readonly id: number;
  /** Epoch ms. */
  readonly at: number;
  readonly source: SightingSource;
  readonly rig: FoundRig;
}

/** Sightings in the list; the others follow as some are placed. */
const mostListed = 500;
/** Sightings that are kept, and for how many ms. */
const mostKept = 10_000;
const keptMs = 86_400_000;

/** Rigs that were identified at an address that something pointed to, until they are placed. Kept in memory: a restart drops them. */
export class Sightings implements SightingOperations {
  readonly #context: SightingsContext;
  #seen: readonly Seen[] = [];
  #lastId = 0;

  constructor(context: SightingsContext) {
    this.#context = context;
  }

  /** Of the rigs that a list of addresses points to, those of miners are of interest only if they have moved. */
  take(rigs: readonly FoundRig[], source: SightingSource): void {
    const byMark = rigsByMark(rigs, this.#context.rigs());
    for (const rig of rigs) {
      const { miner, movedFrom } = minerOf(rig, byMark);
      if (source !== "report" && miner !== null && movedFrom === null) continue;
      const seen = { ...this.#sighting(rig, source), at: this.#context.now(), rig };
      this.#seen = [...this.#seen.filter((each) => !isSame(each.rig, rig)), seen].slice(-mostKept);
    }
  }

  /** That of a rig that is sighted again is kept, so that the list does not move; a report is a new one, and comes first. */
  #sighting({ address, identity: { mac } }: FoundRig, source: SightingSource): Pick<Seen, "id" | "source"> {
    const isIt = ({ rig }: Seen): boolean =>
      rig.address === address && (mac === null || rig.identity.mac === null || rig.identity.mac === mac);
    const known = source === "report" ? undefined : this.#seen.find(isIt);
    if (known !== undefined) return { id: known.id, source: known.source };
    this.#lastId += 1;
    return { id: this.#lastId, source };
  }

  /** Reports first, newest first: someone waits for them at the rig. The others in the order in which they were first sighted. */
  listSightings: MiningService["listSightings"] = async (_input, caller) => {
    needsAll(this.#context.accessBook.of(caller));
    this.#forgetOld();
    const reports = this.#seen.filter(({ source }) => source === "report").toSorted((one, other) => other.id - one.id);
    const others = this.#seen.filter(({ source }) => source !== "report").toSorted((one, other) => one.id - other.id);
    // Of more than these, the new ones: somebody may be at the rig.
    const listed = [...reports, ...others.slice(Math.min(0, reports.length - mostListed))].slice(0, mostListed);
    const byMark = rigsByMark(
      listed.map(({ rig }) => rig),
      this.#context.rigs(),
    );
    return listed.map((seen) => this.#presented(seen, byMark));
  };

  placeSighting: MiningService["placeSighting"] = async ({ id, ...where }, caller) => {
    const { accessBook, rigs, miners } = this.#context;
    needsAll(accessBook.of(caller));
    this.#forgetOld();
    const seen = this.#seen.find((each) => each.id === id);
    if (seen === undefined) throw notFound("sighting", id);
    const { address } = seen.rig;
    const placement: Pick<Input<"changeMiner">, "placeId" | "position"> = given(where);
    const { miner, movedFrom } = minerOf(seen.rig, rigsByMark([seen.rig], rigs()));
    const placed =
      miner === null
        ? await miners.addMiner({ address, ...placement }, caller)
        : await miners.changeMiner({ id: miner, ...(movedFrom === null ? {} : { address }), ...placement }, caller);
    this.#seen = this.#seen.filter((each) => each.id !== id);
    return placed;
  };

  #presented({ id, at, source, rig }: Seen, byMark: ReadonlyMap<string, PolledRig>): Sighting {
    const { address, driver, identity } = rig;
    const { miner, movedFrom } = minerOf(rig, byMark);
    return {
      id,
      time: new Date(at).toISOString(),
      source,
      address,
      driver,
      identity,
      note: remarkOn(rig),
      miner,
      name: miner === null ? null : this.#context.nameOf(miner),
      movedFrom,
    };
  }

  #forgetOld(): void {
    const now = this.#context.now();
    // The clock may have been set back.
    if (this.#seen.some(({ at }) => Math.abs(now - at) > keptMs))
      this.#seen = this.#seen.filter(({ at }) => Math.abs(now - at) <= keptMs);
  }
}

const isSame = (one: FoundRig, other: FoundRig): boolean =>
  one.address === other.address || (one.identity.mac !== null && one.identity.mac === other.identity.mac);

/**
 * The miner that a rig is, and its address if that is another one. What a rig reports counts more than its address, at which
 * another rig may have been before.
 */
function minerOf(found: FoundRig, byMark: ReadonlyMap<string, PolledRig>): Pick<Sighting, "miner" | "movedFrom"> {
  const marks = marksOf(found);
  const rig = marks.flatMap((mark) => byMark.get(mark) ?? []).at(-1);
  if (rig === undefined || isOther(found, rig)) return { miner: null, movedFrom: null };
  const addresses = marksOf({ ...found, identity: nameless(found) });
  const { host } = rig.declared.address;
  // A name leads to whatever address the rig has, and another port or protocol is no other place.
  const isThere =
    isIP(host) === 0 ||
    canonicalHost(host) === canonicalHost(parseAddress(found.address).host) ||
    marksOfRig(rig).some((mark) => addresses.includes(mark));
  return { miner: rig.declared.id, movedFrom: isThere ? null : formatAddress(rig.declared.address) };
}

const nameless = ({ identity }: FoundRig): FoundRig["identity"] => ({ ...identity, mac: null, serial: null });

/** Another network card in a rig with the same serial number is not another rig. */
const isOther = ({ identity: { mac, serial } }: FoundRig, { state }: PolledRig): boolean => {
  const known = state.identity;
  const isSerial = serial !== null && serial === known?.serial;
  return !isSerial && mac !== null && known !== null && known.mac !== null && mac !== known.mac;
};

import { Characteristic, HttpClient, type PairingData, Service } from "hap-controller";

/** HAP's "No Response". */
export const noResponse = -70402;

export interface SeenCharacteristic {
  /** As the controller addresses it: `aid.iid`. */
  readonly id: string;
  /** HAP's name ("on", "outlet-in-use"), or a UUID if it is not one of HAP's. */
  readonly type: string;
  readonly value: unknown;
  readonly perms: readonly string[];
  readonly minValue: number | undefined;
  readonly maxValue: number | undefined;
}

export interface SeenService {
  readonly type: string;
  readonly characteristics: readonly SeenCharacteristic[];
}

export interface SeenAccessory {
  readonly aid: number;
  readonly name: string;
  readonly services: readonly SeenService[];
}

export interface Read {
  readonly value: unknown;
  /** 0, or HAP's status of the failure. */
  readonly status: number;
}

/** A HomeKit controller, like the Home app: pairs at first use and keeps the pairing. */
export class HomeController {
  readonly #place: { readonly username: string; readonly port: number };
  readonly #pin: string;
  #pairing: PairingData | undefined;
  #client: HttpClient | undefined;
  readonly #listening: HttpClient[] = [];

  constructor(place: { readonly username: string; readonly port: number }, pin: string) {
    this.#place = place;
    this.#pin = pin;
  }

  /** All but the bridge itself. */
  async accessories(): Promise<SeenAccessory[]> {
    const { accessories } = await (await this.#connected()).getAccessories();
    return accessories.filter(({ aid }) => Number(aid) !== 1).map(seen);
  }

  /** One characteristic, by the accessory's name. Throws if it does not exist. */
  async find(name: string, service: string, characteristic: string): Promise<SeenCharacteristic> {
    const all = await this.accessories();
    const found = all
      .find((each) => each.name === name)
      ?.services.filter(({ type }) => type === service)
      .flatMap(({ characteristics }) => characteristics)
      .find(({ type }) => type === characteristic);
    if (found === undefined) throw new Error(`${name} has no ${service}.${characteristic}: ${JSON.stringify(all)}`);
    return found;
  }

  async read({ id }: Pick<SeenCharacteristic, "id">): Promise<Read> {
    const { characteristics } = await (await this.#connected()).getCharacteristics([id]);
    const [only] = characteristics;
    return { value: only?.value, status: only?.status ?? 0 };
  }

  /** The status; 0 = success. */
  async write({ id }: Pick<SeenCharacteristic, "id">, value: boolean | number | string): Promise<number> {
    const statuses = await this.writeAll([[{ id }, value]]);
    return statuses[0] ?? 0;
  }

  /** Several at once, like a scene. */
  async writeAll(
    writes: readonly (readonly [Pick<SeenCharacteristic, "id">, boolean | number | string])[],
  ): Promise<number[]> {
    const client = await this.#connected();
    const reply = await client.setCharacteristics(Object.fromEntries(writes.map(([{ id }, value]) => [id, value])));
    const { characteristics } = reply;
    if (!Array.isArray(characteristics)) return writes.map(() => 0);
    return characteristics.map((each: { status?: number }) => each.status ?? 0);
  }

  /**
   * Calls `changed` with each new value from now on. Each subscription has its own client: two subscriptions of one
   * client consume each other's data and hang.
   */
  async subscribe({ id }: Pick<SeenCharacteristic, "id">, changed: (value: unknown) => void): Promise<void> {
    await this.#connected();
    const client = this.#newClient();
    this.#listening.push(client);
    client.on("event", (event: { characteristics: { aid: number; iid: number; value: unknown }[] }) => {
      for (const { aid, iid, value } of event.characteristics) if (`${aid}.${iid}` === id) changed(value);
    });
    await client.subscribeCharacteristics([id]);
  }

  async disconnect(): Promise<void> {
    for (const client of this.#listening.splice(0)) await client.close();
    await this.#client?.close();
    this.#client = undefined;
  }

  #newClient(): HttpClient {
    const { username, port } = this.#place;
    return new HttpClient(username, "127.0.0.1", port, this.#pairing, { usePersistentConnections: true });
  }

  async #connected(): Promise<HttpClient> {
    if (this.#client !== undefined) return this.#client;
    const client = this.#newClient();
    if (this.#pairing === undefined) {
      await client.pairSetup(this.#pin);
      this.#pairing = client.getLongTermData() ?? undefined;
    }
    this.#client = client;
    return client;
  }
}

type Listed = Awaited<ReturnType<HttpClient["getAccessories"]>>["accessories"][number];

function seen({ aid, services }: Listed): SeenAccessory {
  const described = services.map(
    (service): SeenService => ({
      type: Service.serviceFromUuid(service.type).replace("public.hap.service.", ""),
      characteristics: service.characteristics.map((each) => ({
        id: `${aid}.${each.iid}`,
        type: nameOf(each.type ?? ""),
        value: each.value,
        perms: each.perms ?? [],
        minValue: each.minValue,
        maxValue: each.maxValue,
      })),
    }),
  );
  const name = described[0]?.characteristics.find(({ type }) => type === "name")?.value;
  return { aid: Number(aid), name: String(name), services: described };
}

const nameOf = (uuid: string): string =>
  Characteristic.characteristicFromUuid(uuid).replace("public.hap.characteristic.", "");

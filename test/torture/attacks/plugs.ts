import { createServer, type Server } from "node:net";
import { drivers } from "../../../src/link/drivers/index.ts";
import { startFarm, startPlug } from "../../../src/simulator/index.ts";
import { startMosquitto, subscribeAt } from "../../mqtt/mosquitto.ts";
import { startOldBroker } from "../../mqtt/old-broker.ts";
import type { Attack } from "../attack.torture.ts";
import { type Verdict, wait } from "../measure.ts";
import { type ServiceProcess, startProcess } from "../process.ts";

/**
 * Anna administers the group Barn and nothing else. She tries to become administrator of everything by a plug whose
 * topic is one of Rigbridge's own, to switch the plug of a rig in the attic, to have the login of a rig sent to herself,
 * and to read what other services say.
 */
export const attack: Attack = {
  name: "a group's administrator, by plugs and addresses",
  run: async (verdict) => {
    for (const version of ["5", "3.1.1"] as const) await topics(version, verdict);
    await othersPlug(verdict);
    await logins(verdict);
    await words(verdict);
  },
};

const keys = { service: "key-of-the-service", anna: "key-of-anna-1234567", mallory: "key-of-mallory-1234" };
const usual = {
  http: { key: keys.service },
  poll: { interval: 1, timeout: 1 },
  groups: [{ name: "Barn" }, { name: "Attic" }],
  users: [{ name: "anna", key: keys.anna, privilege: "administrator", groups: ["Barn"] }],
};

/** What anna asks for; the status. */
async function anna(service: ServiceProcess, method: string, path: string, body?: object) {
  const headers = { "x-api-key": keys.anna, "content-type": "application/json" };
  const { status, text } = await service.ask(method, path, {
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const reply: unknown = JSON.parse(text);
  const id = typeof reply === "object" && reply !== null && "id" in reply ? Number(reply.id) : 0;
  return { status, text, id };
}

/** Waits until a text of the service holds a word, or has had its time. */
async function holds(service: ServiceProcess, path: string, word: string, seconds: number): Promise<boolean> {
  for (let looks = 0; looks < seconds * 4; looks += 1) {
    if ((await service.ask("GET", path)).text.includes(word)) return true;
    await wait(250);
  }
  return false;
}

async function topics(version: "5" | "3.1.1", verdict: Verdict): Promise<void> {
  const broker = await startMosquitto();
  const old = version === "5" ? null : await startOldBroker(broker.port);
  const others = await subscribeAt(broker.url);
  const farm = await startFarm({
    rigs: Array.from({ length: 5 }, () => ({ kind: "cgminer", hardware: "sticks", warm: true })),
  });
  const service = await startProcess({ config: { ...usual, mqtt: { url: old?.url ?? broker.url } } });
  try {
    await others.until(({ topic }) => topic === "rigbridge/summary");
    await others.publish("plugs/of-anna", "ON", { retain: true });
    const mallory = JSON.stringify({ id: 0, name: "mallory", key: keys.mallory, privilege: "administrator" });
    const sets = [
      ["rigbridge/bridge/request/saveUser", mallory],
      ["rigbridge/group/2/action", "reboot"],
      ["homeassistant/switch/anna/config", "{}"],
      ["zigbee2mqtt/frontdoor/set", '{"state":"UNLOCK"}'],
      ["zigbee2mqtt/bridge/request/device/remove", '{"id":"frontdoor"}'],
    ] as const;
    for (const [index, [set, off]] of sets.entries()) {
      const supply = {
        type: "mqtt",
        topics: { set, state: "plugs/of-anna" },
        payloads: { off },
        cutPower: true,
        delay: 0,
      };
      const { id } = await anna(service, "POST", "/api/miners", {
        address: farm.rigs[index]?.address,
        group: "Barn",
        supply,
      });
      if (id === 0) continue;
      await holds(service, `/api/miners/${id}`, '"canStop":true', 5);
      void anna(service, "POST", `/api/miners/${id}?action=stop`).catch(() => undefined);
    }
    const reached = async () =>
      (await service.ask("GET", "/api/users", { headers: { "x-api-key": keys.mallory } })).status;
    await wait(3_000);
    const said = sets.filter(([set, payload]) =>
      others.received.some((each) => each.topic === set && each.payload === payload),
    );
    verdict.check(
      `MQTT ${version}: ${said.length} of ${sets.length} topics of others were published to by a plug`,
      said.length === 0,
    );
    const status = await reached();
    verdict.check(`MQTT ${version}: the user that a plug's payload would add gets ${status}`, status === 401);
  } finally {
    await service.close();
    await farm.close();
    await others.close();
    await old?.close();
    await broker.stop();
  }
}

async function othersPlug(verdict: Verdict): Promise<void> {
  const farm = await startFarm({
    rigs: Array.from({ length: 2 }, () => ({ kind: "cgminer", hardware: "sticks", warm: true })),
  });
  const [theirs, hers] = farm.rigs;
  if (theirs === undefined || hers === undefined) throw new Error("the farm has no rigs");
  const plug = await startPlug({ kind: "shelly2", rig: theirs });
  const port = plug.address.split(":")[1];
  const supply = { type: "shelly", address: plug.address, cutPower: true, delay: 0 };
  const service = await startProcess({
    config: { ...usual, miners: [{ name: "theirs", address: theirs.address, group: "Attic", supply }] },
  });
  try {
    const { id } = await anna(service, "POST", "/api/miners", { address: hers.address, group: "Barn" });
    const spellings = [
      { address: plug.address },
      { address: `http://${plug.address}` },
      { address: `HTTP://${plug.address}/` },
      { address: `[::ffff:127.0.0.1]:${port}` },
      { address: `[0:0:0:0:0:FFFF:7f00:1]:${port}` },
      { address: plug.address, channel: 1 },
      { address: plug.address, type: "tasmota" },
    ];
    let taken = 0;
    for (const spelling of spellings) {
      const { status } = await anna(service, "PATCH", `/api/miners/${id}`, { supply: { ...supply, ...spelling } });
      if (status !== 200) continue;
      taken += 1;
      await holds(service, `/api/miners/${id}`, '"canStop":true', 3);
      void anna(service, "POST", `/api/miners/${id}?action=stop`).catch(() => undefined);
      await wait(1_500);
    }
    verdict.check(`${taken} of ${spellings.length} spellings give her another group's plug`, taken === 0);
    verdict.check(`that plug was switched ${plug.switched} times`, plug.switched === 0);
  } finally {
    await service.close();
    await plug.close();
    await farm.close();
  }
}

/** Hears everything, and says one thing. */
async function listener(answer: string) {
  const heard: Buffer[] = [];
  const server: Server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      heard.push(chunk);
      socket.end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  return {
    address: `127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`,
    heard: () => Buffer.concat(heard).toString("latin1"),
    close: () => server.close(),
  };
}

async function logins(verdict: Verdict): Promise<void> {
  const secret = "a-secret-of-the-owner";
  const farm = await startFarm({
    rigs: [
      { kind: "xmrig", token: secret, warm: true },
      { kind: "vnish", password: secret, warm: true },
      { kind: "braiins", password: secret, warm: true },
    ],
  });
  const logins = [{ token: secret }, { password: secret }, { username: "root", password: secret }];
  const service = await startProcess({ config: usual });
  try {
    let sent = 0;
    for (const [index, login] of logins.entries()) {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ address: farm.rigs[index]?.address, group: "Barn", ...login });
      const { id } = JSON.parse((await service.ask("POST", "/api/miners", { headers, body })).text);
      await holds(service, `/api/miners/${id}`, '"hasValidStatus":true', 10);
      const thief = await listener("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
      await anna(service, "PATCH", `/api/miners/${id}`, { address: thief.address });
      for (let polls = 0; polls < 3; polls += 1) await anna(service, "POST", `/api/miners/${id}/poll`);
      if (thief.heard().includes(secret)) sent += 1;
      thief.close();
    }
    verdict.check(`${sent} of ${logins.length} rigs' logins were sent to a changed address`, sent === 0);
  } finally {
    await service.close();
    await farm.close();
  }
}

async function words(verdict: Verdict): Promise<void> {
  const word = "Secret-Of-Another-Service";
  const page = (status: string, body: string) => `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const answers = [`${word}\r\n`, page("200 OK", word), page("404 No", word), page("403 No", `{"err":"${word}"}`)];
  const service = await startProcess({ config: usual });
  try {
    let tried = 0;
    let told = 0;
    for (const answer of answers) {
      for (const driver of [undefined, ...drivers.map(({ id }) => id)]) {
        const other = await listener(answer);
        const login = { username: "root", password: "a-password" };
        const body = { address: other.address, group: "Barn", ...login, ...(driver === undefined ? {} : { driver }) };
        const { id } = await anna(service, "POST", "/api/miners", body);
        const { text } = await anna(service, "POST", `/api/miners/${id}/poll`);
        tried += 1;
        if (text.includes(word)) told += 1;
        other.close();
        await anna(service, "DELETE", `/api/miners/${id}`);
      }
    }
    verdict.check(`${told} of ${tried} miners told her what another service says`, told === 0);
  } finally {
    await service.close();
  }
}

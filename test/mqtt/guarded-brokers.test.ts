import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { kinds, type Opened } from "../contract/kinds.ts";
import { until, within } from "../until.ts";
import { bridgeTo, recordingLog } from "./bridged.ts";
import { type Mosquitto, startMosquitto, subscribeAt } from "./mosquitto.ts";
import { startOldBroker } from "./old-broker.ts";
import { startWebBroker } from "./web-broker.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

let opened: Opened;
beforeAll(async () => {
  const [own] = kinds;
  if (own === undefined) throw new Error("there is no kind");
  opened = await own.open();
});
afterAll(() => opened.close());

async function broker(options: Parameters<typeof startMosquitto>[0]): Promise<Mosquitto> {
  const started = await startMosquitto(options);
  cleanup.push(() => started.stop());
  return started;
}

async function listening(...args: Parameters<typeof subscribeAt>) {
  const listener = await subscribeAt(...args);
  cleanup.push(() => listener.close());
  return listener;
}

async function bridged(settings: Parameters<typeof bridgeTo>[1]) {
  const { log, lines } = recordingLog();
  const bridge = await bridgeTo(opened.service, settings, { log });
  cleanup.push(() => bridge.close());
  return { bridge, sentences: () => lines.filter(({ level }) => level >= 40).map(({ msg }) => msg) };
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "rigbridge-guarded-"));
  cleanup.push(() => rmSync(made, { recursive: true }));
  return made;
}

describe("a broker that requires client certificates", () => {
  /** A certificate authority, the broker's certificate, a client's, and one of a stranger. */
  function certificates(): (name: string) => string {
    const place = folder();
    const at = (name: string): string => join(place, name);
    const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "ignore" });
    const make = (name: string, subject: string, issuer: string): void => {
      const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", at(`${name}.key`)];
      if (name === issuer) {
        openssl("req", "-x509", ...key, "-out", at(`${name}.pem`), "-subj", subject, "-days", "2");
        return;
      }
      openssl("req", "-new", ...key, "-out", at(`${name}.csr`), "-subj", subject);
      writeFileSync(at("extensions"), "subjectAltName=IP:127.0.0.1\n");
      const signer = ["-CA", at(`${issuer}.pem`), "-CAkey", at(`${issuer}.key`), "-CAcreateserial"];
      openssl(
        "x509",
        "-req",
        "-in",
        at(`${name}.csr`),
        ...signer,
        "-out",
        at(`${name}.pem`),
        "-days",
        "2",
        "-extfile",
        at("extensions"),
      );
    };
    make("ca", "/CN=Farm", "ca");
    make("broker", "/CN=127.0.0.1", "ca");
    make("bridge", "/CN=bridge", "ca");
    make("elsewhere", "/CN=Elsewhere", "elsewhere");
    make("stranger", "/CN=bridge", "elsewhere");
    return at;
  }

  test("accepts the bridge with its own; without one, or with another, the log says what is wrong", async () => {
    const at = certificates();
    const config = [`cafile ${at("ca.pem")}`, `certfile ${at("broker.pem")}`, `keyfile ${at("broker.key")}`];
    const { url } = await broker({
      config: [...config, "require_certificate true", "use_identity_as_username true"],
      scheme: "mqtts",
    });
    const ca = at("ca.pem");
    const none = await bridged({ url, ca });
    await until(() => none.sentences().length > 0, "the log to say that a certificate is wanted");
    const stranger = await bridged({
      url,
      ca,
      cert: at("stranger.pem"),
      key: at("stranger.key"),
      clientId: "stranger",
    });
    await until(() => stranger.sentences().length > 0, "the log to say that the certificate is not taken");
    const place = url.replace("mqtts://", "");
    expect(none.sentences()).toEqual([
      `The broker at ${place} requires a client certificate; set mqtt.cert and mqtt.key`,
    ]);
    expect(stranger.sentences()).toEqual([
      expect.stringMatching(new RegExp(`^The broker at ${place} refuses the certificate in mqtt.cert`)),
    ]);
    const { bridge } = await bridged({ url, ca, cert: at("bridge.pem"), key: at("bridge.key"), clientId: "right" });
    const connected = new Promise<void>((resolve) => bridge.connection.connected(resolve));
    await within(connected, "the bridge to connect with its certificate");
  });
});

describe("a broker by WebSocket", () => {
  test("gets everything that a TCP broker gets, and delivers commands", async () => {
    const { port, url: direct } = await broker({});
    const web = await startWebBroker(port, "/mqtt");
    cleanup.push(() => web.close());
    const { uid } = await opened.service.getMiner({ id: opened.steered }, { actor: "test" });
    const listener = await listening(direct);
    await bridged({ url: web.url });
    await listener.until(({ topic }) => topic === `homeassistant/device/rigbridge_miner_${uid}/config`);
    await listener.until(({ topic }) => topic === `rigbridge/miner/${uid}/state`);
    const options = { responseTopic: "answers" };
    await listener.publish(`rigbridge/miner/${uid}/frequency/set`, "505", options);
    const answer = await listener.until(({ topic }) => topic === "answers");
    expect(JSON.parse(answer.payload)).toMatchObject({ status: "ok", data: { frequency: 505 } });
  });
});

describe("a broker with limited rights for the bridge", () => {
  async function withRights(lines: readonly string[]): Promise<Mosquitto> {
    const file = join(folder(), "acl");
    writeFileSync(file, `user display\ntopic read #\nuser rigbridge\n${lines.join("\n")}\n`, { mode: 0o600 });
    return broker({ users: { rigbridge: "one", display: "two" }, config: [`acl_file ${file}`] });
  }
  const login = { username: "rigbridge", password: "one" };

  test.each([5, 4] as const)(
    "gets what it allows, and the bridge logs once that it refuses the rest (MQTT %d)",
    async (version) => {
      const mosquitto = await withRights(["topic readwrite rigbridge/bridge/#", "topic write rigbridge/summary"]);
      let { url } = mosquitto;
      if (version === 4) {
        const old = await startOldBroker(mosquitto.port);
        cleanup.push(() => old.close());
        url = old.url;
      }
      const listener = await listening(mosquitto.url, ["#"], { username: "display", password: "two" });
      const { bridge, sentences } = await bridged({ url, ...login });
      await listener.until(({ topic }) => topic === "rigbridge/summary");
      // MQTT 3.1.1 has no word for it.
      await until(() => sentences().length > 0 || version === 4, "the log to say that rights are missing");
      await bridge.connection.settled();
      expect(sentences()).toEqual(
        version === 4 ? [] : [expect.stringMatching(/refuses some messages of the bridge; check the rights/)],
      );
      expect(bridge.connection.isConnected).toBe(true);
      const allowed = /^rigbridge\/(bridge\/(state|info)|summary)$/;
      expect(listener.received.map(({ topic }) => topic).filter((topic) => !allowed.test(topic))).toEqual([]);
    },
  );
});

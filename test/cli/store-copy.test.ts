import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";
import { command, rigbridge, running } from "./command.ts";

// depends on: src/**, test/store/postgres.ts

const suite = hasPostgres("copies of a service's store in a real PostgreSQL") ? describe : describe.skip;

const key = "key-of-the-service-for-tests";
const keyOfAnn = "key-of-ann-for-tests";
/** The administrator's, as in URLs. */
const password = encodeURIComponent("secret of the administrator");

let folder = "";
let server: Postgres;

suite("rigbridge store copy", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-copy-"));
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** With the name of the variable in place of the password. */
  const written = (url: string): string => url.replace(password, ["$", "{STORE_PASSWORD}"].join(""));
  const env = { STORE_PASSWORD: password };

  test("moves a service to a database and back: it shows the same, with its users, keys and sessions", async () => {
    const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
    onTestFinished(() => farm.close());
    const port = await freePort();
    const config = join(folder, "rigbridge.yaml");
    const url = server.url(await server.database());
    const [file, back] = [join(folder, "rigbridge.db"), join(folder, "back.db")];

    const serve = async (store: object) => {
      const settings = { http: { port, key }, poll: { interval: 1 }, store };
      await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
      const service = await running(["serve", "--config", config], /is ready at http/, { cwd: folder });
      onTestFinished(() => service.signal("SIGKILL"));
      return service;
    };
    const ask = async (path: string, credentials: Record<string, string> = { "x-api-key": key }, body?: object) => {
      const headers = { ...credentials, "content-type": "application/json" };
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      const answer: unknown = await response.json();
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
      return { answer, cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" };
    };
    const send = async (path: string, body: object = {}) => (await ask(path, undefined, body)).answer;

    const service = await serve({ url: file });
    await send("/api/miners", { address: farm.rigs[0]?.address, name: "Desk" });
    await send("/api/groups", { name: "Attic" });
    await send("/api/rules", { key: "hot", when: { all: [{ offline: true }], for: 120 }, do: [{ action: "restart" }] });
    await send("/api/users", { name: "Ann", privilege: "control", key: keyOfAnn });
    await until(async () => JSON.stringify((await ask("/api/miners")).answer).includes("Mining"), "the rig to be read");
    await send("/api/miners/1000000001?action=set&property=fan&value=60");
    const { cookie } = await ask("/api/session", {}, { key: keyOfAnn });
    const isSampled = async () => JSON.stringify((await ask(`${history}&to=${Date.now()}`)).answer).includes("[[");
    await until(isSampled, "the rig's first sample");
    const to = Date.now();

    const seen = async () => ({
      ofService: await Promise.all(
        ["/api/groups", "/api/rules", "/api/users", "/api/commands", "/api/notifications", `${history}&to=${to}`].map(
          async (path) => (await ask(path)).answer,
        ),
      ),
      ofAnn: [
        { ...Object((await ask("/api/session", { "x-api-key": keyOfAnn })).answer), time: null },
        { ...Object((await ask("/api/session", { cookie })).answer), time: null },
      ],
      miners: JSON.stringify((await ask("/api/miners")).answer).match(/"(id|name)":("Desk"|1000000001)/g),
    });
    const before = await seen();
    expect(before).toMatchObject({ ofAnn: [{ user: { name: "Ann" } }, { by: "session" }], miners: [{}, {}] });
    service.signal("SIGTERM");
    await service.ended;

    const copied = await rigbridge(["store", "copy", file, written(url)], { env });
    expect(copied).toMatchObject({ code: 0, stderr: "" });
    expect(copied.stdout).toMatch(/^Table +Rows +Checksum$/m);
    expect(copied.stdout).toMatch(/^session +1 +[0-9a-f]{16}$/m);
    expect(copied.stdout).toContain(`${file} was copied to postgres://postgres@`);
    const inDatabase = await serve({ url, site: "barn" });
    expect(await seen()).toEqual(before);
    inDatabase.signal("SIGTERM");
    await inDatabase.ended;

    const returned = await command(["store", "copy", written(url), back], { env });
    expect(returned).toMatchObject({ code: 0, stderr: "" });
    const inFile = await serve({ url: back });
    expect(await seen()).toEqual(before);
    for (const { stdout, stderr } of [copied, returned]) expect(stdout + stderr).not.toContain(password);
    inFile.signal("SIGTERM");
    await inFile.ended;
  });

  const history = "/api/miners/1000000001/history?step=0";

  test.each([
    [["rigbridge.db"], "missing required argument 'to'"],
    [["mysql://rig:secret@db/rig", "new.db"], "<from> must be the name of a file, or the URL of a PostgreSQL database"],
    [["rigbridge.db", ":memory:"], "<to> must be the name of a file, or the URL of a PostgreSQL database"],
    [
      ["rigbridge.db", ["postgres://rig:$", "{NOT_SET}@db/secret"].join("")],
      "<to> needs the environment variable NOT_SET, which is not set",
    ],
    [["nowhere.db", "new.db"], "There is no store"],
    [["nowhere/rigbridge.db", "new.db"], "does not exist; create it, or choose another store file"],
    [["postgres://rig:secret@127.0.0.1:1/rig", "new.db"], "postgres://rig@127.0.0.1:1/rig cannot be reached"],
    [["postgres://rig:secret@127.0.0.1", "new.db"], "postgres://rig@127.0.0.1 names no database"],
  ])("says what is wrong with %j", async (args, sentence) => {
    const { code, stdout, stderr } = await command(["store", "copy", ...args], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain("secret");
  });
});

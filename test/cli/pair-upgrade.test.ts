import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { storeVersion } from "../../src/store/migrations.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";
import { type Running, rigbridge, running } from "./command.ts";

// depends on: src/**, test/store/postgres.ts

const suite = hasPostgres("the upgrade of two services with one store in a real PostgreSQL") ? describe : describe.skip;

const root = fileURLToPath(new URL("../..", import.meta.url));
const active = /is ready at http/;
const standby = /this one waits to take its place/;

let folder = "";
let server: Postgres;

/** The program as it may be in the next release: its store has one more column. Returns its main file. */
function nextRelease(): string {
  const place = join(folder, "next");
  cpSync(join(root, "src"), join(place, "src"), { recursive: true });
  cpSync(join(root, "package.json"), join(place, "package.json"));
  for (const name of ["node_modules", "dist"]) symlinkSync(join(root, name), join(place, name));
  const migrations = join(place, "src", "store", "migrations.ts");
  const end = "];\n\n/** The version of this release";
  const text = readFileSync(migrations, "utf8");
  expect(text.split(end)).toHaveLength(2);
  writeFileSync(migrations, text.replace(end, `  ["alter table instance add column colour text"],\n${end}`));
  return join(place, "src", "cli", "main.ts");
}

suite("a pair that is upgraded one after the other", () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "rigbridge-upgrade-"));
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  test("keeps every confirmed write; a service of the old version refuses the new store and does no harm", async () => {
    const next = nextRelease();
    const database = await server.database();
    const urls: string[] = [];
    const member = async (name: string): Promise<string> => {
      const port = await freePort();
      urls.push(`http://127.0.0.1:${port}`);
      const file = join(folder, `${name}.yaml`);
      const settings = { http: { port }, store: { url: server.url(database), site: "barn" } };
      writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
      return file;
    };
    const start = async (config: string, says: RegExp, program?: string): Promise<Running> => {
      const place = program === undefined ? { cwd: folder } : { cwd: folder, program };
      const service = await running(["serve", "--config", config], says, place);
      onTestFinished(() => service.signal("SIGKILL"));
      return service;
    };
    const end = async (service: Running): Promise<void> => {
      service.signal("SIGTERM");
      await service.ended;
    };
    const isActive = (service: Running, what: string) =>
      until(() => active.test(service.said()), what, { details: service.said });
    const versions = async () =>
      (await server.run("select version from rigbridge.store_version", database))[0]?.version;

    const [one, other, third] = [await member("one"), await member("other"), await member("third")];
    const oldActive = await start(one, active);
    const oldStandby = await start(third, standby);
    const newStandby = await start(other, standby, next);
    expect(await versions()).toBe(String(storeVersion));

    const confirmed: string[] = [];
    let isOver = false;
    const load = (async () => {
      for (let number = 1; !isOver; number += 1) {
        const name = `g${number}`;
        for (const url of urls) {
          const init = {
            method: "POST",
            body: JSON.stringify({ name }),
            headers: { "content-type": "application/json" },
          };
          const answer = await fetch(`${url}/api/groups`, init).catch(() => null);
          await answer?.text();
          if (answer?.ok !== true) continue;
          confirmed.push(name);
          break;
        }
      }
    })();
    onTestFinished(() => {
      isOver = true;
    });
    const grows = async (): Promise<void> => {
      const before = confirmed.length;
      await until(() => confirmed.length > before + 20, "further writes to be confirmed");
    };

    await grows();
    // While it is stopped, the new one takes over.
    oldStandby.signal("SIGSTOP");
    await end(oldActive);
    await isActive(newStandby, "the service of the new version to take over");
    expect(await versions()).toBe(String(storeVersion + 1));
    oldStandby.signal("SIGCONT");
    await grows();

    const newer = `was written by a newer Rigbridge (store version ${storeVersion + 1}, this one supports up to ${storeVersion})`;
    const refused = await rigbridge(["serve", "--config", one], { cwd: folder });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(newer);
    await grows();

    // The old one that waits is the next in turn, and ends.
    await end(newStandby);
    const left = await oldStandby.ended;
    expect(left.code).toBe(1);
    expect(left.stderr).toContain(newer);
    expect(left.stdout).not.toMatch(active);
    await start(one, active, next);
    await grows();
    isOver = true;
    await load;
    const answer: unknown = await (await fetch(`${urls[0]}/api/groups`)).json();
    const names = new Set(Array.isArray(answer) ? answer.map(({ name }) => name) : []);
    expect(confirmed.filter((name) => !names.has(name))).toEqual([]);
    expect(await versions()).toBe(String(storeVersion + 1));
  });
});

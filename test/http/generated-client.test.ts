import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { generateApi } from "swagger-typescript-api";
import { openApiDocument } from "../../src/http/openapi.ts";
import { onTestFinished } from "../finished.ts";

// depends on: src/contract/**

/** Typed use of a list, a history, an action and a refusal; each line that is marked is a mistake that types must catch. */
const use = `
import { Api, HttpResponse, type Problem } from "./client.ts";

export async function use(client: Api<unknown>): Promise<string> {
  const list = await client.api.listMiners();
  const ids: number[] = list.data.groupList.flatMap((group) => group.minerList.map(({ id }) => id));
  const history = await client.api.getHistory(ids[0] ?? 0);
  const step: number = history.data.step;
  const rows = await client.api.listMinerRows({ fields: "name" });
  const table: string = (await client.api.getHistoryCsv(ids[0] ?? 0)).data;
  const action = await client.api.minerAction(ids[0] ?? 0, { action: "set", property: "fan", value: "60" });
  // @ts-expect-error: there is no such action
  await client.api.minerAction(1, { action: "explode" });
  // @ts-expect-error: a list is no table
  const wrong: string = list.data;
  const code = (refusal: HttpResponse<unknown, Problem>): string => refusal.error.code;
  return [step, rows.data.miners[0]?.name, table, action.data.success, wrong, code].join();
}
`;

test("a client that swagger-typescript-api makes of the document is typed, and compiles", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-client-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "openapi.json"), JSON.stringify(openApiDocument("1.2.3")));
  await generateApi({
    input: join(folder, "openapi.json"),
    output: folder,
    fileName: "client.ts",
    silent: true,
    extractRequestParams: false,
  });
  await writeFile(join(folder, "use.ts"), use);
  const require = createRequire(import.meta.url);
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];
  const more = ["--allowImportingTsExtensions", "--lib", "es2022,dom,dom.iterable", "--types", ""];
  const { stdout, status } = spawnSync(process.execPath, [tsc, ...flags, ...more, "use.ts"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect([stdout, status]).toEqual(["", 0]);
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { WebSocket } from "ws";
import { frameOf } from "../../src/contract/agent-frames.ts";
import type { RowEvent } from "../../src/contract/events.ts";
import type { Caller, MiningService } from "../../src/contract/service.ts";
import { sitePath, siteWindowBytes } from "../../src/contract/site-connection.ts";
import { numberAt, numberThere, siteOf } from "../../src/contract/site-numbers.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { answering, closeServers } from "../client/servers.ts";
import { problem, refusal } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { owner, startCentre, startSite } from "./centre-bench.ts";
import {
  link,
  serve,
  startConnectingSite,
  startHiddenSite,
  startOpenCentre,
  startTlsLine,
} from "./connecting-bench.ts";
import { commandsOverCutLines, startConnecting } from "./cut-lines.ts";

afterEach(closeBenches);

const cgminer: RigSpec = { kind: "cgminer", warm: true, restartSeconds: 0 };
const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };

const rowsOf = async (service: MiningService, who: Caller = owner) =>
  (await service.listMinerRows({ view: "list" }, who)).miners;

describe("a site that connects to its centre by itself", () => {
  test("trusts only the authority that it was given, unless it is insecure", async () => {
    const centre = await startOpenCentre(["Cabin", "Barn"]);
    const { url, ca } = await startTlsLine(centre.server.address.port);
    const cabin = await startHiddenSite();
    const token = await centre.token("Cabin");
    const untrusting = link(cabin, { url, token });
    await untrusting.says("SELF_SIGNED");
    expect((await centre.site("Cabin"))?.state).toBe("connecting");
    expect(untrusting.lines.join("")).not.toContain(token);
    untrusting.close();
    link(cabin, { url, token, ca });
    await centre.reaches("Cabin", "connected");
    link(await startHiddenSite(), { url, token: await centre.token("Barn"), insecure: true });
    await centre.reaches("Barn", "connected");
  });

  test("is shown with its rigs, controlled, and named in its own log, as one that has an address", async () => {
    const centre = await startOpenCentre(["Cabin"], { rigs: [axeos] });
    expect(await centre.site("Cabin")).toMatchObject({
      state: "connecting",
      url: null,
      admitted: false,
      problem: "It has no token with which it could connect",
    });
    await centre.token("Cabin");
    expect((await centre.site("Cabin"))?.problem).toBe("It has not connected to here yet");
    const cabin = await startConnectingSite(centre, "Cabin", { rigs: [cgminer, axeos] });
    expect(await centre.site("Cabin")).toMatchObject({ state: "connected", admitted: true, problem: null, miners: 2 });
    const rows = await rowsOf(centre.centre);
    expect(rows.map(({ id }) => siteOf(id))).toEqual([1, 1]);
    const [first, second] = rows.map(({ id }) => id);
    const at = { first: first ?? 0, second: second ?? 0 };
    expect((await centre.centre.getMiner({ id: at.second }, owner)).id).toBe(at.second);
    expect((await centre.centre.getSummary({}, owner)).totalCount).toBe(2);

    const anna = await centre.own.service.saveUser({ id: 0, name: "anna", privilege: "control" }, owner);
    const who: Caller = { actor: "anna", userId: anna.id, idempotency: { key: "k-1" } };
    const reply = await centre.centre.minerAction({ id: at.second, action: "locate", on: true }, who);
    expect(await centre.centre.minerAction({ id: at.second, action: "locate", on: true }, who)).toEqual(reply);
    const there = await cabin.bench.commands(numberThere(at.second));
    expect(there.map(({ action, actor, state }) => [action, actor, state])).toEqual([
      ["locate", "anna for office", "done"],
    ]);
    const body = { action: "restart", parameters: {}, parallel: 16, delay: 0, dryRun: false, all: true } as const;
    const job = await centre.centre.startBulkAction(body, owner);
    const state = async () => (await centre.centre.getBulkAction({ id: job.id }, owner)).state;
    await until(async () => (await state()) !== "running", "the job to end");
    const { results } = await centre.centre.getBulkAction({ id: job.id }, owner);
    expect(results.map(({ minerId }) => minerId).toSorted()).toEqual([at.first, at.second].toSorted());

    const ending = new AbortController();
    const events: RowEvent[] = [];
    const watching = (async () => {
      for await (const event of centre.centre.watchMinerRows({ view: "list" }, owner, ending.signal))
        events.push(event);
    })();
    let changes = 0;
    await until(async () => {
      changes += 1;
      await cabin.bench.service.changeMiner({ id: numberThere(at.first), name: `renamed ${changes}` }, owner);
      return events.some((event) => event.type === "miner" && event.data.name.startsWith("renamed"));
    }, "the event of a new name");
    ending.abort();
    await watching;
  });

  test("takes what the centre defines for it only if the centre may change everything there", async () => {
    const names = ["Managed", "Controlled"];
    const sites = names.map((name) => ({ name, connectsOut: true as const }));
    const centre = await startOpenCentre(names, { config: { sites } });
    const managed = await startConnectingSite(centre, "Managed", { rigs: [cgminer], privilege: "administrator" });
    await startConnectingSite(centre, "Controlled", { rigs: [cgminer] });
    await centre.centre.addRule({ key: "light", do: [{ set: "locate", value: true }], runsAt: ["all"] }, owner);
    const copies = async () =>
      (await centre.centre.listRules({}, owner)).rules.find(({ key }) => key === "light")?.sites;
    const states = async () => (await copies())?.map(({ name, state }) => `${name} ${state}`).toSorted();
    await until(
      async () => (await states())?.join() === "Controlled refused,Managed pushed",
      "both sites to have answered",
      { details: async () => JSON.stringify(await copies()) },
    );
    const { rules } = await managed.bench.service.listRules({}, owner);
    expect(rules).toMatchObject([{ key: "light", owner: "centre", centre: "office" }]);
    expect((await problem(managed.bench.service.deleteRule({ id: "light" }, owner))).code).toBe("owned.by-centre");
    await managed.bench.service.releaseOwned({ centre: "office", keep: false }, owner);
    expect((await managed.bench.service.listRules({}, owner)).rules).toEqual([]);
  });

  test("may do at the site what the site lets it, whatever the people at the centre may", async () => {
    const centre = await startOpenCentre(["Viewed", "Controlled", "Managed"]);
    await startConnectingSite(centre, "Viewed", { rigs: [cgminer], privilege: "view" });
    await startConnectingSite(centre, "Controlled", { rigs: [cgminer] });
    await startConnectingSite(centre, "Managed", { rigs: [cgminer], privilege: "administrator" });
    const rows = await rowsOf(centre.centre);
    const rig = (site: number) => rows.find(({ id }) => siteOf(id) === site)?.id ?? 0;
    const restart = (site: number) => centre.centre.minerAction({ id: rig(site), action: "restart" }, owner);
    const rename = (site: number) => centre.centre.changeMiner({ id: rig(site), name: "renamed" }, owner);
    expect(await refusal(restart(1))).toBe("user.forbidden");
    await restart(2);
    expect(await refusal(rename(2))).toBe("user.forbidden");
    expect(await rename(3)).toMatchObject({ name: "renamed" });
    const { id: userId } = await centre.own.service.saveUser({ id: 0, name: "bo", privilege: "view" }, owner);
    expect(await refusal(centre.centre.minerAction({ id: rig(3), action: "restart" }, { actor: "bo", userId }))).toBe(
      "user.forbidden",
    );
  });

  test("keeps its rows while its line is cut, with one alarm, and is up to date again by itself", async () => {
    const centre = await startOpenCentre(["Cabin"]);
    const cabin = await startConnectingSite(centre, "Cabin", { rigs: [cgminer] });
    const [row] = await rowsOf(centre.centre);
    const id = row?.id ?? 0;
    centre.cut();
    await centre.reaches("Cabin", "unreachable");
    expect(await centre.site("Cabin")).toMatchObject({ problem: "It is not connected to here", miners: 1 });
    expect(await rowsOf(centre.centre)).toMatchObject([{ id, siteUnreachable: expect.any(String) }]);
    const refused = await problem(centre.centre.minerAction({ id, action: "restart" }, owner));
    expect([refused.code, refused.message]).toEqual([
      "service.not-ready",
      "The site Cabin cannot be reached, so nothing was sent: It is not connected to here",
    ]);
    const alarms = async () =>
      (await centre.centre.listNotifications({}, owner)).notificationList.filter(({ title }) =>
        title?.startsWith("The site Cabin"),
      );
    expect(await alarms()).toMatchObject([{ closedUtc: null, count: 1 }]);
    await cabin.says("everything here goes on, and it is tried again");
    await cabin.bench.service.changeMiner({ id: numberThere(id), name: "renamed" }, owner);
    centre.join();
    await centre.reaches("Cabin", "connected");
    await until(async () => (await rowsOf(centre.centre))[0]?.name === "renamed", "the row as it is now");
    expect(await alarms()).toMatchObject([{ closedUtc: expect.any(String) }]);
  });

  test("is cut off as soon as its token is revoked or replaced, and connects with a new one", async () => {
    const centre = await startOpenCentre(["Cabin"]);
    const cabin = await startConnectingSite(centre, "Cabin", { rigs: [cgminer] });
    const id = await centre.numberOf("Cabin");
    await centre.centre.revokeSite({ id }, owner);
    await cabin.says("refuses this site (its token was revoked)");
    await cabin.says("the token is wrong or was revoked; make another one on the page Sites of the centre");
    await centre.reaches("Cabin", "unreachable");
    expect(await centre.site("Cabin")).toMatchObject({
      admitted: false,
      problem: "It has no token with which it could connect",
    });
    cabin.close();

    const former = await centre.token("Cabin");
    const first = link(cabin, { url: centre.url, token: former });
    await centre.reaches("Cabin", "connected");
    const next = await centre.token("Cabin");
    await first.says("refuses this site (its token was replaced)");
    first.close();
    link(cabin, { url: centre.url, token: next });
    await centre.reaches("Cabin", "connected");
    expect(next).not.toBe(former);
    expect(JSON.stringify(centre.own.store.sites.all())).not.toContain(next);
  });

  test("has a token of its own: another service with it is refused, and the same service takes over", async () => {
    const centre = await startOpenCentre(["Cabin"]);
    const cabin = await startHiddenSite([cgminer]);
    const other = await startHiddenSite([cgminer, cgminer]);
    const token = await centre.token("Cabin");
    const first = link(cabin, { url: centre.url, token });
    await centre.reaches("Cabin", "connected");
    const second = link(other, { url: centre.url, token });
    await second.says("refuses this site (another service is connected with this token; each site has its own)");
    second.close();
    expect(await rowsOf(centre.centre)).toHaveLength(1);
    // It has lost its connection without either side having noticed.
    const again = link(cabin, { url: centre.url, token });
    await again.says("Connected to the centre");
    await first.says("refuses this site (a newer connection of the same service has replaced this one)");
    first.close();
    await until(async () => (await centre.site("Cabin"))?.problem === null, "the newer connection");
    expect(await rowsOf(centre.centre)).toHaveLength(1);
  });

  test("is not the centre itself, not another centre, and not a site under two names", async () => {
    const far = await startSite("Far", { rigs: [cgminer] });
    const another = await startCentre([far]);
    const centre = await startOpenCentre(["Itself", "Another", "Cabin", "Twin"]);
    const itself = link(
      { bench: centre.own, server: centre.server },
      { url: centre.url, token: await centre.token("Itself") },
    );
    await itself.says("refuses this site (it is the centre itself)");
    itself.close();

    const server = await serve(another.centre);
    link({ bench: another.own, server }, { url: centre.url, token: await centre.token("Another") });
    await centre.reaches("Another", "refused");
    expect((await centre.site("Another"))?.problem).toBe("It shows other sites itself; a centre cannot be a site");

    const cabin = await startConnectingSite(centre, "Cabin", { rigs: [cgminer] });
    link(cabin, { url: centre.url, token: await centre.token("Twin") });
    await centre.reaches("Twin", "refused");
    expect((await centre.site("Twin"))?.problem).toBe("It is the same service as the site Cabin");
  });

  test("says what is wrong with its token or its address", async () => {
    const centre = await startOpenCentre(["Cabin"]);
    const cabin = await startHiddenSite();
    const wrong = link(cabin, { url: centre.url, token: "a-token-that-nobody-has-made" });
    await wrong.says(
      "refuses this site (the token is wrong or was revoked; make another one on the page Sites of the centre)",
    );
    const noCentre = "nothing there is a centre of this release: check the address, and the version of Rigbridge there";
    const servers = [
      await answering((_request, response) => void response.end("<html>hello</html>")),
      await answering((_request, response) => void response.writeHead(404).end("{}")),
      // An older release takes the path for an operation, which needs an API key.
      await answering(
        (_request, response) =>
          void response.writeHead(401, { "content-type": "application/problem+json" }).end('{"code":"key.missing"}'),
      ),
    ];
    onTestFinished(closeServers);
    for (const { url } of servers) await link(cabin, { url, token: "a-token-of-some-centre" }).says(noCentre);
    const proxy = await answering((_request, response) => void response.writeHead(426).end());
    await link(cabin, { url: proxy.url, token: "a-token-of-some-centre" }).says(
      "a proxy before the centre does not pass WebSockets",
    );
    expect(() => link(cabin, { url: "http://203.0.113.7:17790", token: "a-token-of-some-centre" })).toThrow(
      "centre.url: 203.0.113.7 is outside this machine's private networks, so the address must begin with https://",
    );
    expect(wrong.lines.join()).not.toContain("a-token-that-nobody-has-made");
  });

  test("loses no command and has none done twice while its line is cut", async () => {
    const { wrong, done, cuts } = await commandsOverCutLines(3, 40, 150, startConnecting);
    expect(wrong).toEqual([]);
    expect(done).toBeGreaterThan(0);
    expect(cuts).toBeGreaterThan(0);
  });

  test("has no token if it has an address, and only administrators who see everything make tokens", async () => {
    const barn = await startSite("Barn");
    const { centre, own } = await startCentre([barn]);
    expect(await problem(centre.admitSite({ id: 1 }, owner))).toMatchObject({
      code: "not.possible",
      message: "The site Barn has an address; only sites with connectsOut have a token",
    });
    for (const id of [0, 7, numberAt(1, 1)]) expect(await refusal(centre.admitSite({ id }, owner))).toBe("not.found");
    const { id: userId } = await own.service.saveUser({ id: 0, name: "cy", privilege: "control" }, owner);
    expect(await refusal(centre.revokeSite({ id: 1 }, { actor: "cy", userId }))).toBe("user.forbidden");
  });

  test("loses its token when the centre's configuration gives it an address or leaves it out", async () => {
    const first = await startOpenCentre(["Cabin"]);
    const token = await first.token("Cabin");
    await first.close();
    const barn = await startSite("Barn");
    const second = await startCentre([{ ...barn, name: "Cabin" }], { own: first.own });
    await second.close();
    const third = await startOpenCentre(["Cabin"], first.own);
    expect(await third.site("Cabin")).toMatchObject({ admitted: false });
    const cabin = await startHiddenSite();
    await link(cabin, { url: third.url, token }).says("the token is wrong or was revoked");
  });
});

describe("a centre", () => {
  /** A WebSocket as a site opens it, and why the centre has closed it. */
  async function open(url: string, token: string) {
    const socket = new WebSocket(`${url.replace("http", "ws")}${sitePath}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    onTestFinished(() => socket.terminate());
    const messages: unknown[] = [];
    socket.on("message", (bytes: Buffer, isBinary) => messages.push(isBinary ? bytes : JSON.parse(String(bytes))));
    const ended = new Promise<string>((resolve) => {
      socket.on("close", (code, reason) => resolve(`${code} ${reason}`));
      socket.on("error", () => undefined);
    });
    await new Promise((resolve) => socket.once("open", resolve));
    return { socket, messages, ended };
  }

  const hello = (instance = "a-store"): string => JSON.stringify({ t: "hello", instance });

  test.each<[string, (string | Buffer)[], string]>([
    ["garbage", ["{{{"], "1008 a message did not follow the protocol"],
    ["a message of another protocol", ['{"t":"host","host":{}}'], "1008 a message did not follow the protocol"],
    ["a frame without a channel", [hello(), Buffer.from("ab")], "1008 a frame without a channel arrived"],
    ["no hello first", ['{"t":"close","channel":1}'], "1008 hello is the first message, and comes once"],
    ["hello twice", [hello(), hello()], "1008 hello is the first message, and comes once"],
    ["a message of two megabytes", [hello("a".repeat(2_000_000))], "1009 "],
  ])("ends the connection of a site that sends %s", async (_, messages, reason) => {
    const centre = await startOpenCentre(["Cabin"]);
    const { socket, ended } = await open(centre.url, await centre.token("Cabin"));
    for (const message of messages) socket.send(message);
    expect(await ended).toBe(reason);
    expect((await centre.site("Cabin"))?.state).not.toBe("connected");
  });

  test("ends the connection of a site that sends more for a request than was asked of it", async () => {
    const centre = await startOpenCentre(["Cabin"]);
    const { socket, messages, ended } = await open(centre.url, await centre.token("Cabin"));
    socket.send(hello());
    await until(() => messages.length > 0, "the first request");
    expect(messages[0]).toEqual({ t: "open", channel: 1 });
    // The client reads the beginning; what follows without a pause is more than any reader takes at once.
    socket.send(frameOf(1, Buffer.alloc(siteWindowBytes + 1, 32)));
    expect(await ended).toBe("1008 it sent more than a channel takes");
  });

  test("says that what connects is no Rigbridge, or does not answer", async () => {
    const centre = await startOpenCentre(["Cabin"]);
    const { socket, messages } = await open(centre.url, await centre.token("Cabin"));
    socket.on("message", (bytes: Buffer, isBinary) => {
      const message = isBinary ? null : JSON.parse(String(bytes));
      if (message?.t === "open") socket.send(frameOf(message.channel, Buffer.from("SSH-2.0-OpenSSH_9.2\r\n")));
    });
    socket.send(hello());
    await centre.reaches("Cabin", "refused");
    expect((await centre.site("Cabin"))?.problem).toMatch(/^What answers at Cabin speaks broken HTTP/);
    expect(messages.length).toBeGreaterThan(0);
  });
});

import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { SessionEnded } from "../../../src/link/session-ended.ts";
import { authorizationOf, challengeOf, digestTransport } from "../../../src/link/transports/digest.ts";
import { type HttpTransport, httpTransport } from "../../../src/link/transports/http.ts";
import { deadline } from "../rigs.ts";
import { http, serve, type TinyServer } from "../servers.ts";

/** Answers each request as told by its Authorization header, null where there is none. */
async function device(answer: (authorization: string | null, request: string) => Buffer): Promise<TinyServer> {
  const server = await serve((socket, request) => {
    const sent = /^authorization: (.*)\r$/im.exec(request)?.[1] ?? null;
    socket.end(answer(sent, request));
  });
  return server;
}

const transport = ({ port }: TinyServer, username = "root", password = "s3cret"): HttpTransport =>
  digestTransport(httpTransport("127.0.0.1", port, false), { username, password });

const unauthorized = (...challenges: string[]): Buffer =>
  http(
    401,
    "<h1>401</h1>",
    challenges.map((challenge) => `WWW-Authenticate: ${challenge}`),
  );

const part = (header: string | null, name: string): string | null =>
  new RegExp(`[ ,]${name}="?([^",]*)"?`).exec(header ?? "")?.[1] ?? null;

const md5 = (...parts: string[]): string => createHash("md5").update(parts.join(":")).digest("hex");

/** Whether the header is what root with this password answers to a challenge with qop. */
const isRight = (header: string | null, nonce: string, path: string, password = "s3cret"): boolean =>
  part(header, "response") ===
  md5(
    md5("root", "rig", password),
    nonce,
    part(header, "nc") ?? "",
    part(header, "cnonce") ?? "",
    "auth",
    md5("GET", path),
  );

const challenge = (nonce: string, more = ""): string => `Digest realm="rig", nonce="${nonce}", qop="auth"${more}`;

describe("the answer to a challenge is the one that another program computes", () => {
  // Computed with Python's hashlib from the formulas of RFC 7616 and RFC 2069.
  const antminer = 'Digest realm="antMiner Configuration", nonce="5f1e3a90:77aa"';
  test.each([
    {
      challenge: `${antminer}, qop="auth"`,
      path: "/cgi-bin/summary.cgi",
      cnonce: "b1c2d3e4f5061728",
      response: "715108bfb7931a348107985984f6a462",
    },
    {
      challenge: `${antminer}, qop="auth"`,
      method: "POST" as const,
      path: "/cgi-bin/set_miner_conf.cgi",
      count: 31,
      cnonce: "b1c2d3e4f5061728",
      response: "35f7c7a443139c5274d97fca49bce4b1",
    },
    { challenge: antminer, path: "/cgi-bin/summary.cgi", response: "e10cc95af1391728c61830b65377029b" },
    {
      challenge: 'Digest realm="a \\"quoted\\" realm", nonce="n-1", qop="auth"',
      username: 'o"wner\\1',
      password: 'pa:ss"w\\ö',
      path: "/cgi-bin/stats.cgi?x=1",
      response: "8f0f5127e746d5179586621096fa45f0",
    },
    {
      challenge: 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5-sess',
      password: "p",
      path: "/",
      response: "64d13512aa95a1042dd57faa57587e59",
    },
    {
      challenge: 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256',
      password: "p",
      path: "/",
      count: 10,
      response: "f567b44fecab1aae362b4b4616f2f2229162fc3c0eea8acfb4794a3a93f9dfd5",
    },
    {
      challenge: 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-512-256',
      username: "jörg",
      password: "p",
      path: "/",
      response: "88f27ef684c9497f675d1bcc98824d327c9c67db09318d40518aae2a73b69836",
    },
  ])("$challenge $path", (vector) => {
    const { method = "GET", count = 1, username = "root", password = "s3cret", cnonce = "0011223344556677" } = vector;
    const asked = challengeOf(vector.challenge);
    if (asked === null) throw new Error("no challenge was found");
    const said = authorizationOf(asked, { username, password }, { method, path: vector.path }, { count, cnonce });
    expect(part(said, "response")).toBe(vector.response);
  });

  test("quotes in names are escaped, and letters that no header carries are encoded", () => {
    const asked = challengeOf('Digest realm="a \\"b\\"", nonce="n", opaque="o"');
    if (asked === null) throw new Error("no challenge was found");
    const say = (username: string) =>
      authorizationOf(asked, { username, password: "x" }, { method: "GET", path: "/" }, { count: 1, cnonce: "c" });
    expect(say('o"w')).toMatch(
      /^Digest username="o\\"w", realm="a \\"b\\"", nonce="n", uri="\/", response="[0-9a-f]{32}", opaque="o"$/,
    );
    expect(say("jörg (1)\r\n")).toContain("username*=UTF-8''j%C3%B6rg%20%281%29%0D%0A, ");
  });
});

describe("of a header with several challenges the one that can be met is taken", () => {
  test.each([
    ['Basic realm="b", Digest realm="rig", nonce="1", qop="auth"', { realm: "rig", qop: true }],
    ['Digest realm="a", nonce="1", algorithm=SHA3, Digest realm="b", nonce="2"', { realm: "b", qop: false }],
    ['Digest realm="a", nonce="1", qop="auth-int", Digest realm="b", nonce="2", qop="auth-int, auth"', { realm: "b" }],
    ['DIGEST realm = "rig" , nonce = 1 , qop=auth, charset=UTF-8, userhash=false', { nonce: "1", qop: true }],
    ['Digest realm="",nonce="a=b,c",domain="/",stale=TRUE', { realm: "", nonce: "a=b,c", stale: true }],
    ['Digest realm="rig", nonce="1", nonce="2"', { nonce: "1" }],
    ['Negotiate abc==, Digest realm="rig", nonce="1"', { realm: "rig", nonce: "1" }],
    ['Basic realm="rig"', null],
    ["Digest", null],
    ['Digest realm="rig"', null],
    ['Digest realm="rig", nonce="\u0001"', null],
    ["", null],
  ])("%s", (header, expected) => {
    if (expected === null) expect(challengeOf(header)).toBeNull();
    else expect(challengeOf(header)).toMatchObject(expected);
  });

  test("no header is read otherwise than to a challenge or none", () => {
    const words = fc.constantFrom("Digest ", "Basic ", "realm=", "nonce=", '"', "\\", ",", " ", "=", "a", "qop=auth");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(words).map((all) => all.join("")),
        ),
        (header) => {
          const found = challengeOf(header);
          if (found === null) return;
          const login = { username: "u", password: "p" };
          expect(authorizationOf(found, login, { method: "GET", path: "/" }, { count: 1, cnonce: "c" })).toMatch(
            /^Digest /,
          );
        },
      ),
    );
  });
});

describe("a device that requires a digest login", () => {
  test("gives a challenge once, which serves the next requests, each with its count", async () => {
    const counts: (string | null)[] = [];
    const rig = transport(
      await device((said) => {
        counts.push(part(said, "nc"));
        return said !== null && isRight(said, "n1", "/a") ? http(200, '{"a":1}') : unauthorized(challenge("n1"));
      }),
    );
    await expect(rig.getJson("/a", deadline())).resolves.toMatchObject({ value: { a: 1 } });
    await expect(rig.getJson("/a", deadline())).resolves.toMatchObject({ value: { a: 1 } });
    expect(counts).toEqual([null, "00000001", "00000002"]);
  });

  test("that gives a new nonce is answered with it, and a write is done once", async () => {
    let nonce = "n1";
    const done: string[] = [];
    const rig = transport(
      await device((said, request) => {
        if (part(said, "nonce") !== nonce) return unauthorized(challenge(nonce, said === null ? "" : ", stale=true"));
        done.push(request.split(" ", 2).join(" "));
        return http(200, "{}");
      }),
    );
    await rig.send({ method: "POST", path: "/write", body: { on: true } }, deadline());
    nonce = "n2";
    await rig.send({ method: "POST", path: "/write", body: { on: false } }, deadline());
    expect(done).toEqual(["POST /write", "POST /write"]);
  });

  test("that rejects a kept challenge during a command gets no answer to a new one", async () => {
    const asked: string[] = [];
    let nonce = "n1";
    const at = transport(
      await device((authorization, request) => {
        asked.push(request.split(" ", 2).join(" "));
        return part(authorization, "nonce") === nonce ? http(200, "{}") : unauthorized(challenge(nonce));
      }),
    );
    const reboot = { method: "GET", path: "/reboot", ofCommand: true } as const;
    // The first challenge of all is no session that another device could have ended.
    await expect(at.call(reboot, deadline())).resolves.toMatchObject({ status: 200 });
    nonce = "n2";
    await expect(at.call(reboot, deadline())).rejects.toBeInstanceOf(SessionEnded);
    expect(asked).toEqual(["GET /reboot", "GET /reboot", "GET /reboot"]);
    // A read in between makes it good again.
    await at.call({ method: "GET", path: "/" }, deadline());
    await expect(at.call(reboot, deadline())).resolves.toMatchObject({ status: 200 });
  });

  test("that calls even a fresh nonce stale gets one more answer, and then counts as refusing", async () => {
    let asked = 0;
    const rig = transport(
      await device(() => {
        asked += 1;
        return unauthorized(challenge(`n${asked}`, ", stale=true"));
      }),
    );
    await expect(rig.getJson("/", deadline())).rejects.toMatchObject({ code: "rig.login" });
    expect(asked).toBe(3);
  });

  test("and names no qop is answered in the old format, with its opaque", async () => {
    const rig = transport(
      await device((said) =>
        part(said, "response") === md5(md5("root", "rig", "s3cret"), "n1", md5("GET", "/a")) &&
        part(said, "opaque") === "o1" &&
        part(said, "nc") === null
          ? http(200, "{}")
          : unauthorized('Digest realm="rig", nonce="n1", opaque="o1"'),
      ),
    );
    await expect(rig.call({ method: "GET", path: "/a" }, deadline())).resolves.toMatchObject({ status: 200 });
  });

  test.each(["with:colon", 'with"quote', "with\\backslash", "", "ümläut ☂"])(
    "takes the password %j",
    async (password) => {
      const rig = transport(
        await device((said) => (isRight(said, "n1", "/", password) ? http(200, "{}") : unauthorized(challenge("n1")))),
        "root",
        password,
      );
      await expect(rig.call({ method: "GET", path: "/" }, deadline())).resolves.toMatchObject({ status: 200 });
    },
  );

  test("and rejects the login is not asked repeatedly, and no error contains the password", async () => {
    let asked = 0;
    const rig = transport(
      await device(() => {
        asked += 1;
        return unauthorized(challenge("n1"));
      }),
      "root",
      "very-secret",
    );
    const failure = await rig.getJson("/", deadline()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "rig.login", message: expect.stringContaining("rejects") });
    expect(String(failure)).not.toContain("very-secret");
    expect(asked).toBe(2);
  });

  test("gets no answer when no login is configured", async () => {
    const { port } = await device(() => unauthorized(challenge("n1")));
    const rig = digestTransport(httpTransport("127.0.0.1", port, false), {});
    await expect(rig.getJson("/", deadline())).rejects.toMatchObject({
      code: "rig.login",
      message: expect.stringContaining("none is configured"),
    });
  });

  test.each([['Basic realm="rig"'], ['Digest realm="rig", nonce="1", algorithm=WHIRLPOOL'], ["nonsense"]])(
    "of another kind (%s) is not sent the password",
    async (header) => {
      const sent: (string | null)[] = [];
      const rig = transport(
        await device((said) => {
          sent.push(said);
          return unauthorized(header);
        }),
      );
      await expect(rig.getJson("/", deadline())).rejects.toMatchObject({ code: "rig.garbled" });
      expect(sent).toEqual([null]);
    },
  );

  test("is answered by the second of its challenges where only that is supported", async () => {
    const rig = transport(
      await device((said) =>
        isRight(said, "n1", "/") ? http(200, "{}") : unauthorized('Basic realm="rig"', challenge("n1")),
      ),
    );
    await expect(rig.call({ method: "GET", path: "/" }, deadline())).resolves.toMatchObject({ status: 200 });
  });

  test("and refuses the request is quoted in its own words", async () => {
    const rig = transport(await device(() => http(403, "not for you")));
    await expect(rig.getJson("/", deadline())).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.stringContaining("403 not for you"),
    });
  });
});

import { expect, test } from "@jest/globals";
import { parseAddress } from "../../../../src/link/address.ts";
import { BearerApi } from "../../../../src/link/drivers/shared/bearer-api.ts";
import { openLink } from "../../../../src/link/link.ts";
import type { TolerantReader } from "../../../../src/link/tolerant-reader.ts";
import { onTestFinished } from "../../../finished.ts";
import { deadline } from "../../rigs.ts";
import { http, serve } from "../../servers.ts";

/** The API of a rig that answers its login with this; how often it was asked to log in. */
async function answering(status: number, body: string) {
  let logins = 0;
  const server = await serve((socket, request) => {
    const isLogin = request.startsWith("POST /login");
    if (isLogin) logins += 1;
    socket.end(isLogin ? http(status, body) : http(200, '{"rate":1}'));
  });
  const link = openLink(parseAddress(`127.0.0.1:${server.port}`), {});
  const login = {
    call: { method: "POST", path: "/login", body: { password: "geheim99" } },
    password: "geheim99",
    tokenIn: (answer: TolerantReader) => answer.text("token"),
    wordsIn: (answer: TolerantReader) => answer.text("message"),
  } as const;
  const api = new BearerApi(link.http, login, link);
  onTestFinished(() => api.close());
  const read = () => api.read({ method: "GET", path: "/state" }, deadline());
  return { api, read, logins: () => logins };
}

test.each([
  [401, ""],
  [403, '{"message":"Busy"}'],
  [200, '{"message":"Wrong password"}'],
  [400, '{"message":"Invalid credentials"}'],
])(
  "a login that the rig refuses with %d %s is not sent again, and the rig is read without a token",
  async (...said) => {
    const { api, read, logins } = await answering(...said);
    expect((await read())?.value).toEqual({ rate: 1 });
    expect(api.locked).toMatchObject({ why: "login wrong" });
    await read();
    expect(logins()).toBe(1);
  },
);

test.each([
  [500, '{"message":"Busy with geheim99"}', "Busy with ***"],
  [400, '{"message":"Not now"}', "Not now"],
  [200, '{"message":"Not now"}', "Not now"],
  [200, '{"tokens":"tok-123"}', "without a reason"],
  [503, "tok-123", "503"],
])("a login that fails with %d %s is no wrong login, and is sent again", async (status, body, words) => {
  const { api, read, logins } = await answering(status, body);
  for (const times of [1, 2]) {
    const failure = read();
    await expect(failure).rejects.toMatchObject({ code: "rig.refused", message: expect.stringContaining(words) });
    await expect(failure).rejects.not.toThrow(/tok-123|geheim99/);
    expect([api.locked, logins()]).toEqual([null, times]);
  }
});

test.each(['{"token":"tok-123', "tok-123", '{"token":tok-123}', "<html>tok-123</html>"])(
  "nothing of an answer to a login that is no JSON gets into an error: %s",
  async (body) => {
    const { read } = await answering(200, body);
    await expect(read()).rejects.toMatchObject({
      code: "rig.garbled",
      message: expect.stringMatching(/: the answer to its login is not JSON$/),
      unquoted: expect.not.stringContaining("tok-123"),
    });
  },
);

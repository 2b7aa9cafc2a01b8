import { expect, test } from "@jest/globals";
import { AvalonWeb, cookieOf } from "../../../src/link/drivers/avalon/web.ts";
import { httpTransport } from "../../../src/link/transports/http.ts";
import { deadline } from "../rigs.ts";
import { http, serve } from "../servers.ts";

/** Answers by path, and keeps what was sent. */
async function web(pages: Record<string, string>, sent: string[]): Promise<AvalonWeb> {
  const server = await serve((socket, request) => {
    sent.push(request);
    const path = request.split(" ")[1] ?? "";
    socket.end(http(pages[path] === undefined ? 404 : 200, pages[path] ?? ""));
  });
  return new AvalonWeb(httpTransport("127.0.0.1", server.port, false), { password: "admin" });
}

const dashboard = (pool1: string): string =>
  `dashboardCallback({"pool1":"${pool1}","worker1":"w","passwd1":"x","pool2":"","worker2":"","passwd2":"","pool3":"","worker3":"","passwd3":"",});`;

test("the cookie is the salt and the beginning of the password's hash", () => {
  // sha256("admin") begins so.
  expect(cookieOf("1a2b3c4d", "admin")).toBe("1a2b3c4d8c6976e5b5410415bde908bd");
});

test("firmware without a page for the salt always has the same one", async () => {
  const sent: string[] = [];
  const pages = await web({ "/get_dashboard.cgi": dashboard("stratum+tcp://a:1") }, sent);
  await expect(pages.pools("before", deadline())).resolves.toEqual([
    { url: "stratum+tcp://a:1", worker: "w", password: "x" },
  ]);
  expect(sent[1]).toMatch(/cookie: auth=ff0000ff8c6976e5b5410415bde908bd/i);
});

test("a list is written whole, with its length said, and the empty places as such", async () => {
  const sent: string[] = [];
  const pages = await web({ "/cgpools.cgi": "<html>ok</html>" }, sent);
  await pages.keep([{ url: "stratum+tcp://a:1", worker: "w", password: "p&q" }], deadline());
  expect(sent[1]).toMatch(/content-length: \d+/i);
  expect(sent[1]).toContain(
    "pool1=stratum%2Btcp%3A%2F%2Fa%3A1&worker1=w&passwd1=p%26q&pool2=&worker2=&passwd2=&pool3=&worker3=&passwd3=",
  );
});

test("an incomplete list is not accepted", async () => {
  const pages = await web({ "/get_dashboard.cgi": 'dashboardCallback({"pool1":"a:1","worker1":"w"});' }, []);
  await expect(pages.pools("before", deadline())).rejects.toMatchObject({ code: "rig.garbled" });
});

test("a login page instead of the requested page means a wrong password, and is requested once only", async () => {
  const sent: string[] = [];
  const page = '<form action="x" name="loginform">';
  const pages = await web({ "/get_dashboard.cgi": page }, sent);
  await expect(pages.pools("before", deadline())).rejects.toMatchObject({ code: "rig.login" });
  expect(sent).toHaveLength(2);
});

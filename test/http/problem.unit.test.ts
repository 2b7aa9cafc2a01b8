import { expect, test } from "@jest/globals";
import { invalidAll, RigbridgeError } from "../../src/contract/problems.ts";
import { problemDocument } from "../../src/http/problem.ts";
import { detail } from "../../src/messages/detail.ts";

test("a problem has the code of its detail, and none for the words of another program", () => {
  const own = new RigbridgeError("not.possible", detail("command.noPool", { url: "stratum+tcp://a.example.com:1" }));
  expect(problemDocument(own)).toMatchObject({
    detail: "The rig no longer lists the pool stratum+tcp://a.example.com:1",
    coded: { code: "command.noPool", values: { url: "stratum+tcp://a.example.com:1" } },
  });
  expect(problemDocument(new RigbridgeError("rig.refused", "no way"))).not.toHaveProperty("coded");
});

test("a mistake has a code, also where a schema has its message as text", () => {
  const { errors } = problemDocument(
    invalidAll([
      { path: "key", message: "needs at least 16 characters" },
      { path: "token", message: "is required for tibber" },
      { path: "url", message: "is odd" },
    ]),
  );
  expect(errors).toEqual([
    { path: "key", message: "needs at least 16 characters", coded: { code: "static.sixteen", values: {} } },
    {
      path: "token",
      message: "is required for tibber",
      coded: { code: "input.requiredFor", values: { what: "tibber" } },
    },
    { path: "url", message: "is odd" },
  ]);
});

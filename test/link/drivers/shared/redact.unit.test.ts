import { expect, test } from "@jest/globals";
import { RigbridgeError } from "../../../../src/contract/problems.ts";
import { redact, redacted } from "../../../../src/link/drivers/shared/redact.ts";
import { SessionEnded } from "../../../../src/link/session-ended.ts";

test("secrets are replaced wherever they occur", () => {
  expect(redact("no geheim, no geheim,1", ["geheim,1", "geheim", undefined])).toBe("no ***, no ***");
});

test("a text of two characters is not a secret", () => {
  expect(redact("a banana", ["an"])).toBe("a banana");
});

test("an error keeps its code and class, without the secret", () => {
  const error = new RigbridgeError("rig.refused", "refused: geheim", { unquoted: "refused" });
  expect(redacted(error, ["geheim"])).toMatchObject({
    code: "rig.refused",
    message: "refused: ***",
    unquoted: "refused",
  });
  expect(redacted(new SessionEnded(error), ["geheim"])).toBeInstanceOf(SessionEnded);
});

test("an error of another kind stays as it is", () => {
  const bug = new TypeError("geheim");
  expect(redacted(bug, ["geheim"])).toBe(bug);
});

import { createDecipheriv, createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decrypted, encrypted, frameSeal, md5crypt, rpcSeal } from "../../../src/link/drivers/whatsminer/crypto.ts";

describe("md5crypt", () => {
  // As `openssl passwd -1 -salt SALT WORD` prints them.
  test.each([
    ["admin", "abcdefgh", "l/LAqC8oJERu7Cmx6trtY/"],
    ["x", "zyxwvuts", "pr4GEQnhDCvVxRKAZ3jK5."],
    ["averylongpasswordover16chars", "1234", "N1gnJPJCv7ltyyjPYQ8qv0"],
    ["süß0", "ab", "Q6wFeV1uGIb7Utpfps5LD."],
  ])("of %s with the salt %s is what openssl makes of it", (word, salt, hash) => {
    expect(md5crypt(word, salt)).toBe(hash);
  });

  test("uses at most eight characters of the salt", () => {
    expect(md5crypt("admin", "abcdefghijkl")).toBe(md5crypt("admin", "abcdefgh"));
  });

  test("is 22 characters for any input", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (word, salt) => {
        expect(md5crypt(word, salt)).toMatch(/^[./0-9A-Za-z]{22}$/);
      }),
      { numRuns: 20 },
    );
  });
});

test("a write to API v2 is signed with the password, the time and both salts, and encrypted with the first hash", () => {
  const { sign, key } = rpcSeal("admin", { time: "5626", salt: "abcdefgh", newsalt: "zyxwvuts" });
  expect(key).toEqual(createHash("sha256").update("l/LAqC8oJERu7Cmx6trtY/").digest());
  expect(sign).toBe(md5crypt("l/LAqC8oJERu7Cmx6trtY/5626", "zyxwvuts"));
});

test("a write to API v3 is signed with the first letters of the base64 of a SHA-256", () => {
  const digest = createHash("sha256").update("set.system.rebootgeheimSALTSALT1700000000").digest();
  const { token, key } = frameSeal("set.system.reboot", "geheim", "SALTSALT", 1_700_000_000);
  expect(key).toEqual(digest);
  expect(token).toBe(digest.toString("base64").slice(0, 8));
});

describe("what is encrypted", () => {
  const key = createHash("sha256").update("key").digest();

  test("is padded with zeros to whole blocks of AES-256-ECB", () => {
    const decipher = createDecipheriv("aes-256-ecb", key, null).setAutoPadding(false);
    const plain = decipher.update(encrypted("seventeen letters", key), "base64", "latin1") + decipher.final("latin1");
    expect(plain).toBe(`seventeen letters${"\0".repeat(15)}`);
  });

  test("comes back as it was", () => {
    const text = fc.string({ minLength: 1, unit: "grapheme" }).filter((each) => !each.includes("\0"));
    fc.assert(
      fc.property(text, (each) => {
        expect(decrypted(encrypted(each, key), key)).toBe(Buffer.from(each).toString());
      }),
    );
  });

  test("never throws, whatever it is replaced by", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (each) => {
        expect([null, expect.any(String)]).toContainEqual(decrypted(each, key));
      }),
    );
    expect(decrypted("", key)).toBeNull();
    expect(decrypted("AAAA", key)).toBeNull();
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldsOfJson } from "../../src/service/json-fields.ts";

const object = fc.dictionary(
  fc.oneof(fc.constantFrom("id", "na me", 'q"uote', "back\\slash"), fc.string()),
  fc.jsonValue(),
);

test("the members that are wanted stand there as parsing and writing would leave them", () => {
  fc.assert(
    fc.property(object, fc.array(fc.string()), (value, others) => {
      const json = JSON.stringify(value);
      const members: unknown = JSON.parse(json);
      if (typeof members !== "object" || members === null) throw new Error("an object was written");
      const names = Object.keys(members).filter((name) => !/["\\\u0000-\u001f\ud800-\udfff]/.test(name));
      const wanted = new Set([...names.filter((_, index) => index % 2 === 0), ...others]);
      const expected = Object.fromEntries(
        Object.entries(members).filter(([name]) => names.includes(name) && wanted.has(name)),
      );
      const found: unknown = JSON.parse(
        `{${fieldsOfJson(Buffer.from(json), new Set(names.filter((name) => wanted.has(name))))}}`,
      );
      expect(found).toEqual(expected);
    }),
  );
});

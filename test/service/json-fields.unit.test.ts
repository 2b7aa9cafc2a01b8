import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { fieldsOfJson } from "../../src/service/miners/json-fields.ts";

const plainName = fc.stringMatching(/^[a-zA-Z]{1,6}$/);
/** As a miner has them: names that we have chosen, and any values. */
const object = fc.dictionary(plainName, fc.jsonValue());

test("the members that are wanted stand there as parsing and writing would leave them", () => {
  fc.assert(
    fc.property(object, fc.array(plainName), (value, others) => {
      const json = JSON.stringify(value);
      const members = Object.entries(JSON.parse(json));
      const wanted = new Set([...members.filter((_, index) => index % 2 === 0).map(([name]) => name), ...others]);
      const found = fieldsOfJson(Buffer.from(json), wanted).toString();
      expect(`{${found}}`).toBe(JSON.stringify(Object.fromEntries(members.filter(([name]) => wanted.has(name)))));
    }),
  );
});

test.each(['{"a":"}\\",\\"b\\":1","b":[{"b":"\\\\"},","],"c":{}}', "{}"])(
  "quotes, brackets and commas in texts are none: %s",
  (json) => {
    const { b } = JSON.parse(json);
    expect(fieldsOfJson(Buffer.from(json), new Set(["b"])).toString()).toBe(
      b === undefined ? "" : `"b":${JSON.stringify(b)}`,
    );
  },
);

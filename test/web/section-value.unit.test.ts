import { expect, test } from "@jest/globals";
import { sectionForm } from "../../src/web/pages/settings/section-value.ts";

const object = { type: "object", properties: {} };
const list = { anyOf: [object, { type: "array", items: object }], $defs: { inner: object } };

test("a form shows what is in effect, and saves no default that nobody has written", () => {
  const form = sectionForm({ key: "poll", value: { timeout: 5 }, effective: { interval: 10, timeout: 5 } }, object);
  expect(form.saved).toEqual({ interval: 10, timeout: 5 });
  expect(form.sent({ interval: 10, timeout: 5 })).toEqual({ timeout: 5 });
  expect(form.sent({ interval: 3, timeout: 5 })).toEqual({ interval: 3, timeout: 5 });
});

test("a section that is off asks for what it needs first, and sends none of it that was left alone", () => {
  const form = sectionForm({ key: "mqtt", value: null, effective: null }, object);
  expect(form.saved).toEqual({ url: "mqtt://", username: "", password: "" });
  expect(form.sent({ ...form.saved, url: "mqtt://broker" })).toEqual({ url: "mqtt://broker" });
  const price = sectionForm({ key: "electricity", value: null, effective: { add: 0 } }, object);
  expect(price.saved).toEqual({ price: 0, add: 0 });
  expect(price.sent({ ...price.saved, zones: [] })).toEqual({ zones: [] });
  const set = sectionForm({ key: "electricity", value: { zones: [] }, effective: { zones: [], add: 0 } }, object);
  expect(set.saved).toEqual({ zones: [], add: 0 });
});

test("a list is the only field of its form", () => {
  const form = sectionForm({ key: "heating", value: { name: "Den" }, effective: [{ name: "Den" }] }, list);
  expect(form.saved).toEqual({ heating: [{ name: "Den" }] });
  expect(form.schema).toMatchObject({ properties: { heating: { anyOf: list.anyOf } }, $defs: list.$defs });
  expect(form.sent({ heating: [{ name: "Attic" }] })).toEqual([{ name: "Attic" }]);
  expect(form.sent({})).toEqual([]);
});

test("a secret that is there is an empty field, and stays unless another is typed", () => {
  const value = { username: "rig", password: { set: true }, sources: [{ token: { set: true } }] };
  const form = sectionForm({ key: "mqtt", value, effective: value }, object);
  expect(form.saved).toEqual({ username: "rig", password: "", sources: [{ token: "" }] });
  expect(form.sent(form.saved)).toEqual(value);
  expect(form.sent({ ...form.saved, username: "", password: "new" })).toEqual({
    ...value,
    username: "",
    password: "new",
  });
});

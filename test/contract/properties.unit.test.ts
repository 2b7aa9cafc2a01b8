import { expect, test } from "@jest/globals";
import { type Property, properties } from "../../src/contract/properties.ts";
import { ControlKey } from "../../src/contract/readings.ts";

test("every control is written by a property, so that each front end has decided what to do with it", () => {
  const [names] = ControlKey.options;
  const written = Object.values(properties).map((property: Property) => property.control?.(0));
  expect(names.options.filter((name) => !written.includes(name))).toEqual([]);
});

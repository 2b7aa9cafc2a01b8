import { expect, test } from "@jest/globals";
import { checkedConfig } from "../../src/config/index.ts";

const farmNamed = (farmName: string) =>
  checkedConfig({ mqtt: { broker: "embedded", homeAssistant: { farmName } } }).mqtt;

test("the device of the farm has a name of up to 200 characters", () => {
  for (const farmName of ["K", "a".repeat(200)])
    expect(farmNamed(farmName)).toMatchObject({ homeAssistant: { farmName } });
  const mistake = expect.objectContaining({
    errors: [expect.objectContaining({ path: "mqtt.homeAssistant.farmName" })],
  });
  for (const farmName of ["", "a".repeat(201)]) expect(() => farmNamed(farmName)).toThrow(mistake);
});

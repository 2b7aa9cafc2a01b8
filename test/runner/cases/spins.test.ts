import { test } from "@jest/globals";

test("never yields", () => {
  process.stdout.write(`spins in ${process.pid}\n`);
  for (;;);
}, 300);

/** @type {import("jest").Config} */
export default {
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/nodes/dist/", "<rootDir>/homebridge/dist/"],
  // The front ends import the package by its name; tests run on its source.
  moduleNameMapper: { "^rigbridge$": "<rootDir>/src/index.ts", "^rigbridge/([a-z]+)$": "<rootDir>/src/$1/index.ts" },
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": ["@swc/jest", { jsc: { target: "es2024", parser: { syntax: "typescript" } }, module: { type: "es6" } }],
  },
  // Only against hanging: a busy machine may be several times slower.
  testTimeout: 120_000,
  // Many tests wait for processes of their own.
  maxWorkers: 3,
};
